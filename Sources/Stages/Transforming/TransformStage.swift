import CodecSupport
import Deflate
package import Model
import Vips
import Zimg

/// Transforms pixels and encodes the result: the work of a transform worker.
///
/// Processes one job at a time; a second one waits.
package struct TransformStage: Sendable {
    private let library: VipsLibrary
    // Unsafe: only accessed inside of `library.exclusively`, by one thread at a time.
    /// Jobs are similar, so most reuse filters of an earlier one.
    private nonisolated(unsafe) let graphs = ZimgGraphCache()

    /// Starts libvips, once per process.
    ///
    /// - Parameters:
    ///   - concurrency: The number of libvips threads; 1 if processes provide the parallelism.
    ///   - onWarning: Receives warnings of libvips, on any thread.
    /// - Throws: `internalError` if libvips can't start.
    package init(
        concurrency: Int = 1,
        onWarning: (@Sendable (_ domain: String, _ message: String) -> Void)? = nil
    ) throws(ImageError) {
        do {
            library = try VipsLibrary(
                concurrency: concurrency, loaders: FormatEncoders.loaders,
                savers: FormatEncoders.savers, onWarning: onWarning)
        } catch {
            throw ImageError(.internalError, "libvips cannot be initialized: \(error.text)")
        }
    }

    /// Runs the steps of `work` on `pixels` and encodes the result.
    ///
    /// - Parameters:
    ///   - work: Layout, steps, output options and limits; its reference is ignored.
    ///   - pixels: The pixels in that layout, at least `layout.byteCount` bytes; must not change
    ///     until this returns.
    ///   - overlays: The pixels of `work.overlays`, in the same order.
    ///   - output: Allocates the encoded bytes. On success the outcome owns the block, on an error
    ///     nothing stays allocated.
    ///   - cancellation: Checked between steps and every few rows.
    /// - Throws: `stepFailed` with the step's name for a step that isn't applicable to this image
    ///   or not supported by this version; `limitExceeded`; `unsupportedFormat` for a format that
    ///   can't be encoded; `cancelled`; the errors of `output`; `internalError`.
    package func perform(
        _ work: TransformWork, pixels: UnsafeRawBufferPointer, overlays: [OverlayPixels] = [],
        output: some OutputSpace, cancellation: CancellationFlag
    ) throws(ImageError) -> EncodedImage {
        try run(cancellation) { sampler in
            try withExtendedLifetime(overlays) {
                try TransformJob(work, sampler).run(pixels, overlays: overlays, to: output)
            }
        }
    }

    /// Runs the steps of `work` on `pixels` without encoding the result.
    ///
    /// - Parameters:
    ///   - work: Layout, steps and limits; its output, overlays and reference are ignored. A step
    ///     with an overlay is an `internalError`.
    ///   - pixels: As for `perform`, but 8-bit and a single frame.
    ///   - cancellation: Checked between steps and every few rows.
    /// - Throws: As `perform`, except for errors of the output.
    package func render(
        _ work: TransformWork, pixels: UnsafeRawBufferPointer, cancellation: CancellationFlag
    ) throws(ImageError) -> RenderedImage {
        try run(cancellation) { try TransformJob(work, $0).render(pixels) }
    }

    /// Encodes an image of one color.
    ///
    /// - Parameters:
    ///   - work: Color, size, output options and limits.
    ///   - output: As for `perform`.
    ///   - cancellation: Checked every few rows.
    /// - Throws: `limitExceeded`; `unsupportedFormat` for a format that can't be encoded;
    ///   `cancelled`; the errors of `output`; `internalError`.
    package func paint(
        _ work: PaintWork, output: some OutputSpace, cancellation: CancellationFlag
    ) throws(ImageError) -> EncodedImage {
        try run(cancellation) { try PaintJob(work, $0).run(to: output) }
    }

    private func run<Result>(
        _ cancellation: CancellationFlag, _ job: (PlaneSampler) throws -> Result
    ) throws(ImageError) -> Result {
        try library.exclusively { () throws(ImageError) -> Result in
            try ImageError.mapping("transform") {
                try job(PlaneSampler(graphs: graphs, cancellation: cancellation))
            }
        }
    }
}

/// One job, which chooses between planes and pixels.
///
/// Planes are sampled once, and encoded as planes if the format stores planes (the planar lane of
/// SEMANTICS §11.5). Everything else becomes a libvips image, starting with the first step that
/// planes don't support.
struct TransformJob {
    private let work: TransformWork
    private let sampler: PlaneSampler

    init(_ work: TransformWork, _ sampler: PlaneSampler) {
        (self.work, self.sampler) = (work, sampler)
    }

    func run(
        _ pixels: UnsafeRawBufferPointer, overlays: [OverlayPixels], to output: some OutputSpace
    ) throws -> EncodedImage {
        if let format = work.output.format, !format.isEncodable {
            throw ImageError.notEncoded(format)
        }
        let source = try PixelSource(work, pixels)
        let embedded = try EmbeddedParts(work.layout, in: pixels)
        try checkDepth()
        try checkCancellation()
        let pipeline = try Pipeline(work.steps, overlays: sources(overlays))
        if let animation = work.layout.animation, work.resultFormat(hasAlpha: true).holdsFrames {
            let frames = try StepFrames(animation, limits: work.limits) {
                index in
                try run(pipeline.steps, on: stepImage(source.frame(index)))
            }
            return try encoder(hasAlpha: true, beside: embedded).encode(frames, to: output)
        }
        guard PlanarLane.takes(work.layout) else {
            return try encode(
                try stepImage(source), after: pipeline.steps, beside: embedded, to: output)
        }
        var plan = PlanarPlan(size: source.size, orientation: work.layout.orientation)
        let left = try pipeline.fold(into: &plan, limits: work.limits)
        let lane = PlanarLane(source: source, plan: plan, sampler: sampler)
        let encoder = try encoder(hasAlpha: false, beside: embedded)
        var encoded =
            left.isEmpty && encoder.takes(lane)
            ? try encoder.encode(lane, to: output)
            : try encode(try lane.stepImage(), after: left, beside: embedded, to: output)
        encoded.account.foldedSteps = UInt32(pipeline.steps(before: left))
        return encoded
    }

    /// Returns the pixels after the steps.
    func render(_ pixels: UnsafeRawBufferPointer) throws -> RenderedImage {
        let source = try PixelSource(work, pixels)
        guard !work.layout.samples.isDeep, work.layout.animation == nil else {
            throw ImageError(.internalError, "only a single 8-bit frame can be rendered")
        }
        let steps = try Pipeline(work.steps).steps
        let current = try run(steps, on: stepImage(source))
        let header = current.image.header
        let samples = try ImageError.mapping("pixels") { try current.image.samples() }
        return RenderedImage(size: header.size, bands: header.bands, samples: samples)
    }

    private func encode(
        _ current: StepImage, after steps: [any ImageStep], beside embedded: EmbeddedParts,
        to output: some OutputSpace
    ) throws -> EncodedImage {
        let current = try run(steps, on: current)
        return try encoder(hasAlpha: current.image.header.hasAlpha, beside: embedded)
            .encode(current, to: output)
    }

    private func run(_ steps: [any ImageStep], on image: StepImage) throws -> StepImage {
        var current = image
        for step in steps {
            try checkCancellation()
            current = try step.run(on: current, limits: work.limits)
        }
        try checkCancellation()
        return current
    }

    private func encoder(hasAlpha: Bool, beside embedded: EmbeddedParts) throws -> Encoder {
        try Encoder(
            work, hasAlpha: hasAlpha, beside: embedded, cancellation: sampler.cancellation)
    }

    private func sources(_ overlays: [OverlayPixels]) throws -> [PixelSource] {
        var sources: [PixelSource] = []
        for (input, pixels) in zip(work.overlays, overlays) {
            sources.append(try PixelSource(input, work.limits, pixels.bytes))
        }
        return sources
    }

    private func stepImage(_ source: PixelSource) throws -> StepImage {
        try ImageError.mapping("open") { try StepImage(source, sampler: sampler) }
    }

    /// Checks that the decoder produced the bit depth that the steps support.
    private func checkDepth() throws {
        let areUsual = work.overlays.allSatisfy { $0.layout.samples == .standard }
        let isTaken = !work.layout.samples.isDeep || work.steps.allSatisfy(\.form.takesDepth)
        guard areUsual, isTaken else {
            throw ImageError(.internalError, "the bit depth exceeds what the steps support")
        }
    }

    private func checkCancellation() throws {
        if sampler.cancellation.isCancelled { throw ImageError.cancelled }
    }
}

/// Encodes an image of one color. Rows are computed during encoding, so that its size costs no
/// memory.
struct PaintJob {
    private let work: PaintWork
    private let sampler: PlaneSampler

    init(_ work: PaintWork, _ sampler: PlaneSampler) {
        (self.work, self.sampler) = (work, sampler)
    }

    func run(to output: some OutputSpace) throws -> EncodedImage {
        if let format = work.output.format, !format.isEncodable {
            throw ImageError.notEncoded(format)
        }
        try work.limits.check(work.size, step: "paint")
        if sampler.cancellation.isCancelled { throw ImageError.cancelled }
        let current = try ImageError.mapping("paint") { try canvas() }
        return try Encoder(work, cancellation: sampler.cancellation).encode(current, to: output)
    }

    /// Returns one pixel, repeated over the image.
    private func canvas() throws(VipsError) -> StepImage {
        let color = work.color
        let isOpaque = color.alpha == UInt8.max
        let samples =
            [color.red, color.green, color.blue] + (isOpaque ? [] : [color.alpha])
        let pixel = HeldBytes(samples)
        let image = try VipsImage.pixels(
            pixel.bytes, width: 1, height: 1, bands: samples.count, owner: pixel
        ).extended(left: 0, top: 0, width: work.size.width, height: work.size.height)
        image.watch { [cancellation = sampler.cancellation] in cancellation.isCancelled }
        return StepImage(image, size: work.size, isOpaque: isOpaque, sampler: sampler)
    }
}

/// The pixels after the steps, without encoding.
package struct RenderedImage: Sendable {
    package let size: PixelSize
    /// The number of samples per pixel: 1 for gray, 2 for gray and alpha, 3 for sRGB, 4 for sRGB
    /// and alpha; alpha is straight.
    package let bands: Int
    /// The interleaved 8-bit samples, rows without padding.
    package let samples: [UInt8]
}

extension ImageError {
    static var cancelled: ImageError {
        ImageError(.cancelled, "cancelled while the image was being transformed")
    }

    /// A placeholder; the actual error is in the writer.
    static var noRoom: ImageError {
        ImageError(.internalError, "there is no space for the embedded metadata")
    }

    static func step(_ step: String, _ message: String) -> ImageError {
        ImageError(.stepFailed, "\(step): \(message)") { $0.step = step }
    }

    static func over(_ limit: String, _ step: String, _ message: String) -> ImageError {
        ImageError(.limitExceeded, message) {
            $0.limit = limit
            $0.step = step
        }
    }

    /// Returns the result of `body`, and converts its errors to those of a step.
    static func mapping<Result>(
        _ step: String, _ body: () throws -> Result
    ) throws(ImageError) -> Result {
        do {
            return try body()
        } catch {
            throw ImageError(transforming: error, step: step)
        }
    }

    /// Converts a library error: since the pixels are the stage's own, it is a defect unless the
    /// job was canceled or memory is short.
    init(transforming error: any Error, step: String) {
        switch error {
        case let error as ImageError: self = error
        case let error as VipsError where error.kind == .killed: self = .cancelled
        case let error as CodecError where error.kind == .cancelled: self = .cancelled
        case _ where Self.lacksMemory(error):
            self = .over(
                "pixelBytesMax", step,
                "transforming the image requires too much memory: request fewer pixels")
            typedDetails.reason = Self.reason(error)
        default:
            self.init(.internalError, "the image could not be transformed") {
                $0.step = step
                $0.reason = Self.reason(error)
            }
        }
    }

    /// Whether a library reports that the image needs more memory than there is.
    private static func lacksMemory(_ error: any Error) -> Bool {
        switch error {
        case let error as VipsError: error.kind == .tooLarge
        case let error as CodecError: error.kind == .outOfMemory
        case let error as DeflateError: error == .outOfMemory
        default: false
        }
    }
}
