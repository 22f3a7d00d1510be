internal import CZlib

/// Decompresses one stream in steps, each with as much input and output as the caller gives it.
///
/// Holds some 40 KB. One thread at a time.
public struct Inflater: ~Copyable {
    /// zlib keeps the address of its stream and refuses to work at another one.
    private let stream: UnsafeMutablePointer<z_stream>

    /// What one step did.
    public struct Step: Equatable, Sendable {
        /// Bytes of the input that were used.
        public let consumed: Int
        /// Bytes of the output that were written.
        public let produced: Int
        /// Whether the stream has ended, its check sum was right, and what follows is not its own.
        public let isEnd: Bool
    }

    /// At the start of a stream. Throws `outOfMemory`.
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

    /// Begins another stream of the same format.
    public mutating func reset() {
        inflateReset(stream)
    }

    /// Goes on with `input` until it is used up, `output` is full or the stream ends. Where nothing
    /// is consumed or produced, it needs more of one of them. Throws `corrupt` and `outOfMemory`.
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

    /// zlib takes no null address, even of no bytes.
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
        // Z_BUF_ERROR: nothing could be done with what was given, which is no fault.
        case Z_OK, Z_STREAM_END, Z_BUF_ERROR: return
        case Z_MEM_ERROR: throw .outOfMemory
        case Z_NEED_DICT: throw .corrupt("a dictionary is asked for")
        default: throw .corrupt(stream.pointee.msg.map { String(cString: $0) } ?? "code \(code)")
        }
    }
}

/// What stands around compressed bytes.
public enum InflateFormat: Hashable, Sendable {
    /// A header and a check sum of gzip (RFC 1952).
    case gzip
    /// A header and a check sum of zlib (RFC 1950).
    case zlib
    /// Nothing (RFC 1951).
    case raw

    /// The format of a stream of zlib or of nothing around it, by its first two bytes: those of a
    /// zlib header name method 8 and a window of at most 32 KB, and are a multiple of 31.
    public init(startingWith first: UInt8, _ second: UInt8) {
        let isZlib =
            first & 0x0F == 8 && first >> 4 <= 7 && (UInt16(first) << 8 | UInt16(second)) % 31 == 0
        self = isZlib ? .zlib : .raw
    }

    /// What `inflateInit2` calls `windowBits`.
    var windowBits: Int32 {
        switch self {
        case .gzip: 15 + 16
        case .zlib: 15
        case .raw: -15
        }
    }
}

/// Compresses whole buffers to the format of zlib (RFC 1950). Any thread.
public enum Deflater {
    /// One stream of all of `bytes`.
    ///
    /// - Parameter level: 1, the fastest, to 9, the smallest; others are taken for the nearest.
    /// - Throws: `outOfMemory`.
    public static func zlib(_ bytes: [UInt8], level: Int = 1) throws(ZlibError) -> [UInt8] {
        let level = Int32(min(max(1, level), 9))
        var isWhole = true
        let stream = [UInt8](unsafeUninitializedCapacity: Int(compressBound(UInt(bytes.count)))) {
            target, count in
            var written = uLong(target.count)
            isWhole =
                compress2(target.baseAddress, &written, bytes, uLong(bytes.count), level) == Z_OK
            count = isWhole ? Int(written) : 0
        }
        // There is room for whatever it may become.
        guard isWhole else { throw .outOfMemory }
        return stream
    }
}

/// The check sum of gzip and of the chunks of a PNG: it detects accidents, not attacks.
public enum CRC32 {
    /// The sum of `bytes`.
    public static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        let start = bytes.bindMemory(to: UInt8.self).baseAddress
        // zlib takes no address for the wish to begin.
        return start == nil ? 0 : UInt32(truncatingIfNeeded: crc32_z(0, start, bytes.count))
    }
}

/// Why compressed bytes cannot be decompressed.
public enum ZlibError: Error, Equatable, Sendable {
    /// The bytes are not in the format; zlib's own words say where it saw that.
    case corrupt(String)
    /// The state of a stream could not be allocated.
    case outOfMemory
}
