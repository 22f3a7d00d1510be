import Tables

/// The jobs of one flow in one class and rank, those of each host in a strand of their own, so
/// that a host which is busy holds up no other.
struct FlowLine: Sendable {
    /// What a look for the next job found.
    enum Found: Sendable {
        case job(StageQueue.Entry)
        /// There are jobs, but all of their hosts are busy.
        case closed
        case nothing
    }

    /// The first job of a strand; of use while the strand says the same.
    private struct Head: Comparable, Sendable {
        let order: Int64
        let host: HostName?

        static func < (left: Head, right: Head) -> Bool { left.order < right.order }
        static func == (left: Head, right: Head) -> Bool { left.order == right.order }
    }

    private struct Strand: Sendable {
        var entries = Heap<StageQueue.Entry>()
        /// The order of its head among the heads; `nil` while it stands aside.
        var head: Int64?
    }

    /// Jobs that wait.
    var count = 0
    private var strands: [HostName?: Strand] = [:]
    private var heads = Heap<Head>()

    /// Entries of all kinds, current or not.
    var weight: Int { strands.values.reduce(heads.count) { $0 + $1.entries.count } }

    /// Returns whether there may be a next job now.
    mutating func enter(_ entry: StageQueue.Entry, _ host: HostName?) -> Bool {
        count += 1
        let isNew = strands[host] == nil
        strands.change(host, from: Strand()) { $0.entries.push(entry) }
        // A strand that stands aside is called by its host.
        guard isNew || strands[host]?.head != nil else { return false }
        if strands[host]?.head.map({ entry.order < $0 }) ?? true {
            announce(host, entry.order)
        }
        return true
    }

    private mutating func announce(_ host: HostName?, _ order: Int64) {
        strands.change(host) { $0.head = order }
        heads.push(Head(order: order, host: host))
    }

    /// Takes the next job out whose host is open; strands of others step aside.
    mutating func next(
        at place: HostGates.Place, _ gates: inout HostGates,
        _ isCurrent: (StageQueue.Entry) -> Bool
    ) -> Found {
        while let head = heads.first {
            guard strands[head.host]?.head == head.order else {
                _ = heads.pop()
                continue
            }
            let top = first(of: head.host, isCurrent)
            if let top, top.order == head.order {
                if let host = head.host, gates.isClosed(host, to: place.flow.holder) {
                    _ = heads.pop()
                    strands[host]?.head = nil
                    gates.stepAside(place, for: host)
                    continue
                }
                strands.change(head.host) { _ = $0.entries.pop() }
                _ = heads.pop()
                announceNext(of: head.host)
                return .job(top)
            }
            _ = heads.pop()
            announceNext(of: head.host)
        }
        return count > 0 ? .closed : .nothing
    }

    private mutating func announceNext(of host: HostName?) {
        if let next = strands[host]?.entries.first {
            announce(host, next.order)
        } else {
            strands[host] = nil
        }
    }

    /// The first entry of a strand that is current.
    private mutating func first(of host: HostName?, _ isCurrent: (StageQueue.Entry) -> Bool)
        -> StageQueue.Entry?
    {
        while let entry = strands[host]?.entries.first {
            if isCurrent(entry) { return entry }
            _ = strands[host]?.entries.pop()
        }
        return nil
    }

    /// A host has fewer transfers: its strand takes part again, if it stood aside.
    mutating func call(_ host: HostName) -> Bool {
        guard let strand = strands[host], strand.head == nil else { return false }
        announceNext(of: host)
        return true
    }

    /// Throws out what is not current; no strand stands aside then.
    mutating func sweep(keeping isCurrent: (StageQueue.Entry) -> Bool) {
        heads = Heap()
        for host in Array(strands.keys) {
            strands[host]?.entries.keep(where: isCurrent)
            announceNext(of: host)
        }
    }
}
