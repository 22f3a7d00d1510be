public import Model
import Synchronization
import Transforming
import Vips

/// Decodes, transforms and encodes images in this process, as SDWebImage's extensions of image
/// types do. **For trusted input only**: decoders run in this process, without the sandbox and the
/// separate process that the stack uses for untrusted input.
///
///     let transforms = try ImageTransforms()
///     let photo = try transforms.image(of: bytes)
///     let card = try transforms.apply(
///         [.resize(PixelSize(width: 200, height: 100), .fill, enlarges: true), .blur(radius: 3)],
///         to: photo)
///     let file = try transforms.encode(card, OutputOptions(format: .webp, quality: 75))
///
/// The steps are the same as those of requests, and produce the same pixels as in the stack. Can be
/// used from any thread; calls within a process run one at a time, and others wait. No stack is
/// needed.
public struct ImageTransforms: Sendable {
    /// The limits for decoded images and for the results of steps.
    public let limits: ImageLimits
    private let stage: TransformStage
    private let library: VipsLibrary

    /// Creates a value and starts libvips, which further values share. Warnings of libvips are
    /// suppressed.
    ///
    /// The first value sets environment variables: create it before starting threads that read them
    /// and before starting other processes.
    ///
    /// - Throws: `internalError` if libvips cannot be started or lacks a decoder.
    public init(limits: ImageLimits = ImageLimits()) throws(ImageError) {
        self.limits = limits
        stage = try TransformStage()
        do {
            library = try VipsLibrary(loaders: Array(Set(PixelDecoder.loaders.values)))
        } catch {
            throw ImageError(.internalError, "libvips cannot be initialized: \(error.text)")
        }
    }

    /// Decodes JPEG, PNG, WebP, GIF, TIFF, HEIC, AVIF or JPEG XL: the first frame, upright,
    /// converted to 8-bit sRGB using the embedded profile.
    ///
    /// - Throws: `unsupportedFormat` for other formats; `badImageData` for damaged data;
    ///   `limitExceeded`, based on the header, before any pixels are decoded.
    public func image(of bytes: [UInt8]) throws(ImageError) -> PixelImage {
        let decoded = try library.exclusively { () throws(ImageError) in
            try PixelDecoder(limits).decode(bytes)
        }
        guard decoded.orientation != .upright else { return decoded.image }
        return try render([], of: decoded.image, decoded.orientation)
    }

    /// Applies steps to an image, in order. See `TransformStep` for each step and the size of its
    /// result. SDWebImage's scale modes correspond to `stretch` (Fill), `letterbox` (AspectFit) and
    /// `fill` (AspectFill), with `enlarges`.
    ///
    /// - Throws: `stepFailed` with the name of a step that leaves nothing of the image or is not
    ///   implemented here, such as a custom step; `invalidRequest` for values out of range, and for
    ///   an overlay, whose image would have to be loaded; `limitExceeded`.
    public func apply(
        _ steps: [TransformStep], to image: PixelImage
    ) throws(ImageError) -> PixelImage {
        for step in steps {
            try step.form.check(pixelsMax: limits.pixelsMax)
            if case .overlay = step {
                throw ImageError(.invalidRequest, "overlays require a stack to load them")
            }
        }
        return try render(steps, of: image, .upright)
    }

    /// Encodes an image. If no format is specified, uses the image's own format, or PNG if it has
    /// none or it can't be encoded.
    ///
    /// - Throws: `invalidRequest` for options that the format doesn't support; `unsupportedFormat`
    ///   for a format that can't be encoded; `limitExceeded`.
    public func encode(
        _ image: PixelImage, _ options: OutputOptions = OutputOptions()
    ) throws(ImageError) -> [UInt8] {
        var options = options
        let own = image.format.flatMap { $0.isEncodable ? $0 : nil }
        options.format = options.format ?? own ?? .png
        try options.check()
        let space = HeapOutput()
        let encoded = try withBytes(of: image) { bytes throws(ImageError) in
            try stage.perform(
                work([], of: image, .upright, output: options), pixels: bytes, output: space,
                cancellation: CancellationFlag())
        }
        return space.copyBytes(encoded.reference)
    }

    private func render(
        _ steps: [TransformStep], of image: PixelImage, _ orientation: Orientation
    ) throws(ImageError) -> PixelImage {
        let rendered = try withBytes(of: image) { bytes throws(ImageError) in
            try stage.render(
                work(steps, of: image, orientation, output: OutputOptions()), pixels: bytes,
                cancellation: CancellationFlag())
        }
        return PixelImage(
            size: rendered.size, bands: rendered.bands, samples: rendered.samples,
            format: image.format)
    }

    private func withBytes<Result>(
        of image: PixelImage,
        _ body: (UnsafeRawBufferPointer) throws(ImageError) -> Result
    ) throws(ImageError) -> Result {
        try image.samples.span.withUnsafeBytes { bytes throws(ImageError) in try body(bytes) }
    }

    private func work(
        _ steps: [TransformStep], of image: PixelImage, _ orientation: Orientation,
        output: OutputOptions
    ) throws(ImageError) -> TransformWork {
        guard let bands = PixelPlane.Bands(rawValue: UInt8(image.bands)) else {
            throw ImageError(.internalError, "an image has \(image.bands) bands")
        }
        var layout = PixelLayout(
            bands: bands, size: image.size, stride: image.size.width * image.bands)
        layout.orientation = orientation
        let shown = orientation.transposes ? image.size.transposed : image.size
        let count = UInt64(image.samples.count)
        return TransformWork(
            source: BlockReference(segment: 0, offset: 0, length: count, block: BlockID(0)),
            layout: layout,
            sourceInfo: ImageInfo(
                format: image.format ?? .png, size: shown, hasAlpha: image.hasAlpha),
            steps: steps, output: output, limits: limits)
    }
}

/// The pixels of one image in this process: 8-bit sRGB or gray, straight alpha, upright. Has value
/// semantics: images derived from it share no mutable state.
public struct PixelImage: Sendable, Hashable {
    /// Width and height in pixels, at least 1 each.
    public let size: PixelSize
    /// The number of samples per pixel: 1 gray, 2 gray and alpha, 3 RGB, 4 RGBA.
    public let bands: Int
    /// The interleaved samples, row by row from the top, without padding.
    public let samples: [UInt8]
    /// The format that the image was decoded from; `nil` for pixels provided by the caller. Results
    /// of steps have the format of their source.
    public let format: ImageFormat?

    /// Creates an image from the caller's pixels.
    ///
    /// - Throws: `invalidRequest` if `bands` is not 1 to 4, a side is not positive, or the number
    ///   of samples is not width × height × bands.
    public init(size: PixelSize, bands: Int, samples: [UInt8]) throws(ImageError) {
        guard (1...4).contains(bands), size.isPositive, let area = size.area,
            area <= Int.max / bands, samples.count == area * bands
        else {
            throw ImageError(
                .invalidRequest, "\(samples.count) samples do not match \(size) with \(bands) bands"
            )
        }
        self.init(size: size, bands: bands, samples: samples, format: nil)
    }

    init(size: PixelSize, bands: Int, samples: [UInt8], format: ImageFormat?) {
        (self.size, self.bands, self.samples, self.format) = (size, bands, samples, format)
    }

    /// Whether the pixels have an alpha channel, even if they are all opaque.
    public var hasAlpha: Bool { bands % 2 == 0 }

    /// Returns the color of a pixel, counted from the top left corner; `nil` outside the image.
    public func color(at x: Int, _ y: Int) -> Color? {
        guard (0..<size.width).contains(x), (0..<size.height).contains(y) else { return nil }
        let start = (y * size.width + x) * bands
        let (first, isGray) = (UInt32(samples[start]), bands < 3)
        let green = isGray ? first : UInt32(samples[start + 1])
        let blue = isGray ? first : UInt32(samples[start + 2])
        let alpha = hasAlpha ? UInt32(samples[start + bands - 1]) : 255
        return Color(argb: alpha << 24 | first << 16 | green << 8 | blue)
    }

    /// Returns the colors of a region, row by row from the top; `nil` if the region is empty or not
    /// entirely inside the image.
    public func colors(in rect: PixelRect) -> [Color]? {
        guard rect.x >= 0, rect.y >= 0, rect.size.isPositive, rect.x < size.width,
            rect.y < size.height, rect.size.width <= size.width - rect.x,
            rect.size.height <= size.height - rect.y
        else { return nil }
        return (rect.y..<(rect.y + rect.size.height)).flatMap { y in
            (rect.x..<(rect.x + rect.size.width)).compactMap { x in color(at: x, y) }
        }
    }
}

/// Output space in process memory, where the transform stage writes a file that is not shared.
/// Blocks that were not taken are freed with it.
final class HeapOutput: OutputSpace {
    private struct State {
        var last: UInt64 = 0
        var blocks: [BlockID: OutputBlock] = [:]
    }

    private let state = Mutex(State())

    deinit {
        state.withLock { state in
            for block in state.blocks.values { block.bytes.deallocate() }
        }
    }

    func reserve(_ bytes: Int) throws(ImageError) -> OutputBlock {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes, alignment: 64)
        return state.withLock { state in
            state.last += 1
            let block = OutputBlock(
                id: BlockID(state.last), arena: .stage, segment: 0, offset: 0, bytes: memory)
            state.blocks[block.id] = block
            return block
        }
    }

    func discard(_ block: OutputBlock) {
        let known = state.withLock { $0.blocks.removeValue(forKey: block.id) }
        known?.bytes.deallocate()
    }

    /// Returns a copy of the bytes that a reference identifies.
    func copyBytes(_ reference: BlockReference) -> [UInt8] {
        state.withLock { state in
            guard let block = state.blocks[reference.block] else { return [] }
            let start = Int(reference.offset &- block.offset)
            return Array(block.bytes[start..<(start + Int(reference.length))])
        }
    }
}
