import ImageModel
import Messages
import StageContract
import Vips

/// One job: which way the pixels go.
///
/// Planes are sampled once, and encoded as planes where the format stores such (the planar lane of
/// SEMANTICS §11.5). All else is an image of libvips, at the latest from the first step on that
/// planes cannot say.
struct TransformJob {
    private let work: TransformWork
    private let sampler: PlaneSampler

    init(_ work: TransformWork, _ sampler: PlaneSampler) {
        (self.work, self.sampler) = (work, sampler)
    }

    func run(
        _ pixels: UnsafeRawBufferPointer, overlays: [OverlayPixels], to output: some OutputSpace
    ) throws(ImageError) -> EncodedImage {
        if let format = work.output.format, !format.isEncodable { throw .notEncoded(format) }
        let source = try PixelSource(work, pixels)
        let enclosed = try EnclosedParts(work.layout, in: pixels)
        try checkDepth()
        try checkCancellation()
        let pipeline = try Pipeline(work.steps, overlays: sources(overlays))
        if let animation = work.layout.animation, work.resultFormat(hasAlpha: true).holdsFrames {
            return try encode(
                frames: StepFrames(animation, limits: work.limits) { index throws(ImageError) in
                    try run(pipeline.steps, on: stepImage(source.frame(index)))
                }, beside: enclosed, to: output)
        }
        guard PlanarLane.takes(work.layout) else {
            return try encode(
                try stepImage(source), after: pipeline.steps, beside: enclosed, to: output)
        }
        var plan = PlanarPlan(size: source.size, orientation: work.layout.orientation)
        let left = try pipeline.fold(into: &plan, limits: work.limits)
        let lane = PlanarLane(source: source, plan: plan, sampler: sampler)
        let encoder = try encoder(hasAlpha: false, beside: enclosed)
        var encoded =
            left.isEmpty && encoder.takes(lane)
            ? try encoder.encode(lane, to: output)
            : try encode(try lane.stepImage(), after: left, beside: enclosed, to: output)
        encoded.account.foldedSteps = UInt32(pipeline.steps(before: left))
        return encoded
    }

    /// The pixels after the steps.
    func render(_ pixels: UnsafeRawBufferPointer) throws(ImageError) -> RenderedImage {
        let source = try PixelSource(work, pixels)
        guard !work.layout.samples.isDeep, work.layout.animation == nil else {
            throw ImageError(.internalError, "only one frame of 8 bits is rendered")
        }
        let steps = try Pipeline(work.steps).steps
        let current = try run(steps, on: stepImage(source))
        let header = current.image.header
        var samples = [UInt8](repeating: 0, count: header.width * header.height * header.bands)
        do {
            try samples.withUnsafeMutableBytes { try current.image.write(to: $0) }
        } catch {
            throw ImageError(transforming: error, step: "pixels")
        }
        return RenderedImage(
            size: PixelSize(width: header.width, height: header.height), bands: header.bands,
            samples: samples)
    }

    private func encode(
        _ current: StepImage, after steps: [any ImageStep], beside enclosed: EnclosedParts,
        to output: some OutputSpace
    ) throws(ImageError) -> EncodedImage {
        let current = try run(steps, on: current)
        return try encoder(hasAlpha: current.image.header.hasAlpha, beside: enclosed)
            .encode(current, to: output)
    }

    /// All frames of an animation, each after the steps.
    private func encode(
        frames: StepFrames, beside enclosed: EnclosedParts, to output: some OutputSpace
    ) throws(ImageError) -> EncodedImage {
        try encoder(hasAlpha: true, beside: enclosed).encode(frames, to: output)
    }

    private func run(
        _ steps: [any ImageStep], on image: StepImage
    ) throws(ImageError) -> StepImage {
        var current = image
        for step in steps {
            try checkCancellation()
            current = try step.run(on: current, limits: work.limits)
        }
        try checkCancellation()
        return current
    }

    private func encoder(
        hasAlpha: Bool, beside enclosed: EnclosedParts
    ) throws(ImageError) -> Encoder {
        try Encoder(
            work, hasAlpha: hasAlpha, beside: enclosed, cancellation: sampler.cancellation)
    }

    private func sources(_ overlays: [OverlayPixels]) throws(ImageError) -> [PixelSource] {
        var sources: [PixelSource] = []
        for (input, pixels) in zip(work.overlays, overlays) {
            sources.append(try PixelSource(input, work.limits, pixels.bytes))
        }
        return sources
    }

    private func stepImage(_ source: PixelSource) throws(ImageError) -> StepImage {
        do {
            return try StepImage(source, sampler: sampler)
        } catch {
            throw ImageError(transforming: error, step: "open")
        }
    }

    /// Who decoded was told what steps take.
    private func checkDepth() throws(ImageError) {
        let areUsual = work.overlays.allSatisfy { $0.layout.samples == .usual }
        let isTaken = !work.layout.samples.isDeep || work.steps.allSatisfy(\.form.takesDepth)
        guard areUsual, isTaken else {
            throw ImageError(.internalError, "the samples are deeper than the steps take")
        }
    }

    private func checkCancellation() throws(ImageError) {
        if sampler.cancellation.isCancelled { throw .cancelled }
    }
}
