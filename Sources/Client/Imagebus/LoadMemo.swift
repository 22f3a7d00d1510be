import ImageModel
import Messages
import Wire

/// Loads that were encoded before, without their tokens: who loads the same image again and again
/// need not have it written again and again. Bounded: a place by URL, the newest load has it.
struct LoadMemo {
    /// A class, so that a place that is not used takes eight bytes.
    private final class Entry: Sendable {
        let load: LoadRequest
        /// The body behind the token.
        let rest: [UInt8]

        init(load: LoadRequest, rest: [UInt8]) { (self.load, self.rest) = (load, rest) }
    }

    private var entries: [Entry?] = Array(repeating: nil, count: places)
    private static let places = 16_384
    private static let bytesMax = 1_024

    /// The body behind the token, where the same load was encoded before.
    func rest(of load: LoadRequest) -> [UInt8]? {
        guard let entry = entries[Self.place(of: load)], entry.load.saysTheSame(as: load) else {
            return nil
        }
        return entry.rest
    }

    /// Keeps what was encoded.
    mutating func keep(_ load: LoadRequest, _ body: [UInt8]) {
        // A trace is hardly ever sent again.
        guard body.count <= Self.bytesMax, load.trace == nil else { return }
        entries[Self.place(of: load)] = Entry(
            load: load, rest: Array(body.dropFirst(TokenedBody.restOffset)))
    }

    private static func place(of load: LoadRequest) -> Int {
        load.image.url.hashValue & (places - 1)
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
