internal import CAVIF

/// The planes of the primary image of an AVIF, by dav1d on this thread alone. Turns, mirrors and
/// crops are left to the caller.
public struct AVIFPlaneDecoder: ~Copyable {
    private let pointer: OpaquePointer
    /// What was found; of a decoded image it is true of the planes.
    public private(set) var picture: AVIFPicture

    /// Reads the header.
    ///
    /// - Parameters:
    ///   - bytes: must stay valid and unchanged while the decoder lives.
    ///   - pixelsMax: of the image, and of each of which a grid is made. More than 2^28 is 2^28.
    /// - Throws: `outOfMemory`; `internal` for what is no AVIF, or larger.
    public init(_ bytes: UnsafeRawBufferPointer, pixelsMax: Int) throws(AVIFError) {
        var (picture, code) = (cavif_picture(), CInt(0))
        guard
            let pointer = cavif_open(
                bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count,
                UInt32(clamping: max(1, pixelsMax)), &picture, &code)
        else { throw AVIFError(CAVIF_INTERNAL, code: code) }
        self.pointer = pointer
        self.picture = AVIFPicture(picture)
    }

    deinit {
        cavif_close(pointer)
    }

    /// Decodes all planes in one call, which nothing can stop. Once.
    ///
    /// - Throws: `outOfMemory`; `internal` for a damaged image.
    public mutating func decode() throws(AVIFError) {
        var (picture, code) = (cavif_picture(), CInt(0))
        let status = cavif_decode(pointer, &picture, &code)
        guard status == CAVIF_FINE else { throw AVIFError(status, code: code) }
        self.picture = AVIFPicture(picture)
    }

    /// Copies the samples of one plane, after `decode`; nothing is written behind the columns of a
    /// row.
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
