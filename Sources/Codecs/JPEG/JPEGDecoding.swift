internal import CJPEG
public import CodecSupport
private import Glibc

/// The properties of a JPEG that are known before its pixels are decoded.
public struct JPEGHeader: Sendable {
    /// The color spaces that are distinguished; the values are those of `cjpeg_color`.
    public enum Color: UInt32, Sendable {
        /// RGB, CMYK, YCCK or unknown. These can't be decoded into planes.
        case other
        case gray, yCbCr
    }

    /// The stored width in pixels, before any orientation is applied.
    public let width: Int
    /// The stored height in pixels.
    public let height: Int
    /// The color space of the file.
    public let color: Color
    /// The memory in bytes that libjpeg needs for the coefficients of a multi-scan file; 0 for a
    /// single-scan file.
    public let coefficientBytes: Int
    let components: Int

    /// Reads only the header of `bytes`.
    ///
    /// - Throws: `corrupt`, `unsupported` (lossless, 12 bits), `outOfMemory`.
    public init(_ bytes: UnsafeRawBufferPointer) throws(CodecError) {
        self = try JPEGHandle(bytes).header
    }

    init(_ header: cjpeg_header) {
        (width, height) = (Int(header.width), Int(header.height))
        color = Color(rawValue: header.color.rawValue) ?? .other
        (components, coefficientBytes) = (Int(header.components), header.coefficient_bytes)
    }
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

    /// Reads the header and selects the size.
    ///
    /// - Parameters:
    ///   - bytes: must stay valid and unchanged while the decoder lives.
    ///   - reduction: 1, 2, 4 or 8: the factor by which each dimension is reduced. libjpeg
    ///     upsamples chroma if that's free: reduced by 2, a 4:2:0 file yields chroma of luma's
    ///     size. `planes` has the result.
    ///   - scansMax: the largest number of scans. A legitimate progressive file has about ten; each
    ///     requires a pass over the whole image, however few bytes it has.
    ///   - coefficientBytesMax: the largest number of coefficient bytes held for a multi-scan file
    ///     (`JPEGHeader.coefficientBytes`); 0 means no limit.
    /// - Throws: `corrupt`, `unsupported` (not gray or YCbCr, lossless, 12 bits, fractional
    ///   sampling), `outOfMemory`.
    public init(
        _ bytes: UnsafeRawBufferPointer, reduction: Int = 1, scansMax: Int = 500,
        coefficientBytesMax: Int = 0
    ) throws(CodecError) {
        let handle = try JPEGHandle(
            bytes, scansMax: scansMax, coefficientBytesMax: coefficientBytesMax)
        let pointer = handle.pointer
        try JPEGHandle.select(reduction) { cjpeg_select_planes(pointer, $0, &$1) }
        planes = (0..<handle.header.components).map { index in
            JPEGPlane(cjpeg_plane_of(pointer, CInt(index)))
        }
        self.handle = handle
    }

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
    public init(beginning bytes: UnsafeRawBufferPointer, reduction: Int = 1) throws(CodecError) {
        let handle = try JPEGHandle(bytes, isBeginning: true)
        let pointer = handle.pointer
        var size = cjpeg_size()
        try JPEGHandle.select(reduction) { cjpeg_select_rows(pointer, $0, &size, &$1) }
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
        // Without an end-of-image marker, what has arrived may be the whole file.
        return ArrivedPixels(rawValue: arrival.rawValue) ?? .nothing
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
        _ bytes: UnsafeRawBufferPointer, scansMax: Int = 500, coefficientBytesMax: Int = 0,
        isBeginning: Bool = false
    ) throws(CodecError) {
        var header = cjpeg_header()
        var failure = cjpeg_failure()
        let limits = cjpeg_limits(
            scans_max: CInt(clamping: scansMax), memory_max: coefficientBytesMax,
            takes_beginning: isBeginning ? 1 : 0)
        guard
            let pointer = cjpeg_open(bytes.baseAddress, bytes.count, limits, &header, &failure)
        else { throw CodecError(failure) }
        self.pointer = pointer
        self.header = JPEGHeader(header)
    }

    deinit {
        cjpeg_close(pointer)
    }

    /// Selects a size with a function of C, which takes eighths.
    static func select(
        _ reduction: Int, by choose: (CInt, inout cjpeg_failure) -> cjpeg_status
    ) throws(CodecError) {
        guard [1, 2, 4, 8].contains(reduction) else {
            throw CodecError(kind: .internal, text: "unsupported reduction by \(reduction)")
        }
        var failure = cjpeg_failure()
        guard choose(CInt(8 / reduction), &failure) == CJPEG_OK else { throw CodecError(failure) }
    }
}

extension CodecError {
    init(_ failure: cjpeg_failure) {
        self.init(status: failure.status.rawValue, message: failure.text)
    }
}
