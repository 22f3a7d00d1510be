import ImageModel
import Messages
import Wire

/// Loads that were encoded before, without their tokens: who loads the same image again and again
/// need not have it written again and again, nor its answer read. Bounded: a newer load takes the
/// place of an older one.
struct LoadMemo {
    private var entries = WayTable<RememberedLoad>(bits: 14)
    private static let bytesMax = 1_024

    /// The body of a load behind its token, as it is sent: of the same load before, or encoded now.
    mutating func rest(
        of load: PendingLoad, _ encoder: inout MessageEncoder
    ) throws(WireError) -> [UInt8] {
        // What a log is to say of a load is hardly ever sent again.
        let isPlain = load.logContext.isEmpty
        if isPlain, let known = entries.find(load.hash, where: { $0.isSent(like: load) }) {
            load.remembered = known
            return known.rest
        }
        load.remembered = nil
        _ = try encoder.encode(.load(load.message))
        let rest = Array(encoder.packed().dropFirst(TokenedBody.restOffset))
        if isPlain, rest.count <= Self.bytesMax {
            let entry = RememberedLoad(load, rest: rest)
            entries.enter(entry, load.hash) { $0.isSent(like: load) }
            load.remembered = entry
        }
        return rest
    }
}
