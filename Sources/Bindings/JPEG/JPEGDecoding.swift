internal import CJPEG
private import Glibc

/// What a JPEG says of itself before its pixels.
public struct JPEGHeader: Equatable, Sendable {
    /// The colour spaces that are told apart.
    public enum Colour: Sendable {
        case grey, yCbCr
        /// RGB, CMYK, YCCK or unknown: no planes are made of these.
        case other
    }

    /// The sampling factors of one component, 1 to 4, as the file has them.
    public struct Sampling: Equatable, Sendable {
        /// Samples of this component in a row of an MCU, in blocks.
        public let horizontal: Int
        /// The same in a column.
        public let vertical: Int
    }

    /// Columns, as stored: an orientation is not applied.
    public let width: Int
    /// Rows, as stored.
    public let height: Int
    /// Bits of a sample: 8.
    public let precision: Int
    /// The colour space of the file.
    public let colour: Colour
    /// One for each component, 1 to 10 of them.
    public let sampling: [Sampling]
    /// Whether scans refine what earlier scans gave.
    public let isProgressive: Bool
    /// Whether arithmetic coding takes the place of Huffman's.
    public let isArithmetic: Bool
    /// Whether pixels can only be made once the whole file was read: progressive, or not
    /// interleaved.
    public let hasManyScans: Bool
    /// Whether there is an ICC profile.
    public let hasProfile: Bool
    /// Memory that libjpeg holds for the coefficients of a file with many scans; 0 for one with
    /// one scan.
    public let coefficientBytes: Int

    /// Reads the header of `bytes` and nothing behind it.
    ///
    /// - Throws: `corrupt`, `unsupported` (lossless, 12 bits), `outOfMemory`.
    public init(_ bytes: UnsafeRawBufferPointer) throws(JPEGError) {
        self = try JPEGHandle(bytes, limits: .standard).header
    }
}

extension JPEGHeader {
    init(_ header: cjpeg_header, sampling: (Int) -> cjpeg_sampling) {
        width = Int(header.width)
        height = Int(header.height)
        precision = Int(header.precision)
        colour = Colour(header.colour)
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

extension JPEGHeader.Colour {
    fileprivate init(_ colour: cjpeg_colour) {
        self =
            switch colour {
            case CJPEG_COLOUR_GREY: .grey
            case CJPEG_COLOUR_YCBCR: .yCbCr
            default: .other
            }
    }
}

/// What a file may ask for behind its header.
public struct JPEGLimits: Equatable, Sendable {
    /// Scans of one file. An honest progressive file has about ten; each costs a pass over the
    /// whole image, however few bytes it has.
    public var scans: Int
    /// Bytes of coefficients that may be held for a file with many scans
    /// (`JPEGHeader.coefficientBytes`); 0 sets no limit.
    public var coefficientBytes: Int

    /// 500 scans, and as much memory as there is.
    public static let standard = JPEGLimits(scans: 500, coefficientBytes: 0)

    /// Limits of the caller's choice.
    public init(scans: Int, coefficientBytes: Int) {
        self.scans = scans
        self.coefficientBytes = coefficientBytes
    }
}

/// How much smaller planes of chroma are than that of luma, as they are decoded: at a reduced size
/// often less than in the file.
public struct JPEGChroma: Equatable, Sendable {
    /// Base 2 logarithm of the columns of luma for each of chroma: 0 to 2.
    public let horizontalLog2: Int
    /// The same for rows.
    public let verticalLog2: Int

    /// The numbers of any file.
    public init(horizontalLog2: Int, verticalLog2: Int) {
        self.horizontalLog2 = horizontalLog2
        self.verticalLog2 = verticalLog2
    }
}

/// The size of one plane of samples as libjpeg writes it, known before anything is decoded.
public struct JPEGPlane: Equatable, Sendable {
    /// Columns that show something of the image, the last perhaps in part.
    public let width: Int
    /// Rows that show something of the image, the last perhaps in part.
    public let height: Int
    /// Columns that are written: whole blocks, and of luma so many that each sample of chroma has
    /// all of its own. The caller's stride is at least this.
    public let paddedWidth: Int
    /// Rows that are written, likewise. The caller's plane has at least these.
    public let paddedHeight: Int
    /// How much of the columns is image: 2725 reduced by 4 are 681.25 of 682. Who scales from
    /// the rounded number shifts the image.
    public let activeWidth: Double
    /// How much of the rows is image.
    public let activeHeight: Double

    init(_ plane: cjpeg_plane) {
        width = Int(plane.width)
        height = Int(plane.height)
        paddedWidth = Int(plane.padded_width)
        paddedHeight = Int(plane.padded_height)
        activeWidth = plane.active_width
        activeHeight = plane.active_height
    }

    /// Bytes of a plane whose rows are `stride` bytes apart.
    public func byteCount(stride: Int) -> Int { stride * paddedHeight }

    func fits(_ target: JPEGPlaneTarget) -> Bool {
        guard target.stride >= paddedWidth, target.memory.baseAddress != nil else { return false }
        return target.memory.count >= target.stride * (paddedHeight - 1) + paddedWidth
    }
}

/// Where a decoded plane goes.
public struct JPEGPlaneTarget {
    /// The caller's memory, from the first sample on.
    public let memory: UnsafeMutableRawBufferPointer
    /// Bytes from one row to the next, at least `JPEGPlane.paddedWidth`.
    public let stride: Int

    /// Memory that stays valid while `JPEGPlaneDecoder.decode` runs.
    public init(memory: UnsafeMutableRawBufferPointer, stride: Int) {
        self.memory = memory
        self.stride = stride
    }
}

/// Decodes one JPEG into planes: grey, or Y, Cb and Cr as the file has them, full range (JFIF),
/// chroma centred, neither enlarged to the size of luma nor converted to RGB.
///
/// As strict as libvips 8.14 with `fail_on=error`: a file that is cut off is corrupt, up to 99
/// warnings are passed over, and what stands behind the last sample is not looked at.
public struct JPEGPlaneDecoder: ~Copyable {
    private let handle: JPEGHandle
    /// Grey: one. YCbCr: three.
    public let planes: [JPEGPlane]
    /// How many samples of luma each of chroma has in `planes`; nil of a grey file, and of one
    /// where Cb and Cr differ or the numbers are not 1, 2 or 4.
    public let chroma: JPEGChroma?

    /// Reads the header and chooses the size.
    ///
    /// - Parameters:
    ///   - bytes: must stay valid and unchanged while the decoder lives.
    ///   - reduction: 1, 2, 4 or 8: so many times fewer samples in each direction. libjpeg scales
    ///     subsampled chroma up where that costs nothing: reduced by 2, a 4:2:0 file gives chroma
    ///     of luma's size. `planes` says what comes.
    /// - Throws: `corrupt`, `unsupported` (not grey or YCbCr, lossless, 12 bits, fractional
    ///   sampling), `outOfMemory`.
    public init(
        _ bytes: UnsafeRawBufferPointer, reduction: Int = 1, limits: JPEGLimits = .standard
    ) throws(JPEGError) {
        guard [1, 2, 4, 8].contains(reduction) else {
            throw JPEGError(kind: .internal, text: "reduction by \(reduction)")
        }
        let handle = try JPEGHandle(bytes, limits: limits)
        var failure = cjpeg_failure()
        let status = cjpeg_select_planes(handle.pointer, CInt(8 / reduction), &failure)
        guard status == CJPEG_FINE else { throw JPEGError(failure) }
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

    /// What the file says of itself.
    public var header: JPEGHeader { handle.header }

    /// Decodes straight into the caller's memory.
    ///
    /// All `paddedWidth` × `paddedHeight` bytes of each plane are written, and none beside them.
    /// After an error they hold anything.
    ///
    /// - Parameters:
    ///   - targets: one for each of `planes`.
    ///   - isCancelled: asked on this thread on every row of MCUs, and of a file with many scans on
    ///     every row of every scan.
    /// - Throws: `corrupt`, `unsupported` (too many scans), `outOfMemory`, `cancelled`, `internal`
    ///   where a target is too small.
    public consuming func decode(
        into targets: [JPEGPlaneTarget], isCancelled: () -> Bool
    ) throws(JPEGError) {
        guard targets.count == planes.count, zip(planes, targets).allSatisfy({ $0.fits($1) })
        else { throw JPEGError(kind: .internal, text: "targets do not fit the planes") }
        let bases = targets.map { $0.memory.baseAddress?.assumingMemoryBound(to: UInt8.self) }
        let strides = targets.map(\.stride)
        let pointer = handle.pointer
        var failure = cjpeg_failure()
        let status = JPEGCancellation.withContext(isCancelled) { context in
            cjpeg_decode(pointer, bases, strides, askWhetherCancelled, context, &failure)
        }
        guard status == CJPEG_FINE else { throw JPEGError(failure) }
    }
}

/// Decodes the first bytes of a JPEG into rows of pixels, as libvips makes them: grey, RGB, or CMYK
/// that is not inverted.
///
/// Of a file whose pixels lie in one scan these are the rows that have arrived, of one with several
/// scans all rows of the scans that have. What is missing is grey. Warnings are passed over.
public struct JPEGRowDecoder: ~Copyable {
    private let handle: JPEGHandle
    /// Columns that can be decoded, the last one of which may be a part of one.
    public let width: Int
    /// Rows likewise.
    public let height: Int
    /// Samples of a pixel, of 8 bits.
    public let bands: Int

    /// Reads the header and chooses the size.
    ///
    /// - Parameters:
    ///   - bytes: must stay valid and unchanged while the decoder lives. They end behind a whole
    ///     segment or within a scan (`JPEGBeginning`): half a table is corrupt.
    ///   - reduction: 1, 2, 4 or 8: so many times fewer pixels in each direction.
    /// - Throws: `corrupt` for a header that is not there as a whole, `unsupported`, `outOfMemory`.
    public init(
        beginning bytes: UnsafeRawBufferPointer, reduction: Int = 1,
        limits: JPEGLimits = .standard
    ) throws(JPEGError) {
        guard [1, 2, 4, 8].contains(reduction) else {
            throw JPEGError(kind: .internal, text: "reduction by \(reduction)")
        }
        let handle = try JPEGHandle(bytes, limits: limits, isBeginning: true)
        var (failure, size) = (cjpeg_failure(), cjpeg_size())
        let status = cjpeg_select_rows(handle.pointer, CInt(8 / reduction), &size, &failure)
        guard status == CJPEG_FINE else { throw JPEGError(failure) }
        (width, height, bands) = (Int(size.width), Int(size.height), Int(size.bands))
        self.handle = handle
    }

    /// Decodes the first columns and rows straight into the caller's memory, which they fill.
    ///
    /// - Parameter isCancelled: asked on this thread, on every row, and of a file with many scans
    ///   on every row of MCUs in every scan.
    /// - Returns: how much of the image was there; if nothing, all is grey.
    /// - Throws: `corrupt`, `unsupported` (too many scans), `outOfMemory`, `cancelled`, `internal`
    ///   where the memory is of another size.
    public consuming func decode(
        into memory: UnsafeMutableRawBufferPointer, columns: Int, rows: Int,
        isCancelled: () -> Bool
    ) throws(JPEGError) -> JPEGArrival {
        guard (1...width).contains(columns), (1...height).contains(rows),
            memory.count == columns * rows * bands
        else { throw JPEGError(kind: .internal, text: "the memory does not fit the rows") }
        let (pointer, base) = (handle.pointer, memory.baseAddress)
        var (failure, arrival) = (cjpeg_failure(), CJPEG_NOT_ARRIVED)
        let status = JPEGCancellation.withContext(isCancelled) { context in
            cjpeg_decode_rows(
                pointer, base?.assumingMemoryBound(to: UInt8.self), CInt(columns), CInt(rows),
                askWhetherCancelled, context, &arrival, &failure)
        }
        guard status == CJPEG_FINE else { throw JPEGError(failure) }
        return JPEGArrival(arrival)
    }
}

/// How much of an image its bytes had.
public enum JPEGArrival: Sendable {
    /// Nothing that could be shown.
    case nothing
    /// Some of it, or all of it where the file does not end too early.
    case part
    /// All of it, though the file has no end of image.
    case whole

    fileprivate init(_ arrival: cjpeg_arrival) {
        switch arrival {
        case CJPEG_ARRIVED: self = .whole
        case CJPEG_ARRIVED_IN_PART: self = .part
        default: self = .nothing
        }
    }
}

/// The first bytes of a JPEG that still arrives.
public enum JPEGBeginning {
    /// How many of them end behind a whole segment or within a scan: the rest is the beginning of a
    /// segment, which nobody can read yet. Bytes that are none of a JPEG count as they are.
    public static func readableCount(_ bytes: UnsafeRawBufferPointer) -> Int {
        var offset = 2
        while offset + 1 < bytes.count {
            guard bytes[offset] == 0xFF else { return bytes.count }
            switch bytes[offset + 1] {
            // Any number of them may fill the space before a marker.
            case 0xFF: offset += 1
            // Without a length.
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

    /// Where the next marker stands behind the coded pixels; restarts are part of these.
    private static func endOfScan(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
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

/// The owner of libjpeg's decoder, its header read.
struct JPEGHandle: ~Copyable {
    let pointer: OpaquePointer
    let header: JPEGHeader

    /// The bytes must outlive the handle. If they are but the beginning of a file, they may end
    /// anywhere behind the header.
    init(
        _ bytes: UnsafeRawBufferPointer, limits: JPEGLimits, isBeginning: Bool = false
    ) throws(JPEGError) {
        var header = cjpeg_header()
        var failure = cjpeg_failure()
        let limits = cjpeg_limits(
            scans_max: CInt(clamping: limits.scans), memory_max: limits.coefficientBytes,
            takes_beginning: isBeginning ? 1 : 0)
        guard
            let pointer = cjpeg_open(bytes.baseAddress, bytes.count, limits, &header, &failure)
        else { throw JPEGError(failure) }
        self.pointer = pointer
        self.header = JPEGHeader(header) { cjpeg_sampling_of(pointer, CInt($0)) }
    }

    deinit {
        cjpeg_close(pointer)
    }
}

/// What a C callback can carry in place of a closure, for the time of one call.
struct JPEGCancellation {
    let isCancelled: () -> Bool

    static func withContext<Result>(
        _ isCancelled: () -> Bool, _ body: (UnsafeMutableRawPointer) -> Result
    ) -> Result {
        withoutActuallyEscaping(isCancelled) { isCancelled in
            var cancellation = JPEGCancellation(isCancelled: isCancelled)
            return withUnsafeMutablePointer(to: &cancellation) { body(UnsafeMutableRawPointer($0)) }
        }
    }
}

func askWhetherCancelled(context: UnsafeMutableRawPointer?) -> CInt {
    guard let context else { return 0 }
    // `withContext` keeps it where it is until libjpeg has returned.
    let cancellation = context.assumingMemoryBound(to: JPEGCancellation.self)
    return cancellation.pointee.isCancelled() ? 1 : 0
}

/// Why libjpeg did not do what was asked.
public struct JPEGError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What a caller decides by.
    public enum Kind: Sendable {
        /// The bytes are damaged, cut off or no JPEG.
        case corrupt
        /// The bytes may be sound, but neither libjpeg nor this binding does what they need.
        case unsupported
        /// The cancellation closure answered true.
        case cancelled
        /// The sink gave no memory.
        case refused
        /// There is no memory, or a file with many scans needs more than `JPEGLimits` permit.
        case outOfMemory
        /// A fault of ours: wrong sizes, a wrong order of calls.
        case `internal`
    }

    /// What a caller decides by.
    public let kind: Kind
    /// What libjpeg said; for the log, not for a client.
    public let text: String

    /// `corrupt: Premature end of input file`
    public var description: String { "\(kind): \(text)" }

    init(kind: Kind, text: String) {
        self.kind = kind
        self.text = text
    }

    init(_ failure: cjpeg_failure) {
        kind = Kind(failure.status)
        text = withUnsafeBytes(of: failure.text) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}

extension JPEGError.Kind {
    fileprivate init(_ status: cjpeg_status) {
        self =
            switch status {
            case CJPEG_CORRUPT: .corrupt
            case CJPEG_UNSUPPORTED: .unsupported
            case CJPEG_STOPPED: .cancelled
            case CJPEG_REFUSED: .refused
            case CJPEG_NO_MEMORY: .outOfMemory
            default: .internal
            }
    }
}
