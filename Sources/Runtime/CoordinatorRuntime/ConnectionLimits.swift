/// How many connections a listener has places for.
///
/// Places are kept for each listener, so that nobody at `front/` can use up those of operators and
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

    /// Limits of a listener, one of `listeners`, in a process that may have so many descriptors.
    init(
        _ listener: Listener, of listeners: [Listener] = Listener.all, descriptors: UInt64,
        perProcess: Int
    ) {
        switch listener {
        case .admin: self.init(sessionsMax: Self.operators)
        case .web: self.init(sessionsMax: Self.frontEnds, sessionsPerProcessMax: perProcess)
        case .back: self.init(sessionsMax: Self.workersOfAPool)
        case .front:
            let left = Int(clamping: descriptors) - Self.reserved(for: listeners)
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
    static func descriptorsMin(_ listeners: [Listener] = Listener.all) -> UInt64 {
        UInt64(reserved(for: listeners) + 9 * clientsMin / 8 + margin)
    }

    private static let operators = 64
    private static let frontEnds = 64
    private static let workersOfAPool = 256
    private static let clientsMin = 64
    private static let clientsMax = 8_192
    private static let margin = 32
    /// Segments, files, and what libzmq has for itself.
    private static let own = 256
    /// Descriptors that are not for clients: those of the other listeners, our own, and of each
    /// listener as many as may be accepted before anybody looks at them.
    private static func reserved(for listeners: [Listener]) -> Int {
        let others = listeners.filter { $0 != .front }.map {
            ConnectionLimits($0, descriptors: 0, perProcess: .max).connectionsMax
        }
        return own + others.reduce(0, +) + listeners.count * Gateway.unseenConnectionsMax
    }
}
