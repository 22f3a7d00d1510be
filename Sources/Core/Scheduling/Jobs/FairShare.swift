/// Places of which each flow holds some, and none so many that others find none.
///
/// A flow may take one more while it holds less than three times as many as are free (dynamic
/// thresholds; Choudhury, Hahne 1998). One flow alone comes to three quarters of all places, two to
/// three sevenths each, and so on: whoever holds none takes the next free place, and there is one
/// without anybody being stopped. Nobody has to know how many flows there are.
struct FairShare: Sendable {
    private static let heldPerFree = 3

    private(set) var count = 0
    private var held: [FlowID: Int] = [:]

    /// Places that a flow holds.
    func count(of flow: FlowID) -> Int { held[flow, default: 0] }

    /// Whether the flow may take one of the `free` places.
    func admits(_ flow: FlowID, free: Int) -> Bool { count(of: flow) / Self.heldPerFree < free }

    mutating func took(_ flow: FlowID) {
        count += 1
        held[flow, default: 0] += 1
    }

    mutating func gaveBack(_ flow: FlowID) {
        count -= 1
        let left = count(of: flow) - 1
        held[flow] = left > 0 ? left : nil
    }
}
