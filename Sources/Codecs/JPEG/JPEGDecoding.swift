internal import CJPEG
public import CodecSupport
private import Glibc

/// The properties of a JPEG that are known before its pixels are decoded.
public struct JPEGHeader: Equatable, Sendable {
    /// The color spaces that are distinguished.
    public enum Color: Sendable {
        case gray, yCbCr
        /// RGB, CMYK, YCCK or unknown. These can't be decoded into planes.
        case other
    }

    /// The sampling factors of one component, 1 to 4, as stored in the file.
    public struct Sampling: Equatable, Sendable {
        /// The number of the component's blocks per row of an MCU.
        public let horizontal: Int
        /// The number of the component's blocks per column of an MCU.
        public let vertical: Int
    }

    /// The stored width in pixels, before any orientation is applied.
    public let width: Int
    /// The stored height in pixels.
    public let height: Int
    /// Bits per sample: 8.
    public let precision: Int
    /// The color space of the file.
    public let color: Color
    /// The sampling factors of each component, 1 to 10 of them.
    public let sampling: [Sampling]
    /// Whether the file is progressive: later scans refine earlier ones.
    public let isProgressive: Bool
    /// Whether arithmetic coding is used instead of Huffman coding.
    public let isArithmetic: Bool
    /// Whether pixels can only be decoded once the whole file has been read, because it's
    /// progressive or not interleaved.
    public let hasManyScans: Bool
    /// Whether there is an ICC profile.
    public let hasProfile: Bool
    /// The memory in bytes that libjpeg needs for the coefficients of a multi-scan file; 0 for a
    /// single-scan file.
    public let coefficientBytes: Int

    /// Reads only the header of `bytes`.
    ///
    /// - Throws: `corrupt`, `unsupported` (lossless, 12 bits), `outOfMemory`.
    public init(_ bytes: UnsafeRawBufferPointer) throws(CodecError) {
        self = try JPEGHandle(bytes, limits: .standard).header
    }
}

extension JPEGHeader {
    init(_ header: cjpeg_header, sampling: (Int) -> cjpeg_sampling) {
        width = Int(header.width)
        height = Int(header.height)
        precision = Int(header.precision)
        color = Color(header.color)
        self.sampling = (0..<Int(header.components)).map {
            let sampling = sampling($0)
            return Sampling(
                horizontal: Int(sampling.horizontal), vertical: Int(sampling.vertical))
        }
        isProgressive = header.is_progressive != 0
        isArithmetic = header.is_arithmetic != 0
        hasManyScans = header.has_many_scans != 0
        hasProfile = header.has_profile != 0
        coefficientBytes = header.coefficient_bytes
    }
}

extension JPEGHeader.Color {
    fileprivate init(_ color: cjpeg_color) {
        self =
            switch color {
            case CJPEG_COLOR_GRAY: .gray
            case CJPEG_COLOR_YCBCR: .yCbCr
            default: .other
            }
    }
}

/// Limits on what a file may require beyond its header.
public struct JPEGLimits: Equatable, Sendable {
    /// The largest number of scans. A legitimate progressive file has about ten; each requires a
    /// pass over the whole image, however few bytes it has.
    public var scans: Int
    /// The largest number of coefficient bytes held for a multi-scan file
    /// (`JPEGHeader.coefficientBytes`); 0 means no limit.
    public var coefficientBytes: Int

    /// 500 scans and unlimited memory.
    public static let standard = JPEGLimits(scans: 500, coefficientBytes: 0)

    /// Creates custom limits.
    public init(scans: Int, coefficientBytes: Int) {
        self.scans = scans
        self.coefficientBytes = coefficientBytes
    }
}

/// The chroma subsampling of decoded planes; at a reduced size often less than in the file.
public struct JPEGChroma: Equatable, Sendable {
    /// The base 2 logarithm of the number of luma columns per chroma column, 0 to 2.
    public let horizontalLog2: Int
    /// The base 2 logarithm of the number of luma rows per chroma row, 0 to 2.
    public let verticalLog2: Int
}

/// The size of one sample plane as libjpeg writes it, known before decoding.
public struct JPEGPlane: Equatable, Sendable {
    /// The number of columns that contain image content, the last one possibly only in part.
    public let width: Int
    /// The number of rows that contain image content, the last one possibly only in part.
    public let height: Int
    /// The number of columns written: whole blocks, and for luma enough to cover each chroma sample
    /// completely. The caller's stride must be at least this.
    public let paddedWidth: Int
    /// The number of rows written, likewise. The caller's plane must have at least this many.
    public let paddedHeight: Int
    /// The fractional number of columns covered by the image: 2725 reduced by 4 is 681.25 of 682.
    /// Scaling by the rounded number would shift the image.
    public let activeWidth: Double
    /// The fractional number of rows covered by the image.
    public let activeHeight: Double

    init(_ plane: cjpeg_plane) {
        width = Int(plane.width)
        height = Int(plane.height)
        paddedWidth = Int(plane.padded_width)
        paddedHeight = Int(plane.padded_height)
        activeWidth = plane.active_width
        activeHeight = plane.active_height
    }

    /// Returns the size in bytes of a plane whose rows are `stride` bytes apart.
    public func byteCount(stride: Int) -> Int { stride * paddedHeight }

    func fits(_ target: SampleTarget) -> Bool {
        target.source.holds(rowBytes: paddedWidth, height: paddedHeight)
    }
}

/// Decodes one JPEG into planes: gray, or Y, Cb and Cr as stored, full range (JFIF) with centered
/// chroma, neither upsampled to the size of luma nor converted to RGB.
///
/// It's as strict as libvips 8.14 with `fail_on=error`: a truncated file is corrupt, up to 99
/// warnings are ignored, and data after the last sample isn't examined.
public struct JPEGPlaneDecoder: ~Copyable {
    private let handle: JPEGHandle
    /// The planes: one for gray, three for YCbCr.
    public let planes: [JPEGPlane]
    /// The chroma subsampling of `planes`. `nil` for a gray file, and if Cb and Cr differ or a
    /// factor isn't 1, 2 or 4.
    public let chroma: JPEGChroma?

    /// Reads the header and selects the size.
    ///
    /// - Parameters:
    ///   - bytes: must stay valid and unchanged while the decoder lives.
    ///   - reduction: 1, 2, 4 or 8: the factor by which each dimension is reduced. libjpeg
    ///     upsamples chroma if that's free: reduced by 2, a 4:2:0 file yields chroma of luma's
    ///     size. `planes` has the result.
    /// - Throws: `corrupt`, `unsupported` (not gray or YCbCr, lossless, 12 bits, fractional
    ///   sampling), `outOfMemory`.
    public init(
        _ bytes: UnsafeRawBufferPointer, reduction: Int = 1, limits: JPEGLimits = .standard
    ) throws(CodecError) {
        guard [1, 2, 4, 8].contains(reduction) else {
            throw CodecError(kind: .internal, text: "unsupported reduction by \(reduction)")
        }
        let handle = try JPEGHandle(bytes, limits: limits)
        var failure = cjpeg_failure()
        let status = cjpeg_select_planes(handle.pointer, CInt(8 / reduction), &failure)
        guard status == CJPEG_OK else { throw CodecError(failure) }
        let pointer = handle.pointer
        planes = handle.header.sampling.indices.map { index in
            JPEGPlane(cjpeg_plane_of(pointer, CInt(index)))
        }
        var (horizontal, vertical): (CInt, CInt) = (0, 0)
        let hasChroma = cjpeg_chroma_log2(pointer, &horizontal, &vertical) == 0
        chroma =
            hasChroma
            ? JPEGChroma(horizontalLog2: Int(horizontal), verticalLog2: Int(vertical)) : nil
        self.handle = handle
    }

    /// The file's header.
    public var header: JPEGHeader { handle.header }

    /// Decodes directly into the caller's memory.
    ///
    /// All `paddedWidth` × `paddedHeight` bytes of each plane are written, and nothing else. After
    /// an error their content is undefined.
    ///
    /// - Parameters:
    ///   - targets: one for each of `planes`, with a stride of at least its `paddedWidth`.
    ///   - isCancelled: called on this thread for every row of MCUs, and for a multi-scan file for
    ///     every row of every scan.
    /// - Throws: `corrupt`, `unsupported` (too many scans), `outOfMemory`, `cancelled`, `internal`
    ///   if a target is too small.
    public consuming func decode(
        into targets: [SampleTarget], isCancelled: () -> Bool
    ) throws(CodecError) {
        guard targets.count == planes.count, zip(planes, targets).allSatisfy({ $0.fits($1) })
        else { throw CodecError(kind: .internal, text: "targets do not match the planes") }
        let bases = targets.map { $0.base(UInt8.self) }
        let strides = targets.map(\.stride)
        let pointer = handle.pointer
        var failure = cjpeg_failure()
        let status = CodecCallbacks.withContext(isCancelled: isCancelled) { context in
            cjpeg_decode(pointer, bases, strides, isCancelledCallback, context, &failure)
        }
        guard status == CJPEG_OK else { throw CodecError(failure) }
    }
}

/// Decodes the beginning of a JPEG into rows of pixels as libvips does: gray, RGB, or CMYK that
/// isn't inverted.
///
/// For a single-scan file these are the rows that have arrived, for a multi-scan file all rows of
/// the scans that have. Missing parts are gray. Warnings are ignored.
public struct JPEGRowDecoder: ~Copyable {
    private let handle: JPEGHandle
    /// The number of columns that can be decoded, the last one possibly a partial column.
    public let width: Int
    /// The number of rows that can be decoded, the last one possibly a partial row.
    public let height: Int
    /// The number of 8-bit samples per pixel.
    public let bands: Int

    /// Reads the header and selects the size.
    ///
    /// - Parameters:
    ///   - bytes: must stay valid and unchanged while the decoder lives. They must end after a
    ///     complete segment or within a scan (`JPEGBeginning`): an incomplete table is corrupt.
    ///   - reduction: 1, 2, 4 or 8: the factor by which each dimension is reduced.
    /// - Throws: `corrupt` if the header is incomplete, `unsupported`, `outOfMemory`.
    public init(
        beginning bytes: UnsafeRawBufferPointer, reduction: Int = 1,
        limits: JPEGLimits = .standard
    ) throws(CodecError) {
        guard [1, 2, 4, 8].contains(reduction) else {
            throw CodecError(kind: .internal, text: "unsupported reduction by \(reduction)")
        }
        let handle = try JPEGHandle(bytes, limits: limits, isBeginning: true)
        var (failure, size) = (cjpeg_failure(), cjpeg_size())
        let status = cjpeg_select_rows(handle.pointer, CInt(8 / reduction), &size, &failure)
        guard status == CJPEG_OK else { throw CodecError(failure) }
        (width, height, bands) = (Int(size.width), Int(size.height), Int(size.bands))
        self.handle = handle
    }

    /// Decodes the first columns and rows directly into the caller's memory, which they must fill.
    ///
    /// - Parameter isCancelled: called on this thread for every row, and for a multi-scan file for
    ///   every row of MCUs in every scan.
    /// - Returns: how much of the image was available; if nothing was, all pixels are gray.
    /// - Throws: `corrupt`, `unsupported` (too many scans), `outOfMemory`, `cancelled`, `internal`
    ///   if the memory has another size.
    public consuming func decode(
        into memory: UnsafeMutableRawBufferPointer, columns: Int, rows: Int,
        isCancelled: () -> Bool
    ) throws(CodecError) -> ArrivedPixels {
        guard (1...width).contains(columns), (1...height).contains(rows),
            memory.count == columns * rows * bands
        else { throw CodecError(kind: .internal, text: "the memory does not match the rows") }
        let (pointer, base) = (handle.pointer, memory.baseAddress)
        var (failure, arrival) = (cjpeg_failure(), CJPEG_NOT_ARRIVED)
        let status = CodecCallbacks.withContext(isCancelled: isCancelled) { context in
            cjpeg_decode_rows(
                pointer, base?.assumingMemoryBound(to: UInt8.self), CInt(columns), CInt(rows),
                isCancelledCallback, context, &arrival, &failure)
        }
        guard status == CJPEG_OK else { throw CodecError(failure) }
        return ArrivedPixels(arrival)
    }
}

extension ArrivedPixels {
    /// Without an end-of-image marker, what has arrived may be the whole file.
    fileprivate init(_ arrival: cjpeg_arrival) {
        switch arrival {
        case CJPEG_ARRIVED: self = .whole
        case CJPEG_ARRIVED_IN_PART: self = .part
        default: self = .nothing
        }
    }
}

/// The beginning of a JPEG that's still being received.
public enum JPEGBeginning {
    /// Returns the length of the prefix that ends after a complete segment or within a scan. The
    /// rest is an incomplete segment that can't be parsed yet. Bytes that aren't a JPEG count in
    /// full.
    public static func readableCount(_ bytes: UnsafeRawBufferPointer) -> Int {
        var offset = 2
        while offset + 1 < bytes.count {
            guard bytes[offset] == 0xFF else { return bytes.count }
            switch bytes[offset + 1] {
            // Fill bytes: any number of them may precede a marker.
            case 0xFF: offset += 1
            // Markers without a length.
            case 0x00, 0x01, 0xD0...0xD8: offset += 2
            case 0xD9: return bytes.count
            case let marker:
                guard offset + 4 <= bytes.count else { return offset }
                let length = Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3])
                let end = offset + 2 + length
                guard length >= 2 else { return bytes.count }
                guard end <= bytes.count else { return offset }
                offset = marker == 0xDA ? endOfScan(bytes, from: end) : end
            }
        }
        return min(offset, bytes.count)
    }

    /// Returns the offset of the first marker after the entropy-coded data that begins at `start`
    /// and includes restart markers, or the number of bytes.
    public static func endOfScan(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var offset = start
        while offset < bytes.count, let base = bytes.baseAddress,
            let found = memchr(base + offset, 0xFF, bytes.count - offset)
        {
            offset = UnsafeRawPointer(found) - base
            guard offset + 1 < bytes.count else { return bytes.count }
            switch bytes[offset + 1] {
            case 0xFF: offset += 1
            case 0x00, 0xD0...0xD7: offset += 2
            default: return offset
            }
        }
        return bytes.count
    }
}

/// The owner of libjpeg's decoder, whose header has been read.
struct JPEGHandle: ~Copyable {
    let pointer: OpaquePointer
    let header: JPEGHeader

    /// Reads the header. The bytes must outlive the handle. If they are only the beginning of a
    /// file, they may end anywhere after the header.
    init(
        _ bytes: UnsafeRawBufferPointer, limits: JPEGLimits, isBeginning: Bool = false
    ) throws(CodecError) {
        var header = cjpeg_header()
        var failure = cjpeg_failure()
        let limits = cjpeg_limits(
            scans_max: CInt(clamping: limits.scans), memory_max: limits.coefficientBytes,
            takes_beginning: isBeginning ? 1 : 0)
        guard
            let pointer = cjpeg_open(bytes.baseAddress, bytes.count, limits, &header, &failure)
        else { throw CodecError(failure) }
        self.pointer = pointer
        self.header = JPEGHeader(header) { cjpeg_sampling_of(pointer, CInt($0)) }
    }

    deinit {
        cjpeg_close(pointer)
    }
}

extension CodecError {
    init(_ failure: cjpeg_failure) {
        let kind: Kind =
            switch failure.status {
            case CJPEG_CORRUPT: .corrupt
            case CJPEG_UNSUPPORTED: .unsupported
            case CJPEG_CANCELLED: .cancelled
            case CJPEG_REFUSED: .refused
            case CJPEG_NO_MEMORY: .outOfMemory
            default: .internal
            }
        self.init(kind: kind, message: failure.text)
    }
}
