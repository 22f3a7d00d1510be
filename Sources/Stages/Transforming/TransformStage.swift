public import ImageModel
public import Messages
public import StageContract
import Vips
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
