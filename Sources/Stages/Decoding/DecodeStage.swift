package import Model
import Vips

/// Decodes bytes to pixels or image properties: the work of a decode worker.
///
/// JPEG and AVIF are returned as their planes if these represent sRGB; everything else as 8-bit
/// sRGB or gray (16 bits and high dynamic range if the work preserves them), with straight alpha,
/// in the displayed orientation (SEMANTICS §11.3). Images are reduced as far as the need allows
/// (SEMANTICS §11.4). If the work keeps the source's profile, colors are not converted
/// (SEMANTICS §11.21). A file that need not change is passed through instead (SEMANTICS §11.37).
/// Processes one job at a time; a second one waits.
package struct DecodeStage: Sendable {
    private let library: VipsLibrary
    private let decoders: FormatDecoders
    private let animationCache = AnimationCache()

    /// Starts libvips, once per process.
    ///
    /// - Parameters:
    ///   - family: The formats to decode; others are rejected by name.
    ///   - concurrency: The number of libvips threads; 1 if processes provide the parallelism.
    ///   - onWarning: Receives warnings of libvips, on any thread.
    /// - Throws: `internalError` if libvips can't start. A missing component that only one format
    ///   needs is a warning.
    package init(
        _ family: FormatFamily = .raster, concurrency: Int = 1,
        onWarning: (@Sendable (_ domain: String, _ message: String) -> Void)? = nil
    ) throws(ImageError) {
        decoders = .of(family)
        do {
            library = try VipsLibrary(
                concurrency: concurrency, loaders: decoders.loaders, onWarning: onWarning)
        } catch {
            throw ImageError(.internalError, "libvips cannot be initialized: \(error.text)")
        }
        for decoder in decoders.all where !decoder.prepare() {
            onWarning?("decode", "this machine lacks a dependency of \(decoder.format.name)")
        }
    }

    /// Decodes `input`.
    ///
    /// - Parameters:
    ///   - work: The need and the limits; its reference is ignored.
    ///   - input: The encoded bytes; must not change until this returns.
    ///   - output: Allocates the pixels. On success the outcome owns the block, on an error nothing
    ///     stays allocated.
    ///   - cancellation: Checked every few rows.
    /// - Throws: `badImageData` for invalid, damaged or truncated images; `unsupportedFormat` for a
    ///   known format that isn't decoded; `limitExceeded` before any pixel is computed, or when
    ///   memory or the bytes that a PNG may inflate are exhausted; `cancelled`; the errors of
    ///   `output`; `internalError`.
    package func perform(
        _ work: DecodeWork, input: UnsafeRawBufferPointer, output: some OutputSpace,
        cancellation: CancellationFlag
    ) throws(ImageError) -> DecodedImage {
        let job = DecodeJob(
            work: work, input: input, limits: work.limits.clamped(to: .of(decoders.family)),
            output: output, cancellation: cancellation, animationCache: animationCache)
        return try library.exclusively { () throws(ImageError) -> DecodedImage in
            defer { InflatedBytes.lift() }
            return try ImageError.mapping { try job.run(among: decoders) }
        }
    }
}
