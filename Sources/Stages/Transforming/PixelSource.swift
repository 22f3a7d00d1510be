import ImageModel
import Messages

/// The pixels of a job where they lie. Who wrote them is not trusted, and may write on: a layout
/// that does not fit the bytes, or itself, is refused.
struct PixelSource {
    let layout: PixelLayout
    /// As displayed, before any reduction: what geometry counts in.
    let size: PixelSize
    private let bytes: UnsafeRawBufferPointer

    init(_ work: TransformWork, _ bytes: UnsafeRawBufferPointer) throws(ImageError) {
        try self.init(work.layout, work.sourceInfo, work.limits, bytes, of: "the source")
    }

    /// Of what is laid over the image of a job.
    init(
        _ overlay: OverlayInput, _ limits: ImageLimits, _ bytes: UnsafeRawBufferPointer
    ) throws(ImageError) {
        try self.init(overlay.layout, overlay.info, limits, bytes, of: "the overlay")
    }

    private init(
        _ layout: PixelLayout, _ info: ImageInfo, _ limits: ImageLimits,
        _ bytes: UnsafeRawBufferPointer, of what: String
    ) throws(ImageError) {
        self.layout = layout
        size = info.size
        self.bytes = bytes
        guard let count = layout.byteCount, count <= bytes.count, size.isPositive, layout.isActive
        else { throw ImageError(.internalError, "the pixels do not fit their layout") }
        // What counts is what was decoded. The size of the source says where it lies.
        let isWithin = layout.planes.allSatisfy { plane in
            max(plane.size.width, plane.size.height) <= limits.sideMax
                && plane.size.area.map { $0 <= limits.pixelsMax } ?? false
        }
        guard isWithin, max(size.width, size.height) <= Int(Int32.max), size.area != nil,
            count <= limits.pixelBytesMax
        else { throw .over("pixelsMax", "open", "\(what) of \(size) is over the limit") }
    }

    private init(_ layout: PixelLayout, _ size: PixelSize, _ bytes: UnsafeRawBufferPointer) {
        (self.layout, self.size, self.bytes) = (layout, size, bytes)
    }

    /// One of the frames that lie there, as an image of its own.
    func frame(_ index: Int) throws(ImageError) -> PixelSource {
        guard let range = layout.bytes(ofFrame: index), range.upperBound <= bytes.count else {
            throw ImageError(.internalError, "the frames do not fit their layout")
        }
        return PixelSource(
            layout.still, size, UnsafeRawBufferPointer(rebasing: bytes[range]))
    }

    /// From the first sample of the plane to the end of its last row.
    func pixels(of plane: PixelPlane) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            rebasing: bytes[plane.offset..<(plane.offset + plane.stride * plane.size.height)])
    }
}
