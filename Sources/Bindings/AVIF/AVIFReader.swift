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
