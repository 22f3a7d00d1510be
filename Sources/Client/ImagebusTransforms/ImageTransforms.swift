public import ImageModel
public import Messages
import StageContract
import Synchronization
import Transforming
import Vips

/// Images are decoded, transformed and encoded in this process, as SDWebImage's extensions of
/// images do it. **For trusted bytes alone**: decoders read them here, without the sandbox and
/// the process of their own that the stack has for bytes of strangers.
///
///     let transforms = try ImageTransforms()
///     let photo = try transforms.image(of: bytes)
///     let card = try transforms.apply(
///         [.resize(PixelSize(width: 200, height: 100), .fill, enlarges: true), .blur(radius: 3)],
///         to: photo)
///     let file = try transforms.encode(card, OutputOptions(format: .webp, quality: 75))
///
/// The steps are those of requests, and make the same pixels as in the stack. Any thread; one call
/// at a time works in a process, and others wait. No stack is needed.
public struct ImageTransforms: Sendable {
    /// What every image is within: those that are decoded, and those that steps make.
    public let limits: ImageLimits
    private let stage: TransformStage
    private let library: VipsLibrary

    /// Starts libvips; later values share it. What it warns of is not told.
    ///
    /// The first value sets variables of the environment: it is best made before threads that read
    /// those, and before other processes are started.
    ///
    /// - Throws: `internalError` where libvips cannot start or has no such decoder.
    public init(limits: ImageLimits = ImageLimits()) throws(ImageError) {
        self.limits = limits
        stage = try TransformStage()
        do {
            library = try VipsLibrary(loaders: PixelDecoder.loaders)
        } catch {
            throw ImageError(.internalError, "libvips does not start: \(error.text)")
        }
    }

    /// Decodes JPEG, PNG, WebP, GIF, TIFF, HEIC, AVIF or JPEG XL: the first frame, upright, in
    /// sRGB by the embedded profile, in 8 bits.
    ///
    /// - Throws: `unsupportedFormat` for other bytes; `badImageData` for damaged ones;
    ///   `limitExceeded`, by the header, before there are pixels.
    public func image(of bytes: [UInt8]) throws(ImageError) -> PixelImage {
        let decoded = try library.exclusively { () throws(ImageError) in
            try PixelDecoder(limits).decode(bytes)
        }
        guard decoded.orientation != .upright else { return decoded.image }
        return try render([], of: decoded.image, decoded.orientation)
    }

    /// The image after the steps, in their order. It is as large as they say; see `TransformStep`
    /// for each. SDWebImage's scale modes are `stretch` (Fill), `letterbox` (AspectFit) and `fill`
    /// (AspectFill), with `enlarges`.
    ///
    /// - Throws: `stepFailed` with the step's name for one that leaves nothing of the image, or
    ///   that has no pixels here, such as a custom one; `invalidRequest` for values out of range,
    ///   and for an overlay, whose image would have to be loaded; `limitExceeded`.
    public func apply(
        _ steps: [TransformStep], to image: PixelImage
    ) throws(ImageError) -> PixelImage {
        for step in steps {
            try step.form.check(pixelsMax: limits.pixelsMax)
            if case .overlay = step {
                throw ImageError(.invalidRequest, "an overlay takes a stack that loads it")
            }
        }
        return try render(steps, of: image, .upright)
    }

    /// The image as a file. Without a format it is that of the image, or PNG where it has none that
    /// is encoded.
    ///
    /// - Throws: `invalidRequest` for options that the format has not; `unsupportedFormat` for a
    ///   format that is not encoded; `limitExceeded`.
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
        return space.take(encoded.reference)
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

/// The pixels of one image in this process: 8 bits, sRGB or grey, alpha straight, upright. A
/// value: images that are made of it share nothing that changes.
public struct PixelImage: Sendable, Hashable {
    /// Columns and rows, at least one each.
    public let size: PixelSize
    /// Samples of a pixel: 1 grey, 2 grey and alpha, 3 red, green and blue, 4 these and alpha.
    public let bands: Int
    /// Interleaved, row by row from the top, without padding.
    public let samples: [UInt8]
    /// What it was decoded from; `nil` for pixels of the caller's. Made images have that of what
    /// they were made of.
    public let format: ImageFormat?

    /// Pixels of the caller's.
    ///
    /// - Throws: `invalidRequest` where `bands` is not 1 to 4, a side is not positive, or there are
    ///   not exactly width × height × bands samples.
    public init(size: PixelSize, bands: Int, samples: [UInt8]) throws(ImageError) {
        guard (1...4).contains(bands), size.isPositive, let area = size.area,
            area <= Int.max / bands, samples.count == area * bands
        else {
            throw ImageError(
                .invalidRequest, "\(samples.count) samples are no \(size) of \(bands) bands")
        }
        self.init(size: size, bands: bands, samples: samples, format: nil)
    }

    init(size: PixelSize, bands: Int, samples: [UInt8], format: ImageFormat?) {
        (self.size, self.bands, self.samples, self.format) = (size, bands, samples, format)
    }

    /// Whether its pixels have alpha, which may be opaque all the same.
    public var hasAlpha: Bool { bands % 2 == 0 }

    /// The colour of a pixel, counted from the top left corner; `nil` outside.
    public func color(at x: Int, _ y: Int) -> Colour? {
        guard (0..<size.width).contains(x), (0..<size.height).contains(y) else { return nil }
        let start = (y * size.width + x) * bands
        let (first, isGrey) = (UInt32(samples[start]), bands < 3)
        let green = isGrey ? first : UInt32(samples[start + 1])
        let blue = isGrey ? first : UInt32(samples[start + 2])
        let alpha = hasAlpha ? UInt32(samples[start + bands - 1]) : 255
        return Colour(argb: alpha << 24 | first << 16 | green << 8 | blue)
    }

    /// The colours of a part, row by row from the top; `nil` where it is not inside as a whole, or
    /// is empty.
    public func colors(in rect: PixelRect) -> [Colour]? {
        guard rect.x >= 0, rect.y >= 0, rect.size.isPositive, rect.x < size.width,
            rect.y < size.height, rect.size.width <= size.width - rect.x,
            rect.size.height <= size.height - rect.y
        else { return nil }
        return (rect.y..<(rect.y + rect.size.height)).flatMap { y in
            (rect.x..<(rect.x + rect.size.width)).compactMap { x in color(at: x, y) }
        }
    }
}

/// Where the stage puts a file that nobody shares: memory of this process. What nobody took goes
/// with it.
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

    /// A copy of the bytes that a reference names.
    func take(_ reference: BlockReference) -> [UInt8] {
        state.withLock { state in
            guard let block = state.blocks[reference.block] else { return [] }
            let start = Int(reference.offset &- block.offset)
            return Array(block.bytes[start..<(start + Int(reference.length))])
        }
    }
}
