import Dispatching

/// Bytes of pixels that are kept to be laid over others, and the flows that they count for.
///
/// A request that holds overlays may wait for an origin. So no owner may hold more than three times
/// what would be left then (as with `FairShare`): others find room beside an owner that holds much.
struct OverlayBytes: Sendable {
    private static let heldPerFree: UInt64 = 3

    private let max: UInt64
    private(set) var count: UInt64 = 0
    private var held: [FlowOwner: UInt64] = [:]

    init(max: UInt64) { self.max = max }

    /// What all flows of the owner of a flow hold.
    func count(of flow: FlowID) -> UInt64 { held[flow.owner, default: 0] }

    /// Whether the flow may keep so many more.
    func admits(_ bytes: UInt64, for flow: FlowID) -> Bool {
        guard count <= max, bytes <= max - count else { return false }
        return (count(of: flow) + bytes) / Self.heldPerFree <= max - count - bytes
    }

    mutating func keep(_ bytes: UInt64, for flow: FlowID) {
        count += bytes
        held[flow.owner, default: 0] += bytes
    }

    mutating func release(_ bytes: UInt64, of flow: FlowID) {
        count -= bytes
        let left = count(of: flow) - bytes
        held[flow.owner] = left > 0 ? left : nil
    }
}
