import ImageModel
import Messages
import StageContract
import Vips

extension Picture {
    /// The pixels of a job, wrapped where they lie. Who wrote them is not trusted: a layout that
    /// does not fit the bytes, or itself, is refused.
    init(
        _ work: TransformWork, pixels: UnsafeRawBufferPointer, cancellation: CancellationFlag
    ) throws(ImageError) {
        let layout = work.layout
        try Self.check(layout, against: work, bytes: pixels.count)
        do {
            let image = try Self.wrap(pixels, layout)
            image.watch { cancellation.isCancelled }
            self.init(
                image, size: work.sourceInfo.size,
                active: ActiveRegion(width: layout.activeWidth, height: layout.activeHeight),
                isOpaque: Opacity.isOpaque(pixels, layout), cancellation: cancellation)
        } catch {
            throw ImageError(transforming: error, step: "open")
        }
    }

    private static func check(
        _ layout: PixelLayout, against work: TransformWork, bytes: Int
    ) throws(ImageError) {
        let size = layout.size
        guard let count = layout.byteCount, count <= bytes, work.sourceInfo.size.isPositive,
            Self.isActive(layout.activeWidth, of: size.width),
            Self.isActive(layout.activeHeight, of: size.height)
        else { throw ImageError(.internalError, "the pixels do not fit their layout") }
        let full = work.sourceInfo.size
        let side = max(full.width, full.height, size.width, size.height)
        guard side <= work.limits.sideMax, let area = full.area, area <= work.limits.pixelsMax,
            count <= work.limits.pixelBytesMax
        else { throw .over("pixelsMax", "open", "the source of \(full) is over the limit") }
    }

    private static func isActive(_ active: Double, of side: Int) -> Bool {
        active > Double(side) - 1 && active <= Double(side)
    }

    private static func wrap(
        _ pixels: UnsafeRawBufferPointer, _ layout: PixelLayout
    ) throws(VipsError) -> VipsImage {
        let bands = Int(layout.bands.rawValue)
        let (width, height) = (layout.size.width, layout.size.height)
        guard layout.stride != width * bands else {
            return try VipsImage.pixels(
                UnsafeRawBufferPointer(rebasing: pixels[..<(width * bands * height)]),
                width: width, height: height, bands: bands)
        }
        let packed = PackedPixels(pixels, layout)
        return try VipsImage.pixels(
            packed.bytes, width: width, height: height, bands: bands, owner: packed)
    }
}

/// A copy of pixels without padding between rows, which is how libvips wants them.
private final class PackedPixels {
    let bytes: UnsafeRawBufferPointer

    init(_ pixels: UnsafeRawBufferPointer, _ layout: PixelLayout) {
        let row = layout.size.width * Int(layout.bands.rawValue)
        let copy = UnsafeMutableRawBufferPointer.allocate(
            byteCount: row * layout.size.height, alignment: 64)
        for line in 0..<layout.size.height {
            let source = pixels[(line * layout.stride)...].prefix(row)
            UnsafeMutableRawBufferPointer(rebasing: copy[(line * row)...].prefix(row))
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: source))
        }
        bytes = UnsafeRawBufferPointer(copy)
    }

    deinit {
        bytes.deallocate()
    }
}
