import ImageModel
import Messages
import Wire

/// Loads that were encoded before, without their tokens: who loads the same image again and again
/// need not have it written again and again. Bounded: a newer load takes the place of an older one.
struct LoadMemo {
    /// A class, so that a place that is not used takes eight bytes.
    private final class Entry: Sendable {
        let request: LoadRequest
        let hash: Int
        let millisecondsLeft: Int
        /// The body behind the token.
        let rest: [UInt8]

        init(of load: PendingLoad, rest: [UInt8]) {
            (request, hash) = (load.request, load.hash)
            (millisecondsLeft, self.rest) = (load.millisecondsLeft, rest)
        }

        func saysTheSame(as load: PendingLoad) -> Bool {
            hash == load.hash && millisecondsLeft == load.millisecondsLeft
                && request.saysTheSame(as: load.request)
        }
    }

    private var entries = WayTable<Entry>(bits: 14)
    private static let bytesMax = 1_024

    /// The body of a load behind its token, as it is sent: of the same load before, or encoded now.
    mutating func rest(
        of load: PendingLoad, _ encoder: inout MessageEncoder
    ) throws(WireError) -> [UInt8] {
        if let entry = entries.find(load.hash, where: { $0.saysTheSame(as: load) }) {
            return entry.rest
        }
        _ = try encoder.encode(.load(load.message))
        let rest = Array(encoder.packed().dropFirst(TokenedBody.restOffset))
        // A trace is hardly ever sent again.
        if rest.count <= Self.bytesMax, load.request.trace == nil {
            let entry = Entry(of: load, rest: rest)
            entries.enter(entry, load.hash) { $0.saysTheSame(as: load) }
        }
        return rest
    }
}

extension LoadRequest {
    /// Everything but the token.
    func saysTheSame(as other: LoadRequest) -> Bool {
        image == other.image && group == other.group && wantsProgress == other.wantsProgress
            && wantsInfo == other.wantsInfo && staleRetries == other.staleRetries
            && detach == other.detach
            && wantsPieces == other.wantsPieces && uploadBytes == other.uploadBytes
            && slot == other.slot && trace == other.trace && visitor == other.visitor
    }
}
