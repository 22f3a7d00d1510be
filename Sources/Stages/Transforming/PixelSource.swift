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
        let sides = layout.planes.flatMap { [$0.size.width, $0.size.height] }
        let side = max(size.width, size.height, sides.max() ?? 0)
        guard side <= limits.sideMax, let area = size.area, area <= limits.pixelsMax,
            count <= limits.pixelBytesMax
        else { throw .over("pixelsMax", "open", "\(what) of \(size) is over the limit") }
    }

    /// From the first sample of the plane to the end of its last row.
    func pixels(of plane: PixelPlane) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            rebasing: bytes[plane.offset..<(plane.offset + plane.stride * plane.size.height)])
    }
}
