internal import ImageModel
internal import Messages

/// Bytes to be copied into a body.
enum CopySource: Sendable {
    /// Another process' block.
    case payload(BlockReference, any PayloadSource)
    /// A body of ours.
    case body(Body)

    /// Fills all of `target`.
    func copy(into target: Body) throws(ImageError) {
        switch self {
        case .payload(let reference, let source):
            guard reference.length == UInt64(target.length) else {
                throw ImageError(.internalError, "a copy needs room of its own length")
            }
            try source.copy(reference, into: target.target)
        case .body(let body): target.target.copyMemory(from: body.bytes)
        }
    }
}

/// A copy that is long enough to be kept off the bus thread.
struct CopyRequest: Sendable {
    /// Names the answer.
    let ticket: UInt64
    let source: CopySource
    let target: Body
    /// Bytes that the copy is held against.
    let comparand: Body?
    /// Whether the digest of the bytes is wanted.
    var wantsDigest = false

    /// Does it; `nil` is success.
    func perform() -> CopyAnswer {
        do {
            try source.copy(into: target)
            return CopyAnswer(
                ticket: ticket, error: nil, isSame: comparand.map(target.isEqual) ?? false,
                digest: wantsDigest ? target.digest : nil)
        } catch {
            return CopyAnswer(ticket: ticket, error: error, isSame: false)
        }
    }
}

/// How a copy ended.
struct CopyAnswer: Sendable {
    let ticket: UInt64
    let error: ImageError?
    let isSame: Bool
    var digest: ContentDigest?
}
