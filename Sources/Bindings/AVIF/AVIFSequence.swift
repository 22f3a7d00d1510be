internal import CAVIF

/// The frames of an AVIF image sequence, by dav1d on the thread that asks. Turns, mirrors and crops
/// are left to the caller.
public struct AVIFSequence: ~Copyable {
    private let pointer: OpaquePointer
    /// What the file says of its frames; of a decoded one it is true of its pixels.
    public private(set) var picture: AVIFPicture
    /// How many frames it has.
    public let count: Int
    /// The ICC profile; empty where there is none.
    public let profile: [UInt8]

    /// Reads the header.
    ///
    /// - Parameters:
    ///   - bytes: the file, or its beginning; not read after this returns.
    ///   - pixelsMax: of each frame. More than 2^28 is 2^28.
    ///   - framesMax: a file that says it has more is refused.
    /// - Throws: `outOfMemory`, `unsupported`; `corrupt` for what is no sequence, or larger.
    public init(
        _ bytes: UnsafeRawBufferPointer, pixelsMax: Int, framesMax: Int
    ) throws(AVIFError) {
        var (picture, count, code) = (cavif_picture(), CInt(0), CInt(0))
        var (profile, pointer) = (cavif_bytes(), OpaquePointer?.none)
        let status = cavif_sequence_open(
            bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count,
            UInt32(clamping: max(1, pixelsMax)), UInt32(clamping: max(1, framesMax)), &pointer,
            &picture, &count, &profile, &code)
        guard status == CAVIF_FINE, let pointer else { throw AVIFError(status, code: code) }
        self.pointer = pointer
        self.picture = AVIFPicture(picture)
        self.count = Int(count)
        self.profile = Array(UnsafeBufferPointer(start: profile.bytes, count: profile.count))
    }

    deinit {
        cavif_sequence_close(pointer)
    }

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
            cavif_sequence_decode(
                pointer, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count,
                CInt(clamping: frame), askWhetherCancelled, context, &picture, &code)
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
        let status = cavif_sequence_copy(
            pointer, CInt(clamping: bands),
            pixels.baseAddress?.assumingMemoryBound(to: UInt8.self), pixels.count, &code)
        guard status == CAVIF_FINE else { throw AVIFError(status, code: code) }
    }
}

/// libavif's decoder belongs to no thread, and a value has one owner at a time.
extension AVIFSequence: @unchecked Sendable {}
