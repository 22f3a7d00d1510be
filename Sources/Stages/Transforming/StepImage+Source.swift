import ImageModel
import Messages
import StageContract
import Vips

extension StepImage {
    /// Interleaved pixels of a job, wrapped where they lie; `source` was checked.
    init(_ source: PixelSource, sampler: PlaneSampler) throws {
        let plane = source.layout.planes[0]
        let samples = source.layout.samples
        let image = try Self.wrap(source.pixels(of: plane), plane, samples.bytes)
        image.watch { [cancellation = sampler.cancellation] in cancellation.isCancelled }
        let orientation = source.layout.orientation
        let stored = StepImage(
            image, size: orientation.stored(source.size),
            active: ActiveRegion(width: plane.activeWidth, height: plane.activeHeight),
            isOpaque: Opacity.isOpaque(
                source.pixels(of: plane), plane, isDeep: samples.isDeep),
            sampler: sampler)
        self = try stored.displayed(orientation)
    }

    /// Opaque pixels of our own, each of which counts as one.
    init(_ pixels: InterleavedPixels, sampler: PlaneSampler) throws(VipsError) {
        let image = try pixels.image(sampler.cancellation)
        let size = pixels.size
        self.init(
            image, size: size,
            active: ActiveRegion(width: Double(size.width), height: Double(size.height)),
            isOpaque: true, sampler: sampler)
    }

    /// The image after what has to be done to display it.
    private func displayed(_ orientation: Orientation) throws -> StepImage {
        guard !orientation.isUpright else { return self }
        // A transposition is a quarter turn whose left and right are exchanged again.
        let turned = orientation.transposes ? try computed().turned(quarters: 1) : self
        return try Flip(
            horizontal: orientation.mirrorsHorizontally != orientation.transposes,
            vertical: orientation.mirrorsVertically
        ).apply(to: turned)
    }

    private static func wrap(
        _ pixels: UnsafeRawBufferPointer, _ plane: PixelPlane, _ bytes: Int
    ) throws(VipsError) -> VipsImage {
        let bands = Int(plane.bands.rawValue)
        let (width, height) = (plane.size.width, plane.size.height)
        guard plane.stride != width * bands * bytes else {
            return try VipsImage.pixels(
                pixels, width: width, height: height, bands: bands, bytesPerBand: bytes)
        }
        let packed = PackedPixels(pixels, plane, bytes)
        return try VipsImage.pixels(
            packed.bytes, width: width, height: height, bands: bands, bytesPerBand: bytes,
            owner: packed)
    }
}

/// A copy of pixels without padding between rows, which is how libvips wants them.
private final class PackedPixels {
    let bytes: UnsafeRawBufferPointer

    init(_ pixels: UnsafeRawBufferPointer, _ plane: PixelPlane, _ bytesPerBand: Int) {
        let row = plane.size.width * Int(plane.bands.rawValue) * bytesPerBand
        let copy = UnsafeMutableRawBufferPointer.allocate(
            byteCount: row * plane.size.height, alignment: 64)
        for line in 0..<plane.size.height {
            let source = pixels[(line * plane.stride)...].prefix(row)
            UnsafeMutableRawBufferPointer(rebasing: copy[(line * row)...].prefix(row))
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: source))
        }
        bytes = UnsafeRawBufferPointer(copy)
    }

    deinit {
        bytes.deallocate()
    }
}
