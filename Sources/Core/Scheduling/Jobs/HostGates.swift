/// How many transfers each host has at workers, and which places wait for it to have fewer.
struct HostGates: Sendable {
    /// Where jobs for a host stand aside: a line of the queue and a flow in it.
    struct Place: Sendable {
        let line: Int
        let flow: FlowID
    }

    /// At a time; 0: as many as there are.
    let heldMax: Int
    private var held: [HostName: Int] = [:]
    private var waiting: [HostName: [Place]] = [:]
    /// Places that stand aside, some of them for nothing any more.
    private(set) var waitingCount = 0

    init(heldMax: Int) { self.heldMax = heldMax }

    /// Whether one more transfer has to wait.
    func isClosed(_ host: HostName) -> Bool { held[host, default: 0] >= heldMax }

    /// Transfers of a host at workers, cancelled ones included until their outcome.
    func count(_ host: HostName) -> Int { held[host, default: 0] }

    /// All hosts that have transfers at workers.
    var hosts: Dictionary<HostName, Int>.Keys { held.keys }

    mutating func began(_ host: HostName) { held[host, default: 0] += 1 }

    /// A transfer is over; the places that waited for that may try again.
    mutating func ended(_ host: HostName) -> [Place] {
        let left = held[host, default: 0] - 1
        held[host] = left > 0 ? left : nil
        guard let places = waiting.removeValue(forKey: host) else { return [] }
        waitingCount -= places.count
        return places
    }

    mutating func stepAside(_ place: Place, for host: HostName) {
        waiting[host, default: []].append(place)
        waitingCount += 1
    }

    /// Everybody tries again.
    mutating func forgetWaiting() {
        waiting.removeAll()
        waitingCount = 0
    }
}
