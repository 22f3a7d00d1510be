internal import CAVIF

/// The images of an AVIF file: the primary one, or the frames of a sequence. They are decoded by
/// dav1d on the thread that asks. Turns, mirrors and crops are left to the caller.
public struct AVIFReader: ~Copyable {
    /// Which images of a file.
    public enum Source: Sendable {
        /// The primary item, as one frame.
        case image
        /// The samples of a track.
        case sequence
    }

    /// Bytes that are read in place of those that a file has there.
    public struct Patch: Hashable, Sendable {
        /// Of the first byte.
        public let offset: Int
        /// What is read.
        public let bytes: [UInt8]

        /// Replaces as many bytes as there are.
        public init(offset: Int, bytes: [UInt8]) {
            (self.offset, self.bytes) = (offset, bytes)
        }
    }

    private let pointer: OpaquePointer
    /// What the file says of its images; of a decoded one it is true of its pixels.
    public private(set) var picture: AVIFPicture
    /// How many frames it has; 1 of an image.
    public let count: Int
    /// The ICC profile; empty, as what follows, where there is none.
    public let profile: [UInt8]
    /// EXIF from the header of its TIFF on; `Exif` and two zeros may be in front.
    public let exif: [UInt8]
    /// The XMP packet.
    public let xmp: [UInt8]

    /// Reads the header.
    ///
    /// - Parameters:
    ///   - bytes: the file, or its beginning; not read after this returns.
    ///   - source: which images.
    ///   - patches: of boxes; none overlaps another.
    ///   - pixelsMax: of each image. More than `pixelsMost` is `pixelsMost`.
    ///   - framesMax: a file that says it has more is refused.
    /// - Throws: `outOfMemory`; `unsupported`, also for an image that is not coded as AV1;
    ///   `corrupt`, also for what is larger.
    public init(
        _ bytes: UnsafeRawBufferPointer, _ source: Source, patches: [Patch] = [], pixelsMax: Int,
        framesMax: Int
    ) throws(AVIFError) {
        var (header, code) = (cavif_header(), CInt(0))
        var pointer: OpaquePointer?
        let status = patches.withShims { shims in
            var input = cavif_input(
                source: source == .image ? CAVIF_PRIMARY_ITEM : CAVIF_TRACKS,
                file: cavif_bytes(bytes), patches: shims.baseAddress, patch_count: shims.count,
                pixels_max: UInt32(clamping: max(1, pixelsMax)),
                frames_max: UInt32(clamping: max(1, framesMax)))
            return cavif_open(&input, &pointer, &header, &code)
        }
        guard status == CAVIF_FINE, let pointer else { throw AVIFError(status, code: code) }
        self.pointer = pointer
        picture = AVIFPicture(header.picture)
        count = Int(header.frames)
        (profile, exif, xmp) = (header.profile.array, header.exif.array, header.xmp.array)
    }

    deinit {
        cavif_close(pointer)
    }

    /// Pixels of an image that libavif decodes at most.
    public static let pixelsMost = 16_384 * 16_384

    /// Decodes a frame. Those in order cost one frame each; another one those from the nearest one
    /// before it that depends on no other. After an error no further frame is right.
    ///
    /// - Parameters:
    ///   - frame: from 0 on.
    ///   - bytes: the same as before, wherever they lie; not read after this returns.
    ///   - isCancelled: asked before each frame that is decoded.
    /// - Throws: `cancelled`, `outOfMemory`, `unsupported`; `corrupt` also for a frame that is not
    ///   there.
    public mutating func decode(
        _ frame: Int, in bytes: UnsafeRawBufferPointer, isCancelled: () -> Bool
    ) throws(AVIFError) {
        var (picture, code) = (cavif_picture(), CInt(0))
        let pointer = pointer
        let status = AVIFCallbacks.withContext({ _ in true }, isCancelled) { context in
            cavif_decode(
                pointer, cavif_bytes(bytes), CInt(clamping: frame), askWhetherCancelled, context,
                &picture, &code)
        }
        guard status == CAVIF_FINE else { throw AVIFError(status, code: code) }
        self.picture = AVIFPicture(picture)
    }

    /// Writes the pixels of the frame that was decoded last, rows without padding: 8 bits a sample,
    /// or the highest bits of 16 where the frame has more.
    ///
    /// - Parameters:
    ///   - pixels: exactly as many as there are.
    ///   - bands: 3 RGB, or 4 RGB and alpha, not premultiplied.
    /// - Throws: `outOfMemory`; `unsupported` for colours that libavif does not convert; `internal`
    ///   where the memory does not fit.
    public borrowing func copy(
        to pixels: UnsafeMutableRawBufferPointer, bands: Int
    ) throws(AVIFError) {
        var code = CInt(0)
        let status = cavif_copy_pixels(
            pointer, CInt(clamping: bands),
            pixels.baseAddress?.assumingMemoryBound(to: UInt8.self), pixels.count, &code)
        guard status == CAVIF_FINE else { throw AVIFError(status, code: code) }
    }

    /// Copies the samples of one plane of the frame that was decoded last; nothing is written
    /// behind the columns of a row.
    ///
    /// - Parameters:
    ///   - target: from the first sample on; `stride` bytes for each row but the last.
    ///   - stride: at least the columns.
    /// - Throws: `internal` where the plane does not fit, or samples have more than 8 bits.
    public borrowing func copy(
        plane index: Int, to target: UnsafeMutableRawBufferPointer, stride: Int
    ) throws(AVIFError) {
        let size = picture.size(ofPlane: index)
        guard (0..<picture.planeCount).contains(index), picture.depth == 8, stride >= size.width,
            target.count >= stride * (size.height - 1) + size.width,
            let base = target.baseAddress?.assumingMemoryBound(to: UInt8.self)
        else { throw AVIFError(kind: .internal, text: "the plane does not fit") }
        cavif_copy_plane(pointer, CInt(index), base, stride)
    }
}

/// libavif's decoder belongs to no thread, and a value has one owner at a time.
extension AVIFReader: @unchecked Sendable {}

extension cavif_bytes {
    fileprivate init(_ bytes: UnsafeRawBufferPointer) {
        self.init(
            bytes: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), count: bytes.count)
    }

    fileprivate var array: [UInt8] { Array(UnsafeBufferPointer(start: bytes, count: count)) }
}

extension [AVIFReader.Patch] {
    /// Runs `body` with the same in C, which is valid for that call only.
    fileprivate func withShims<Result>(
        _ body: (UnsafeBufferPointer<cavif_patch>) -> Result
    ) -> Result {
        let all = flatMap(\.bytes)
        return all.withUnsafeBytes { memory in
            var (shims, end) = ([cavif_patch](), 0)
            for patch in self {
                let part = UnsafeRawBufferPointer(rebasing: memory[end..<end + patch.bytes.count])
                shims.append(cavif_patch(offset: patch.offset, bytes: cavif_bytes(part)))
                end += patch.bytes.count
            }
            return shims.withUnsafeBufferPointer(body)
        }
    }
}

/// What a file says of its primary image, or of its frames, as they are stored.
public struct AVIFPicture: Equatable, Sendable {
    /// Which samples of colour there are.
    public enum Chroma: Sendable {
        /// None.
        case grey
        /// One for four pixels.
        case yuv420
        /// One for two pixels beside each other.
        case yuv422
        /// One for each.
        case yuv444

        /// Base 2 logarithm of the columns for each sample.
        public var horizontalLog2: Int { self == .yuv444 ? 0 : 1 }
        /// The same for rows.
        public var verticalLog2: Int { self == .yuv420 ? 1 : 0 }
    }

    /// Where a sample of colour lies among its pixels.
    public enum Siting: Sendable {
        /// The file does not say.
        case unknown
        /// Beside the left of them, vertically in the middle.
        case left
        /// With the first of them.
        case topLeft
    }

    /// How the pixels are mirrored to display them, after they were turned.
    public enum Mirroring: Sendable {
        case none
        /// Top and bottom are exchanged.
        case vertical
        /// Left and right are exchanged.
        case horizontal
    }

    /// Whole columns and rows of a picture, from the top left on.
    public struct Part: Equatable, Sendable {
        /// Columns and rows in front of it.
        public let x, y: Int
        /// Columns and rows of it.
        public let width, height: Int
    }

    /// Columns.
    public let width: Int
    /// Rows.
    public let height: Int
    /// Bits of a sample: 8, 10 or 12.
    public let depth: Int
    /// The samples of colour.
    public let chroma: Chroma
    /// Whether there is a plane of alpha besides.
    public let hasAlpha: Bool
    /// Whether an ICC profile says what the colours are; the next two numbers do not count then.
    public let hasProfile: Bool
    /// `ColourPrimaries` of ITU-T H.273; 2 where the file does not say.
    public let primaries: Int
    /// `TransferCharacteristics`, likewise.
    public let transfer: Int
    /// `MatrixCoefficients`, likewise.
    public let matrix: Int
    /// Black is 16 and white 235.
    public let isLimited: Bool
    /// Where colours lie.
    public let siting: Siting
    /// Only a part is displayed (`clap`).
    public let isCropped: Bool
    /// That part, before it is turned; nil where all is displayed, and for one that cannot be.
    public let part: Part?
    /// Quarters by which it is turned clockwise to display it, 0 to 3.
    public let quarterTurns: Int
    /// How it is mirrored to display it.
    public let mirroring: Mirroring

    init(_ picture: cavif_picture) {
        width = Int(picture.width)
        height = Int(picture.height)
        depth = Int(picture.depth)
        chroma = Chroma(picture.chroma)
        hasAlpha = picture.has_alpha != 0
        hasProfile = picture.has_profile != 0
        primaries = Int(picture.primaries)
        transfer = Int(picture.transfer)
        matrix = Int(picture.matrix)
        isLimited = picture.is_limited != 0
        siting = picture.siting == 1 ? .left : picture.siting == 2 ? .topLeft : .unknown
        isCropped = picture.is_cropped != 0
        part =
            picture.crop_width == 0
            ? nil
            : Part(
                x: Int(picture.crop_x), y: Int(picture.crop_y), width: Int(picture.crop_width),
                height: Int(picture.crop_height))
        quarterTurns = (4 - Int(picture.turns)) % 4
        mirroring =
            picture.mirrored == 1 ? .vertical : picture.mirrored == 2 ? .horizontal : .none
    }

    /// All of it.
    public var whole: Part { Part(x: 0, y: 0, width: width, height: height) }

    /// Planes that it has: 1 or 3.
    public var planeCount: Int { chroma == .grey ? 1 : 3 }

    /// Columns and rows of Y, of Cb or of Cr: of half of an odd number, the larger half.
    public func size(ofPlane index: Int) -> (width: Int, height: Int) {
        guard index > 0 else { return (width, height) }
        let (across, down) = (chroma.horizontalLog2, chroma.verticalLog2)
        return ((width + across) >> across, (height + down) >> down)
    }
}

extension AVIFPicture.Chroma {
    init(_ chroma: cavif_chroma) {
        self =
            switch chroma {
            case CAVIF_420: .yuv420
            case CAVIF_422: .yuv422
            case CAVIF_444: .yuv444
            default: .grey
            }
    }
}

/// Why libavif made no image.
public struct AVIFError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What a caller decides by.
    public enum Kind: Sendable {
        /// The cancellation closure answered true.
        case cancelled
        /// The sink refused bytes.
        case refused
        /// There is no memory.
        case outOfMemory
        /// Of frames: they are damaged or incomplete.
        case corrupt
        /// Of frames: what libavif does not decode.
        case unsupported
        /// A fault of ours: wrong sizes or options.
        case `internal`
    }

    /// What a caller decides by.
    public let kind: Kind
    /// For the log, not for a client: libavif's number of the error (`avifResult`).
    public let text: String

    /// `outOfMemory: libavif error 26`
    public var description: String { "\(kind): \(text)" }

    /// Of what a caller finds.
    public init(kind: Kind, text: String) {
        self.kind = kind
        self.text = text
    }

    init(_ status: cavif_status, code: CInt) {
        kind = Kind(status)
        text = "libavif error \(code)"
    }
}

extension AVIFError.Kind {
    fileprivate init(_ status: cavif_status) {
        self =
            switch status {
            case CAVIF_STOPPED: .cancelled
            case CAVIF_REFUSED: .refused
            case CAVIF_NO_MEMORY: .outOfMemory
            case CAVIF_CORRUPT: .corrupt
            case CAVIF_UNSUPPORTED: .unsupported
            default: .internal
            }
    }
}
