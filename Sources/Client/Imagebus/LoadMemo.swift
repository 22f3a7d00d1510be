import ImageModel
import Messages
import Wire

/// Loads that were encoded before, without their tokens: who loads the same image again and again
/// need not have it written again and again, nor its answer read. Bounded: a newer load takes the
/// place of an older one.
struct LoadMemo {
    private var entries = WayTable<RememberedLoad>(bits: 14)
    private static let bytesMax = 1_024

    /// The load as it is sent: the same one that was sent before, or encoded now.
    mutating func written(
        _ load: PendingLoad, _ encoder: inout MessageEncoder
    ) throws(WireError) -> RememberedLoad {
        if let known = entries.find(load.hash, where: { $0.isSent(like: load) }) {
            load.remembered = known
            return known
        }
        load.remembered = nil
        _ = try encoder.encode(.load(load.message))
        let rest = Array(encoder.packed().dropFirst(TokenedBody.restOffset))
        let entry = RememberedLoad(load, rest: rest)
        // A trace is hardly ever sent again.
        if rest.count <= Self.bytesMax, load.manner.trace == nil {
            entries.enter(entry, load.hash) { $0.isSent(like: load) }
            load.remembered = entry
        }
        return entry
    }
}
