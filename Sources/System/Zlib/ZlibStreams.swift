internal import CZlib

/// Decompresses one stream in steps, with input and output buffers of any size.
///
/// Holds about 40 KB. Usable by one thread at a time.
public struct Inflater: ~Copyable {
    /// zlib stores the address of its stream and refuses to work at another one.
    private let stream: UnsafeMutablePointer<z_stream>

    /// The result of one step.
    public struct Step: Equatable, Sendable {
        /// The number of input bytes consumed.
        public let consumed: Int
        /// The number of output bytes written.
        public let produced: Int
        /// Whether the stream has ended with a correct checksum. Any further input isn't part of
        /// it.
        public let isEnd: Bool
    }

    /// Starts a stream. Throws `outOfMemory`.
    public init(_ format: InflateFormat) throws(ZlibError) {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let code = inflateInit2_(
            stream, format.windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard code == Z_OK else {
            stream.deallocate()
            throw .outOfMemory
        }
        self.stream = stream
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Starts another stream of the same format.
    public mutating func reset() {
        inflateReset(stream)
    }

    /// Continues with `input` until it's consumed, `output` is full or the stream ends. If nothing
    /// was consumed or produced, more input or output space is needed. Throws `corrupt` and
    /// `outOfMemory`.
    public mutating func step(
        _ input: RawSpan, into output: UnsafeMutableRawBufferPointer
    ) throws(ZlibError) -> Step {
        let given = min(input.byteCount, Int(UInt32.max))
        let room = min(output.count, Int(UInt32.max))
        let code = input.withUnsafeBytes { inflate($0, given, into: output, room) }
        try check(code)
        return Step(
            consumed: given - Int(stream.pointee.avail_in),
            produced: room - Int(stream.pointee.avail_out), isEnd: code == Z_STREAM_END)
    }

    /// zlib doesn't accept a null address, even for no bytes.
    private func inflate(
        _ input: UnsafeRawBufferPointer, _ given: Int, into output: UnsafeMutableRawBufferPointer,
        _ room: Int
    ) -> Int32 {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1) { nothing in
            let bytes = input.bindMemory(to: UInt8.self).baseAddress
            let target = output.bindMemory(to: UInt8.self).baseAddress
            stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes) ?? nothing.baseAddress
            stream.pointee.avail_in = UInt32(given)
            stream.pointee.next_out = target ?? nothing.baseAddress
            stream.pointee.avail_out = UInt32(room)
            return CZlib.inflate(stream, Z_NO_FLUSH)
        }
    }

    private func check(_ code: Int32) throws(ZlibError) {
        switch code {
        // Z_BUF_ERROR: no progress was possible, which isn't an error.
        case Z_OK, Z_STREAM_END, Z_BUF_ERROR: return
        case Z_MEM_ERROR: throw .outOfMemory
        case Z_NEED_DICT: throw .corrupt("a dictionary is required")
        default: throw .corrupt(stream.pointee.msg.map { String(cString: $0) } ?? "code \(code)")
        }
    }
}

/// The container of compressed bytes.
public enum InflateFormat: Hashable, Sendable {
    /// A gzip header and checksum (RFC 1952).
    case gzip
    /// A zlib header and checksum (RFC 1950).
    case zlib
    /// None (RFC 1951).
    case raw

    /// Distinguishes zlib from raw by the first two bytes of a stream: a zlib header has method 8,
    /// a window of at most 32 KB, and is a multiple of 31.
    public init(startingWith first: UInt8, _ second: UInt8) {
        let isZlib =
            first & 0x0F == 8 && first >> 4 <= 7 && (UInt16(first) << 8 | UInt16(second)) % 31 == 0
        self = isZlib ? .zlib : .raw
    }

    /// The `windowBits` argument of `inflateInit2`.
    var windowBits: Int32 {
        switch self {
        case .gzip: 15 + 16
        case .zlib: 15
        case .raw: -15
        }
    }
}

/// Why bytes can't be decompressed.
public enum ZlibError: Error, Equatable, Sendable {
    /// The bytes aren't in the format; has zlib's message.
    case corrupt(String)
    /// The state of a stream couldn't be allocated.
    case outOfMemory
}
