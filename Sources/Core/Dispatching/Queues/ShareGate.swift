/// Whether a flow may hold one more of the jobs that a kind of worker takes at a time, and which
/// flows wait for that.
struct ShareGate: Sendable {
    private(set) var share = FairShare()
    private var free = 0
    private var waiting: [HostGates.Place] = []
    /// Whether somebody may be called who stood aside.
    private var hasNews = false

    /// Places that stand aside: those of owners who hold three jobs at least for each that is free,
    /// so that there are not many.
    var waitingCount: Int { waiting.count }

    func isClosed(to flow: FlowID) -> Bool { !share.admits(flow, free: free) }

    /// So many more jobs are taken now.
    mutating func sees(free: Int) {
        if free > self.free { hasNews = true }
        self.free = free
    }

    mutating func began(_ flow: FlowID) { share.took(flow) }

    mutating func ended(_ flow: FlowID) {
        share.gaveBack(flow)
        hasNews = true
    }

    mutating func stepAside(_ place: HostGates.Place) {
        if !waiting.contains(place) { waiting.append(place) }
    }

    /// The places that may try again.
    mutating func call() -> [HostGates.Place] {
        guard hasNews else { return [] }
        hasNews = false
        let all = waiting
        waiting = all.filter { isClosed(to: $0.flow.holder) }
        return all.filter { !isClosed(to: $0.flow.holder) }
    }

    /// Everybody tries again.
    mutating func forgetWaiting() { waiting.removeAll() }
}
