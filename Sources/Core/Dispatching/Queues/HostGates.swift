import Tables

/// How many transfers each host has at workers, whose they are, and which places wait for it to
/// have fewer.
struct HostGates: Sendable {
    /// Where jobs for a host stand aside: a line of the queue and a flow in it.
    struct Place: Hashable, Sendable {
        let line: Int
        let flow: FlowID
    }

    /// At a time; 0: as many as there are.
    let heldMax: Int
    private var held: [HostName: FairShare] = [:]
    private var waiting: [HostName: [Place]] = [:]
    /// Places that stand aside, some of them for nothing any more.
    private(set) var waitingCount = 0

    init(heldMax: Int) { self.heldMax = heldMax }

    /// Whether one more transfer of the flow has to wait.
    func isClosed(_ host: HostName, to flow: FlowID) -> Bool {
        let share = held[host] ?? FairShare()
        return !share.admits(flow, free: heldMax - share.count)
    }

    /// Transfers of a host at workers, cancelled ones included until their outcome.
    func count(_ host: HostName) -> Int { held[host]?.count ?? 0 }

    /// All hosts that have transfers at workers.
    var hosts: Dictionary<HostName, FairShare>.Keys { held.keys }

    mutating func began(_ host: HostName, _ flow: FlowID) {
        held.change(host, from: FairShare()) { $0.took(flow) }
    }

    /// A transfer is over; the places that waited for that may try again.
    mutating func ended(_ host: HostName, _ flow: FlowID) -> [Place] {
        let left = held.change(host) {
            $0.gaveBack(flow)
            return $0.count
        }
        if left == 0 { held[host] = nil }
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
