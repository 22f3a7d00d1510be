import AVIF
public import ImageModel
import JPEG
public import Messages
public import StageContract
import Vips
import WebP
import Zimg

/// Pixels in, an encoded image out: what a transform worker does with one job.
///
/// One job at a time in a process: a second one waits.
public struct TransformStage: Sendable {
    private let library: VipsLibrary
    // Unsafe: touched inside `library.exclusively` only, where one thread is at a time.
    /// Jobs are alike: most find the filters of an earlier one.
    private nonisolated(unsafe) let graphs = ZimgGraphCache()

    /// Starts libvips, once in a process.
    ///
    /// - Parameters:
    ///   - concurrency: threads of libvips; 1 where processes are the parallelism.
    ///   - onWarning: takes what libvips warns of; any thread.
    /// - Throws: `internalError` where libvips cannot start.
    public init(
        concurrency: Int = 1,
        onWarning: (@Sendable (_ domain: String, _ message: String) -> Void)? = nil
    ) throws(ImageError) {
        do {
            library = try VipsLibrary(
                concurrency: concurrency, loaders: FormatEncoders.loaders,
                savers: FormatEncoders.savers, onWarning: onWarning)
        } catch {
            throw ImageError(.internalError, "libvips does not start: \(error.text)")
        }
    }

    /// Runs the steps of `work` on `pixels` and encodes the result.
    ///
    /// - Parameters:
    ///   - work: layout, steps, output options and limits; its reference is not looked at.
    ///   - pixels: as the layout says, at least `layout.byteCount` bytes; must not change until
    ///     this returns.
    ///   - overlays: the pixels of `work.overlays`, one by one.
    ///   - output: where the encoded bytes go. On success the block belongs to the outcome, on a
    ///     throw nothing is left reserved.
    ///   - cancellation: looked at between steps and every few rows.
    /// - Throws: `stepFailed` with the step's name for a step that this image or this version
    ///   cannot do; `limitExceeded`; `unsupportedFormat` for a format that is not encoded;
    ///   `cancelled`; what `output` throws; `internalError`.
    public func perform(
        _ work: TransformWork, pixels: UnsafeRawBufferPointer, overlays: [OverlayPixels] = [],
        output: some OutputSpace, cancellation: CancellationFlag
    ) throws(ImageError) -> EncodedImage {
        try library.exclusively { () throws(ImageError) -> EncodedImage in
            let sampler = PlaneSampler(graphs: graphs, cancellation: cancellation)
            return try withExtendedLifetime(overlays) { () throws(ImageError) -> EncodedImage in
                try TransformJob(work, sampler).run(pixels, overlays: overlays, to: output)
            }
        }
    }

    /// Runs the steps of `work` on `pixels`, and encodes nothing.
    ///
    /// - Parameters:
    ///   - work: layout, steps and limits; its output, overlays and reference are not looked at.
    ///     A step that lays something over the image is `internalError`.
    ///   - pixels: as of `perform`, of 8 bits and one frame.
    ///   - cancellation: looked at between steps and every few rows.
    /// - Throws: as `perform`, but for what concerns output.
    public func render(
        _ work: TransformWork, pixels: UnsafeRawBufferPointer, cancellation: CancellationFlag
    ) throws(ImageError) -> RenderedImage {
        try library.exclusively { () throws(ImageError) -> RenderedImage in
            let sampler = PlaneSampler(graphs: graphs, cancellation: cancellation)
            return try TransformJob(work, sampler).render(pixels)
        }
    }

    /// Encodes an image of one colour.
    ///
    /// - Parameters:
    ///   - work: colour, size, output options and limits.
    ///   - output: as of `perform`.
    ///   - cancellation: looked at every few rows.
    /// - Throws: `limitExceeded`; `unsupportedFormat` for a format that is not encoded;
    ///   `cancelled`; what `output` throws; `internalError`.
    public func paint(
        _ work: PaintWork, output: some OutputSpace, cancellation: CancellationFlag
    ) throws(ImageError) -> EncodedImage {
        try library.exclusively { () throws(ImageError) -> EncodedImage in
            let sampler = PlaneSampler(graphs: graphs, cancellation: cancellation)
            return try PaintJob(work, sampler).run(to: output)
        }
    }
}

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

/// The pixels that steps made, for who encodes nothing.
public struct RenderedImage: Sendable {
    /// Columns and rows.
    public let size: PixelSize
    /// Samples of a pixel: 1 grey, 2 grey and alpha, 3 sRGB, 4 sRGB and alpha; alpha straight.
    public let bands: Int
    /// 8 bits each, interleaved, rows without padding.
    public let samples: [UInt8]
}

extension ImageError {
    static var cancelled: ImageError {
        ImageError(.cancelled, "cancelled while the image was transformed")
    }

    /// Why there is none, the writer knows.
    static var noRoom: ImageError {
        ImageError(.internalError, "there is no room for what goes beside the pixels")
    }

    static func step(_ step: String, _ message: String) -> ImageError {
        ImageError(.stepFailed, "\(step): \(message)", details: ["step": step])
    }

    static func over(_ limit: String, _ step: String, _ message: String) -> ImageError {
        ImageError(.limitExceeded, message, details: ["limit": limit, "step": step])
    }

    /// What an error of a library means here, where the pixels are our own: a defect of ours,
    /// unless the work was stopped.
    init(transforming error: any Error, step: String) {
        switch error {
        case let error as ImageError: self = error
        case let error as VipsError where error.kind == .killed: self = .cancelled
        case let error as ZimgError where error.kind == .cancelled: self = .cancelled
        case let error as JPEGError where error.kind == .cancelled: self = .cancelled
        case let error as WebPError where error.kind == .cancelled: self = .cancelled
        case let error as AVIFError where error.kind == .cancelled: self = .cancelled
        default:
            self.init(
                .internalError, "the image could not be transformed",
                details: ["step": step, "reason": Self.reason(error)])
        }
    }
}
