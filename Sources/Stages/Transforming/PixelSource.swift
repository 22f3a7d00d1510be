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
        layout = work.layout
        size = work.sourceInfo.size
        self.bytes = bytes
        guard let count = layout.byteCount, count <= bytes.count, size.isPositive, layout.isActive
        else { throw ImageError(.internalError, "the pixels do not fit their layout") }
        let sides = layout.planes.flatMap { [$0.size.width, $0.size.height] }
        let side = max(size.width, size.height, sides.max() ?? 0)
        guard side <= work.limits.sideMax, let area = size.area, area <= work.limits.pixelsMax,
            count <= work.limits.pixelBytesMax
        else { throw .over("pixelsMax", "open", "the source of \(size) is over the limit") }
    }

    /// From the first sample of the plane to the end of its last row.
    func pixels(of plane: PixelPlane) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            rebasing: bytes[plane.offset..<(plane.offset + plane.stride * plane.size.height)])
    }
}
