/// How many connections a door has places for.
///
/// Places are kept for each door, so that nobody at `front/` can use up those of operators and
/// workers.
struct ConnectionLimits: Hashable {
    /// Connections with a session.
    let sessionsMax: Int
    /// Of one process.
    let sessionsPerProcessMax: Int

    /// Connections of all kinds. There are more than sessions, so that who finds no place can say
    /// hello and be told why.
    var connectionsMax: Int { sessionsMax + max(Self.margin, sessionsMax / 8) }
    /// The same of one process.
    var connectionsPerProcessMax: Int {
        sessionsPerProcessMax == .max ? .max : 2 * sessionsPerProcessMax
    }

    /// Limits of a door, one of `doors`, in a process that may have so many descriptors.
    init(_ door: Door, of doors: [Door] = Door.all, descriptors: UInt64, perProcess: Int) {
        switch door {
        case .admin: self.init(sessionsMax: Self.operators)
        case .back: self.init(sessionsMax: Self.workersOfAPool)
        case .front:
            let left = Int(clamping: descriptors) - Self.reserved(for: doors)
            self.init(
                sessionsMax: min(max(left / 9 * 8, Self.clientsMin), Self.clientsMax),
                sessionsPerProcessMax: perProcess)
        }
    }

    init(sessionsMax: Int, sessionsPerProcessMax: Int = .max) {
        self.sessionsMax = sessionsMax
        self.sessionsPerProcessMax = sessionsPerProcessMax
    }

    /// Connections of one client process unless the operator says otherwise: a client shares one
    /// among all its tasks.
    static let perProcess = 64
    /// With fewer descriptors a flood of connections may still end the process: libzmq aborts
    /// where it has none left.
    static func descriptorsMin(_ doors: [Door] = Door.all) -> UInt64 {
        UInt64(reserved(for: doors) + 9 * clientsMin / 8 + margin)
    }

    private static let operators = 64
    private static let workersOfAPool = 256
    private static let clientsMin = 64
    private static let clientsMax = 8_192
    private static let margin = 32
    /// Segments, files, and what libzmq has for itself.
    private static let own = 256
    /// Descriptors that are not for clients: those of the other doors, our own, and of each door
    /// as many as may be accepted before anybody looks at them.
    private static func reserved(for doors: [Door]) -> Int {
        let others = doors.filter { $0 != .front }.map {
            ConnectionLimits($0, descriptors: 0, perProcess: .max).connectionsMax
        }
        return own + others.reduce(0, +) + doors.count * Gateway.unseenConnectionsMax
    }
}
