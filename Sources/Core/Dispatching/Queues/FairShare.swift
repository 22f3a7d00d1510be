import Tables

/// Places of which each flow holds some, and none so many that others find none.
///
/// An owner may take one more while it holds less than three times as many as are free (dynamic
/// thresholds; Choudhury, Hahne 1998). One alone comes to three quarters of all places, two to
/// three sevenths each, and so on: whoever holds none takes the next free place, and there is one
/// without anybody being stopped. Nobody has to know how many there are.
///
/// Flows share what is left of their owner's share in the same way if several hold some of it. One
/// visitor comes to three quarters of that share at most, and the next one finds a place at once.
struct FairShare: Sendable {
    private static let heldPerFree = 3

    private(set) var count = 0
    private var held: [FlowID: Int] = [:]
    private var owners: [FlowOwner: Owner] = [:]

    private struct Owner: Sendable {
        var count = 0
        /// Flows that hold some.
        var flows = 0
    }

    /// Places that a flow holds.
    func count(of flow: FlowID) -> Int { held[flow, default: 0] }

    /// Places that all flows of an owner hold.
    func count(of owner: FlowOwner) -> Int { owners[owner]?.count ?? 0 }

    /// Whether the flow may take one of the `free` places.
    func admits(_ flow: FlowID, free: Int) -> Bool {
        let left = Self.heldPerFree * free - count(of: flow.owner)
        guard left > 0 else { return false }
        let own = count(of: flow)
        let others = (owners[flow.owner]?.flows ?? 0) - (own > 0 ? 1 : 0)
        guard flow.isOfVisitor else { return others == 0 || own / Self.heldPerFree < left }
        // Each place that the owner takes is one less that is free and one more that it holds.
        let stillForOwner = (left + Self.heldPerFree) / (Self.heldPerFree + 1)
        return own < Self.heldPerFree * stillForOwner
    }

    mutating func took(_ flow: FlowID) {
        count += 1
        let isFirst = held.change(flow, from: 0) {
            $0 += 1
            return $0 == 1
        }
        owners.change(flow.owner, from: Owner()) {
            $0.count += 1
            if isFirst { $0.flows += 1 }
        }
    }

    mutating func gaveBack(_ flow: FlowID) {
        count -= 1
        let left = count(of: flow) - 1
        held[flow] = left > 0 ? left : nil
        let ofOwner = owners.change(flow.owner) {
            $0.count -= 1
            if left == 0 { $0.flows -= 1 }
            return $0.count
        }
        if ofOwner == 0 { owners[flow.owner] = nil }
    }
}
