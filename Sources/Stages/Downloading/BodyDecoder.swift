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
