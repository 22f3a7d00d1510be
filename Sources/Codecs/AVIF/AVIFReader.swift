internal import CAVIF
public import CodecSupport

/// Decodes an AVIF file: the primary image or the frames of a sequence. Decoding uses dav1d on the
/// calling thread. Rotation, mirroring and cropping are left to the caller.
public struct AVIFReader: ~Copyable {
    /// Which images of a file to decode.
    public enum Source: Sendable {
        /// The primary item, as one frame.
        case image
        /// The samples of a track.
        case sequence
    }

    /// Bytes that replace those at an offset of the file.
    public struct Patch: Hashable, Sendable {
        /// The offset of the first byte.
        public let offset: Int
        /// The replacement.
        public let bytes: [UInt8]

        /// Creates a patch, which replaces as many bytes as it has.
        public init(offset: Int, bytes: [UInt8]) {
            (self.offset, self.bytes) = (offset, bytes)
        }
    }

    private let pointer: OpaquePointer
    /// The properties stored in the file. After decoding they are those of the actual pixels.
    public private(set) var picture: AVIFPicture
    /// The number of frames; 1 for an image.
    public let count: Int
    /// The ICC profile; empty if there is none, like the properties below.
    public let profile: [UInt8]
    /// EXIF starting with its TIFF header, optionally preceded by `Exif` and two zeros.
    public let exif: [UInt8]
    /// The XMP packet.
    public let xmp: [UInt8]

    /// Reads the header.
    ///
    /// - Parameters:
    ///   - bytes: the file or its beginning; not used after this returns.
    ///   - source: which images to decode.
    ///   - patches: replacements of boxes, which must not overlap.
    ///   - pixelsMax: the largest number of pixels per image, capped at `pixelsMost`.
    ///   - framesMax: the largest number of frames; a file that claims more is refused.
    /// - Throws: `outOfMemory`; `unsupported`, also for an image that isn't coded as AV1;
    ///   `corrupt`, also if a limit is exceeded.
    public init(
        _ bytes: UnsafeRawBufferPointer, _ source: Source, patches: [Patch] = [], pixelsMax: Int,
        framesMax: Int
    ) throws(CodecError) {
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
        guard status == CAVIF_OK, let pointer else { throw CodecError(status, code: code) }
        self.pointer = pointer
        picture = AVIFPicture(header.picture)
        count = Int(header.frames)
        (profile, exif, xmp) = (header.profile.array, header.exif.array, header.xmp.array)
    }

    deinit {
        cavif_close(pointer)
    }

    /// The largest number of pixels per image that libavif decodes.
    public static let pixelsMost = 16_384 * 16_384

    /// Decodes a frame. In sequential order each frame costs one decode; random access decodes all
    /// frames from the preceding key frame on. After an error, further frames are undefined.
    ///
    /// - Parameters:
    ///   - frame: the frame index, starting at 0.
    ///   - bytes: the same content as before, at any address; not used after this returns.
    ///   - isCancelled: called before each frame that's decoded.
    /// - Throws: `cancelled`, `outOfMemory`, `unsupported`; `corrupt`, also for a frame that
    ///   doesn't exist.
    public mutating func decode(
        _ frame: Int, in bytes: UnsafeRawBufferPointer, isCancelled: () -> Bool
    ) throws(CodecError) {
        var (picture, code) = (cavif_picture(), CInt(0))
        let pointer = pointer
        let status = CodecCallbacks.withContext(isCancelled: isCancelled) { context in
            cavif_decode(
                pointer, cavif_bytes(bytes), CInt(clamping: frame), isCancelledCallback, context,
                &picture, &code)
        }
        guard status == CAVIF_OK else { throw CodecError(status, code: code) }
        self.picture = AVIFPicture(picture)
    }

    /// Writes the pixels of the last decoded frame, in rows without padding: 8 bits per sample, or
    /// 16 bits with the value in the highest bits if the frame has more than 8.
    ///
    /// - Parameters:
    ///   - pixels: exactly as many as the frame has.
    ///   - bands: 3 for RGB, 4 for straight-alpha RGBA.
    /// - Throws: `outOfMemory`; `unsupported` for colors that libavif doesn't convert; `internal`
    ///   if the memory has another size.
    public borrowing func copy(
        to pixels: UnsafeMutableRawBufferPointer, bands: Int
    ) throws(CodecError) {
        var code = CInt(0)
        let status = cavif_copy_pixels(
            pointer, CInt(clamping: bands),
            pixels.baseAddress?.assumingMemoryBound(to: UInt8.self), pixels.count, &code)
        guard status == CAVIF_OK else { throw CodecError(status, code: code) }
    }

    /// Copies one plane of the last decoded frame. Nothing is written beyond the columns of a row.
    ///
    /// - Parameters:
    ///   - target: memory from the first sample, with `stride` bytes for each row except the last.
    ///   - stride: at least the number of columns.
    /// - Throws: `internal` if the plane doesn't fit or samples have more than 8 bits.
    public borrowing func copy(
        plane index: Int, to target: UnsafeMutableRawBufferPointer, stride: Int
    ) throws(CodecError) {
        let size = picture.size(ofPlane: index)
        guard (0..<picture.chroma.planeCount).contains(index), picture.depth == 8,
            stride >= size.width,
            target.count >= stride * (size.height - 1) + size.width,
            let base = target.baseAddress?.assumingMemoryBound(to: UInt8.self)
        else { throw CodecError(kind: .internal, text: "the plane has the wrong size") }
        cavif_copy_plane(pointer, CInt(index), base, stride)
    }
}

/// Sendable: libavif's decoder isn't bound to a thread, and a value has one owner at a time.
extension AVIFReader: @unchecked Sendable {}

extension cavif_bytes {
    fileprivate init(_ bytes: UnsafeRawBufferPointer) {
        self.init(
            bytes: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), count: bytes.count)
    }

    fileprivate var array: [UInt8] { Array(UnsafeBufferPointer(start: bytes, count: count)) }
}

extension [AVIFReader.Patch] {
    /// Calls `body` with the C representation, which is only valid during the call.
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

/// The stored properties of a file's primary image or frames.
public struct AVIFPicture: Equatable, Sendable {
    /// How the pixels must be mirrored for display, after rotation.
    public enum Mirroring: Int32, Sendable {
        case none
        /// Top and bottom are swapped.
        case vertical
        /// Left and right are swapped.
        case horizontal
    }

    /// A rectangle of whole columns and rows.
    public struct Part: Equatable, Sendable {
        /// The offset from the top left corner.
        public let x, y: Int
        /// The size.
        public let width, height: Int
    }

    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    /// Bits per sample: 8, 10 or 12.
    public let depth: Int
    /// The chroma subsampling.
    public let chroma: PlaneSubsampling
    /// Whether there is an alpha plane.
    public let hasAlpha: Bool
    /// Whether the colors are defined by an ICC profile; then `primaries` and `transfer` don't
    /// apply.
    public let hasProfile: Bool
    /// `ColourPrimaries` of ITU-T H.273; 2 if not specified.
    public let primaries: Int
    /// `TransferCharacteristics` of ITU-T H.273; 2 if not specified.
    public let transfer: Int
    /// `MatrixCoefficients` of ITU-T H.273; 2 if not specified.
    public let matrix: Int
    /// Whether black is 16 and white is 235.
    public let isLimited: Bool
    /// The chroma siting; unspecified siting is displayed as centered in practice.
    public let siting: ChromaSiting
    /// Whether only a part is displayed (`clap`).
    public let isCropped: Bool
    /// The displayed part, before rotation; `nil` if everything is displayed or the part is
    /// invalid.
    public let part: Part?
    /// The number of clockwise quarter turns for display, 0 to 3.
    public let quarterTurns: Int
    /// The mirroring for display.
    public let mirroring: Mirroring

    init(_ picture: cavif_picture) {
        width = Int(picture.width)
        height = Int(picture.height)
        depth = Int(picture.depth)
        chroma = PlaneSubsampling(rawValue: picture.chroma.rawValue) ?? .gray
        hasAlpha = picture.has_alpha != 0
        hasProfile = picture.has_profile != 0
        primaries = Int(picture.primaries)
        transfer = Int(picture.transfer)
        matrix = Int(picture.matrix)
        isLimited = picture.is_limited != 0
        siting = ChromaSiting(rawValue: UInt32(truncatingIfNeeded: picture.siting)) ?? .center
        isCropped = picture.is_cropped != 0
        part =
            picture.crop_width == 0
            ? nil
            : Part(
                x: Int(picture.crop_x), y: Int(picture.crop_y), width: Int(picture.crop_width),
                height: Int(picture.crop_height))
        quarterTurns = (4 - Int(picture.turns)) % 4
        mirroring = Mirroring(rawValue: picture.mirrored) ?? .none
    }

    /// The whole picture.
    public var whole: Part { Part(x: 0, y: 0, width: width, height: height) }

    /// Returns the columns and rows of Y, Cb or Cr. Halves of odd numbers are rounded up.
    public func size(ofPlane index: Int) -> (width: Int, height: Int) {
        chroma.size(ofPlane: index, width, height)
    }
}

extension CodecError {
    init(_ status: cavif_status, code: CInt) {
        self.init(status: status.rawValue, text: "libavif error \(code)")
    }
}
