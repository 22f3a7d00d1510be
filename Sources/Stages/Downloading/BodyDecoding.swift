import Curl
import ImageModel
import OpenSSL
import Zlib

/// Undoes the content coding of one body: takes bytes as they come and gives them decoded in
/// slices, so that many bodies can take turns.
///
/// Holds some 40 KB of zlib's and `pendingBytesMax` with one delivery more.
struct BodyDecoder: ~Copyable {
    private let coding: ContentCoding
    private var inflater: Inflater?
    private var place = Place.between
    private var pending: [UInt8] = []
    /// What of `pending` was decoded.
    private var used = 0
    /// Whether zlib had more to give than there was room.
    private var holdsMore = false

    private enum Place {
        /// At the start of a stream; the end of the body may be here.
        case between
        case inside
        /// Behind the one stream that the body may have.
        case behind
    }

    /// Bytes that wait to be decoded; with so many, no further ones are taken.
    static let pendingBytesMax = 64 << 10

    init(_ coding: ContentCoding) {
        self.coding = coding
    }

    /// Whether further bytes are taken.
    var hasRoom: Bool { pending.count - used < Self.pendingBytesMax }

    /// Whether `decode` would do something without further bytes.
    var isBehind: Bool { used < pending.count && !waitsForSecondByte || holdsMore }

    mutating func append(_ bytes: RawSpan) {
        if used > 0 {
            pending.removeFirst(used)
            used = 0
        }
        bytes.withUnsafeBytes { pending.append(contentsOf: $0) }
    }

    /// Decodes into the first part of `room`, and no more bytes than `room` has; returns how many
    /// it wrote. Throws `corrupt` and `outOfMemory`.
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
            preconditionFailure("a stream is entered before it is decoded")
        }
        used += step.consumed
        holdsMore = step.produced == room.count && !step.isEnd
        return step
    }

    /// A body may have several streams of gzip, one behind the other (RFC 1952 §2.2), and one of
    /// deflate.
    private mutating func enterStream() throws(ZlibError) {
        switch place {
        case .inside: return
        case .behind: throw .corrupt("bytes follow the end")
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

    /// The first two bytes tell the formats of deflate apart.
    private var waitsForSecondByte: Bool {
        coding == .deflate && place == .between && pending.count - used == 1
    }
}

/// A content coding that is undone here. Bodies are asked for without any, but there are origins
/// that compress all that they have.
enum ContentCoding: Hashable {
    case gzip
    /// In the format of zlib; some origins leave its header out (RFC 9110 §8.4.1.2).
    case deflate

    /// The coding of a body, nil where it has none. Throws for more than one, which multiply what a
    /// short response becomes, and for those that nobody asks of a loader of images.
    init?(_ head: ResponseHead) throws(DownloadFailure) {
        let names = head.contentCodings
        guard let name = names.first else { return nil }
        switch names.count == 1 ? name : "" {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        default: throw .contentCodings(names.joined(separator: ", "))
        }
    }
}

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

/// A body that is base64 (RFC 4648 §4); characters of neither it nor its padding are left out.
final class Base64Body: BodyCipher {
    private var bits: UInt32 = 0
    private var digits = 0
    private var isPadded = false

    func step(
        _ input: RawSpan, isLast: Bool, into room: UnsafeMutableRawBufferPointer
    ) throws(DownloadFailure) -> CipherStep {
        var written = 0
        for index in 0..<input.byteCount {
            let byte = input.unsafeLoad(fromByteOffset: index, as: UInt8.self)
            if byte == UInt8(ascii: "=") { isPadded = true }
            guard let digit = Self.digit(byte) else { continue }
            guard !isPadded else { throw .undecryptable("base64 follows its padding") }
            (bits, digits) = (bits << 6 | digit, digits + 1)
            if digits == 4 { written += flush(into: room, at: written) }
        }
        if isLast { written += try flushRest(into: room, at: written) }
        return CipherStep(consumed: input.byteCount, produced: written, isEnd: isLast)
    }

    /// Two digits are a byte, three are two. The padding may be missing.
    private func flushRest(
        into room: UnsafeMutableRawBufferPointer, at place: Int
    ) throws(DownloadFailure) -> Int {
        guard digits != 1 else { throw .undecryptable("its base64 ends within a byte") }
        bits <<= UInt32(6 * (4 - digits))
        return flush(into: room, at: place)
    }

    /// The bytes of the digits that are here.
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

/// A body that is a nonce, a ciphertext of AES-256-GCM and its tag, one behind the other.
final class GCMBody: BodyCipher {
    private var decryption: GCMDecryption
    private let tag: [UInt8]
    /// Bytes of ciphertext that are left.
    private var left: Int
    private var hasNonce = false

    init(_ body: RawSpan, key: [UInt8]) throws(DownloadFailure) {
        let frame = GCMDecryption.nonceBytes + GCMDecryption.tagBytes
        guard body.byteCount >= frame else {
            throw .undecryptable("it is shorter than a nonce and a tag")
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
    ) throws(DownloadFailure) -> CipherStep {
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

extension DownloadFailure {
    fileprivate static func undecrypted(_ error: OpenSSLError) -> DownloadFailure {
        switch error {
        case .tag: .undecryptable("its tag is not that of its bytes under the key of the rule")
        case .length: .undecryptable("key, nonce or tag have another length")
        case .failed: .refused(ImageError(.busy, "no memory to decrypt the body"))
        }
    }
}

/// A body that is one or more streams of gzip.
final class GzipBody: BodyCipher {
    private var decoder = BodyDecoder(.gzip)

    func step(
        _ input: RawSpan, isLast: Bool, into room: UnsafeMutableRawBufferPointer
    ) throws(DownloadFailure) -> CipherStep {
        let taken = decoder.hasRoom ? min(input.byteCount, BodyDecoder.pendingBytesMax) : 0
        decoder.append(input.extracting(first: taken))
        let produced: Int
        do throws(ZlibError) {
            produced = try decoder.decode(into: room)
        } catch {
            throw .undecryptable("it is not gzip")
        }
        let isEnd = isLast && taken == input.byteCount && !decoder.isBehind
        guard !isEnd || decoder.isComplete else {
            throw .undecryptable("it ends before its gzip does")
        }
        return CipherStep(consumed: taken, produced: produced, isEnd: isEnd)
    }
}
