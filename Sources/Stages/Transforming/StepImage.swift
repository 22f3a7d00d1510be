import ImageModel
import Messages
import StageContract
import Vips

/// An image on its way through the pipeline.
struct StepImage {
    /// The pixels, sRGB or grey of 8 bits, or as the samples of the job are; alpha straight.
    let image: VipsImage
    /// The size in which geometry counts. The image may have fewer pixels, as long as it is the
    /// decoder that made it smaller.
    let size: PixelSize
    /// The part of the image that is image.
    let active: ActiveRegion
    /// Scales it, and knows whether the job is cancelled.
    let sampler: PlaneSampler

    /// No pixel is transparent, alpha band or not.
    let isOpaque: Bool

    init(
        _ image: VipsImage, size: PixelSize, active: ActiveRegion, isOpaque: Bool,
        sampler: PlaneSampler
    ) {
        self.image = image
        self.size = size
        self.active = active
        self.isOpaque = isOpaque
        self.sampler = sampler
    }

    /// Another image in place of this one, in which each pixel counts as one.
    func replaced(by image: VipsImage, isOpaque: Bool? = nil) -> StepImage {
        let header = image.header
        return StepImage(
            image, size: PixelSize(width: header.width, height: header.height),
            active: ActiveRegion(width: Double(header.width), height: Double(header.height)),
            isOpaque: isOpaque ?? self.isOpaque, sampler: sampler)
    }

    /// Whether each pixel of the image counts as one, and all of them are image.
    var isSettled: Bool {
        let header = image.header
        return size == PixelSize(width: header.width, height: header.height)
            && active == ActiveRegion(width: Double(size.width), height: Double(size.height))
    }

    /// The same image in which each pixel counts as one. Only pixels that the decoder made fewer
    /// are scaled, and it does that only where a resize comes before any step that needs this.
    func settled() throws -> StepImage {
        guard !isSettled else { return self }
        return try resampled(to: size)
    }

    /// The whole image in exactly so many pixels.
    func resampled(to target: PixelSize) throws -> StepImage {
        let resampling = Resampling(
            active: active, target: target, isOpaque: isOpaque, sampler: sampler)
        return replaced(by: try resampling.apply(to: image))
    }

    /// A part of the whole image in exactly so many pixels; no others are computed.
    func resampled(to target: PixelSize, keeping part: PixelRect) throws -> StepImage {
        guard part.size != target else { return try resampled(to: target) }
        if isSettled, target == size { return try cut(part) }
        let (width, height) = (Double(target.width), Double(target.height))
        let kept = ActiveRegion(
            left: Double(part.x) / width, top: Double(part.y) / height,
            width: Double(part.size.width) / width, height: Double(part.size.height) / height)
        let resampling = Resampling(
            active: active.part(kept).snapped, target: part.size, isOpaque: isOpaque,
            sampler: sampler)
        return replaced(by: try resampling.apply(to: image))
    }

    /// The same image, its pixels computed: for steps that read them in any order.
    func computed() throws -> StepImage {
        let copy = try image.copiedToMemory()
        copy.watch { [cancellation = sampler.cancellation] in cancellation.isCancelled }
        return StepImage(
            copy, size: size, active: active, isOpaque: isOpaque, sampler: sampler)
    }
}
