import ImageModel

/// Undoes one decryptor after another, each of a whole body, in slices: so many bodies can take
/// turns, and none becomes larger than it may.
struct BodyDecryption {
    private var waiting: ArraySlice<Decryptor>
    private var cipher: (any BodyCipher)?
    /// Bytes of the body that were used.
    private var used = 0

    /// What one turn did.
    struct Turn {
        /// Bytes that it wrote.
        let produced: Int
        /// Whether the body is used up: what was written is the body of the next decryptor.
        let isEnd: Bool
    }

    init(_ decryptors: [Decryptor]) { waiting = decryptors[...] }

    /// Whether all is undone.
    var isDone: Bool { cipher == nil && waiting.isEmpty }

    /// Writes as many bytes of `body` into `room` as it has, at most, and uses no more of them.
    /// Throws for a body that is none of the decryptor.
    mutating func turn(
        _ body: RawSpan, into room: UnsafeMutableRawBufferPointer
    ) throws(DownloadFailure) -> Turn {
        if cipher == nil { cipher = try next(body) }
        guard let cipher else { throw .defect("no decryptor is left") }
        let rest = body.extracting(droppingFirst: used)
        let input = rest.extracting(first: min(rest.byteCount, room.count))
        let step = try cipher.step(input, isLast: input.byteCount == rest.byteCount, into: room)
        used += step.consumed
        if step.isEnd { (self.cipher, used) = (nil, 0) }
        return Turn(produced: step.produced, isEnd: step.isEnd)
    }

    private mutating func next(_ body: RawSpan) throws(DownloadFailure) -> any BodyCipher {
        switch waiting.popFirst() {
        case .aes256GCM(let key): try GCMBody(body, key: key)
        case .gzip: GzipBody()
        case .base64: Base64Body()
        case nil: throw .defect("no decryptor is left")
        }
    }
}

/// One decryptor at work on one body.
protocol BodyCipher: AnyObject {
    /// Goes on with the bytes that follow those that it used; `isLast`: with all that are left.
    /// `room` has as many bytes as `input` and 4 KB at least. Throws for a body that is not its
    /// own.
    func step(
        _ input: RawSpan, isLast: Bool, into room: UnsafeMutableRawBufferPointer
    ) throws(DownloadFailure) -> CipherStep
}

/// What a decryptor did.
struct CipherStep {
    /// Bytes that it used.
    let consumed: Int
    /// Bytes that it wrote.
    let produced: Int
    /// Whether the body is used up, and was whole.
    let isEnd: Bool
}
