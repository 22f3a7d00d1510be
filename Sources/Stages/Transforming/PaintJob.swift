import ImageModel
import Messages
import StageContract
import Vips

/// One image of one colour: rows are made while they are encoded, so that its size costs no
/// memory.
struct PaintJob {
    private let work: PaintWork
    private let sampler: PlaneSampler

    init(_ work: PaintWork, _ sampler: PlaneSampler) {
        (self.work, self.sampler) = (work, sampler)
    }

    func run(to output: some OutputSpace) throws(ImageError) -> EncodedImage {
        if let format = work.output.format, !format.isEncodable { throw .notEncoded(format) }
        try work.limits.check(work.size, step: "paint")
        if sampler.cancellation.isCancelled { throw .cancelled }
        let current: StepImage
        do {
            current = try canvas()
        } catch {
            throw ImageError(transforming: error, step: "paint")
        }
        return try Encoder(work, cancellation: sampler.cancellation).encode(current, to: output)
    }

    /// A pixel, repeated all over.
    private func canvas() throws(VipsError) -> StepImage {
        let colour = work.colour
        let isOpaque = colour.alpha == UInt8.max
        let samples =
            [colour.red, colour.green, colour.blue] + (isOpaque ? [] : [colour.alpha])
        let pixel = HeldBytes(samples)
        let image = try VipsImage.pixels(
            pixel.bytes, width: 1, height: 1, bands: samples.count, owner: pixel
        ).extended(left: 0, top: 0, width: work.size.width, height: work.size.height)
        image.watch { [cancellation = sampler.cancellation] in cancellation.isCancelled }
        let active = ActiveRegion(
            width: Double(work.size.width), height: Double(work.size.height))
        return StepImage(
            image, size: work.size, active: active, isOpaque: isOpaque, sampler: sampler)
    }
}
