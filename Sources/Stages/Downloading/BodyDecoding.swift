import Curl
import Model
import OpenSSL
import Zlib

/// Removes the content coding of one body: accepts bytes as they arrive and returns them decoded in
/// slices, so that many bodies can take turns.
///
/// Uses about 40 KB for zlib, and `pendingBytesMax` plus one delivery.
struct BodyDecoder: ~Copyable {
    private let coding: ContentCoding
    private var inflater: Inflater?
    private var place = Place.between
    private var pending: [UInt8] = []
    /// The number of decoded bytes in `pending`.
    private var used = 0
    /// Whether zlib has more output than there was space for.
    private var holdsMore = false

    private enum Place {
        /// At the start of a stream, where the body may also end.
        case between
        case inside
        /// After the only stream that the body may have.
        case behind
    }

    /// The limit of pending bytes above which no more are accepted.
    static let pendingBytesMax = 64 << 10

    init(_ coding: ContentCoding) {
        self.coding = coding
    }

    /// Whether more bytes are accepted.
    var hasRoom: Bool { pending.count - used < Self.pendingBytesMax }

    /// Whether `decode` would make progress without more bytes.
    var isBehind: Bool { used < pending.count && !waitsForSecondByte || holdsMore }

    mutating func append(_ bytes: RawSpan) {
        if used > 0 {
            pending.removeFirst(used)
            used = 0
        }
        bytes.withUnsafeBytes { pending.append(contentsOf: $0) }
    }

    /// Decodes at most as many bytes as `room` has; returns the number of bytes written. Throws
    /// `corrupt` and `outOfMemory`.
    mutating func decode(into room: UnsafeMutableRawBufferPointer) throws(ZlibError) -> Int {
        var (written, left) = (0, room.count)
        while left > 0, written < room.count, isBehind {
            try enterStream()
            let step = try decodeStep(
                atMost: left, into: UnsafeMutableRawBufferPointer(rebasing: room[written...]))
            written += step.produced
            left -= step.consumed
            if step.isEnd { leaveStream() }
        }
        return written
    }

    /// Whether the body may end here.
    var isComplete: Bool {
        switch place {
        case .between: used == pending.count
        case .inside: false
        case .behind: true
        }
    }

    private mutating func decodeStep(
        atMost count: Int, into room: UnsafeMutableRawBufferPointer
    ) throws(ZlibError) -> Inflater.Step {
        let end = min(pending.count, used + count)
        let waiting = pending
        let input = waiting.span.bytes.extracting(used..<end)
        guard let step = try inflater?.step(input, into: room) else {
            preconditionFailure("a stream must be opened before it is decoded")
        }
        used += step.consumed
        holdsMore = step.produced == room.count && !step.isEnd
        return step
    }

    /// A gzip body may consist of several concatenated streams (RFC 1952 §2.2), a deflate body only
    /// of one.
    private mutating func enterStream() throws(ZlibError) {
        switch place {
        case .inside: return
        case .behind: throw .corrupt("data after the end of the stream")
        case .between:
            if inflater == nil { inflater = try Inflater(format) } else { inflater?.reset() }
            place = .inside
        }
    }

    private mutating func leaveStream() {
        place = coding == .gzip ? .between : .behind
    }

    private var format: InflateFormat {
        switch coding {
        case .gzip: .gzip
        case .deflate: InflateFormat(startingWith: pending[used], pending[used + 1])
        }
    }

    /// The first two bytes distinguish the formats of deflate.
    private var waitsForSecondByte: Bool {
        coding == .deflate && place == .between && pending.count - used == 1
    }
}

/// A supported content coding. Requests ask for none, but some origins compress everything.
enum ContentCoding: Hashable {
    case gzip
    /// The zlib format; some origins omit its header (RFC 9110 §8.4.1.2).
    case deflate

    /// Returns the coding of a body; nil if there is none. Throws for more than one coding, since
    /// they multiply the expansion of a short response, and for codings that are unusual for
    /// images.
    init?(_ head: ResponseHead) throws(ImageError) {
        let names = head.contentCodings
        guard let name = names.first else { return nil }
        switch names.count == 1 ? name : "" {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        default:
            throw ImageError(
                .protocolBroken,
                "the body has the content coding '\(names.joined(separator: ", ").prefix(64))', "
                    + "although none was requested; only a single gzip or deflate coding is "
                    + "supported")
        }
    }
}

/// Applies decryptors in order, each to a whole body, in slices, so that many bodies can take turns
/// and none exceeds its limit.
struct BodyDecryption {
    private var waiting: ArraySlice<Decryptor>
    private var cipher: (any BodyCipher)?
    /// The number of bytes consumed.
    private var used = 0

    init(_ decryptors: [Decryptor]) { waiting = decryptors[...] }

    /// Whether all decryptors have been applied.
    var isDone: Bool { cipher == nil && waiting.isEmpty }

    /// Writes at most as many bytes as `body` has into `room`, and consumes at most that many. At
    /// the end the output is the body for the next decryptor. Throws for a body that the decryptor
    /// doesn't accept.
    mutating func turn(
        _ body: RawSpan, into room: UnsafeMutableRawBufferPointer
    ) throws(ImageError) -> CipherStep {
        if cipher == nil { cipher = try next(body) }
        guard let cipher else { throw .defect("no decryptor is left") }
        let rest = body.extracting(droppingFirst: used)
        let input = rest.extracting(first: min(rest.byteCount, room.count))
        let step = try cipher.step(input, isLast: input.byteCount == rest.byteCount, into: room)
        used += step.consumed
        if step.isEnd { (self.cipher, used) = (nil, 0) }
        return step
    }

    private mutating func next(_ body: RawSpan) throws(ImageError) -> any BodyCipher {
        switch waiting.popFirst() {
        case .aes256GCM(let key): try GCMBody(body, key: key)
        case .gzip: GzipBody()
        case .base64: Base64Body()
        case nil: throw .defect("no decryptor is left")
        }
    }
}

/// A decryptor working on one body.
protocol BodyCipher: AnyObject {
    /// Continues with the bytes after those consumed so far; `isLast` if these are all remaining
    /// bytes. `room` has at least the size of `input` and 4 KB. Throws for an invalid body.
    func step(
        _ input: RawSpan, isLast: Bool, into room: UnsafeMutableRawBufferPointer
    ) throws(ImageError) -> CipherStep
}

/// The result of a step.
struct CipherStep {
    /// The number of bytes consumed.
    let consumed: Int
    /// The number of bytes written.
    let produced: Int
    /// Whether the body is exhausted and was complete.
    let isEnd: Bool
}

/// A base64 body (RFC 4648 §4); characters outside of the alphabet and padding are skipped.
final class Base64Body: BodyCipher {
    private var bits: UInt32 = 0
    private var digits = 0
    private var isPadded = false

    func step(
        _ input: RawSpan, isLast: Bool, into room: UnsafeMutableRawBufferPointer
    ) throws(ImageError) -> CipherStep {
        var written = 0
        for index in 0..<input.byteCount {
            let byte = input.unsafeLoad(fromByteOffset: index, as: UInt8.self)
            if byte == UInt8(ascii: "=") { isPadded = true }
            guard let digit = Self.digit(byte) else { continue }
            guard !isPadded else { throw .undecryptable("Base64 data continues after its padding") }
            (bits, digits) = (bits << 6 | digit, digits + 1)
            if digits == 4 { written += flush(into: room, at: written) }
        }
        if isLast { written += try flushRest(into: room, at: written) }
        return CipherStep(consumed: input.byteCount, produced: written, isEnd: isLast)
    }

    /// Two remaining digits are one byte, three are two. The padding may be missing.
    private func flushRest(
        into room: UnsafeMutableRawBufferPointer, at place: Int
    ) throws(ImageError) -> Int {
        guard digits != 1 else { throw .undecryptable("Base64 data ends within a byte") }
        bits <<= UInt32(6 * (4 - digits))
        return flush(into: room, at: place)
    }

    /// Writes the bytes of the collected digits.
    private func flush(into room: UnsafeMutableRawBufferPointer, at place: Int) -> Int {
        let count = max(0, digits - 1)
        for index in 0..<count {
            room[place + index] = UInt8(truncatingIfNeeded: bits >> UInt32(16 - 8 * index))
        }
        (bits, digits) = (0, 0)
        return count
    }

    private static func digit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case 0x41...0x5A: UInt32(byte - 0x41)
        case 0x61...0x7A: UInt32(byte - 0x61) + 26
        case 0x30...0x39: UInt32(byte - 0x30) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}

/// A body that consists of a nonce, an AES-256-GCM ciphertext and its tag.
final class GCMBody: BodyCipher {
    private var decryption: GCMDecryption
    private let tag: [UInt8]
    /// The remaining bytes of ciphertext.
    private var left: Int
    private var hasNonce = false

    init(_ body: RawSpan, key: [UInt8]) throws(ImageError) {
        let frame = GCMDecryption.nonceBytes + GCMDecryption.tagBytes
        guard body.byteCount >= frame else {
            throw .undecryptable("it is shorter than nonce and tag")
        }
        let nonce = body.extracting(first: GCMDecryption.nonceBytes).withUnsafeBytes { Array($0) }
        tag = body.extracting(last: GCMDecryption.tagBytes).withUnsafeBytes { Array($0) }
        left = body.byteCount - frame
        do throws(OpenSSLError) {
            decryption = try GCMDecryption(key: key, nonce: nonce)
        } catch {
            throw .undecrypted(error)
        }
    }

    func step(
        _ input: RawSpan, isLast: Bool, into room: UnsafeMutableRawBufferPointer
    ) throws(ImageError) -> CipherStep {
        let skipped = hasNonce ? 0 : min(GCMDecryption.nonceBytes, input.byteCount)
        hasNonce = true
        let rest = input.extracting(droppingFirst: skipped)
        do throws(OpenSSLError) {
            let text = rest.extracting(first: min(left, rest.byteCount))
            let count = try decryption.update(text, into: room)
            left -= count
            if left == 0 { try decryption.finish(tag: tag) }
            return CipherStep(consumed: skipped + count, produced: count, isEnd: left == 0)
        } catch {
            throw .undecrypted(error)
        }
    }
}

extension ImageError {
    fileprivate static func undecrypted(_ error: OpenSSLError) -> ImageError {
        switch error {
        case .tag: .undecryptable("authentication failed with the key of the rule")
        case .length: .undecryptable("key, nonce or tag has the wrong length")
        case .failed: ImageError(.busy, "not enough memory to decrypt the body")
        }
    }
}

/// A body of one or more gzip streams.
final class GzipBody: BodyCipher {
    private var decoder = BodyDecoder(.gzip)

    func step(
        _ input: RawSpan, isLast: Bool, into room: UnsafeMutableRawBufferPointer
    ) throws(ImageError) -> CipherStep {
        let taken = decoder.hasRoom ? min(input.byteCount, BodyDecoder.pendingBytesMax) : 0
        decoder.append(input.extracting(first: taken))
        let produced: Int
        do throws(ZlibError) {
            produced = try decoder.decode(into: room)
        } catch {
            throw .undecryptable("invalid gzip data")
        }
        let isEnd = isLast && taken == input.byteCount && !decoder.isBehind
        guard !isEnd || decoder.isComplete else {
            throw .undecryptable("truncated gzip data")
        }
        return CipherStep(consumed: taken, produced: produced, isEnd: isEnd)
    }
}
