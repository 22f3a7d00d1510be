public import Model
import ProcessRuntime

/// Decodes images of one format in place of the built-in decoders, to 8-bit sRGB, upright, with one
/// or more frames. Corresponds to SDWebImage's coder.
///
/// One image is decoded at a time, on a dedicated thread. If a function ignores cancellation, the
/// process exits; so it does on a trap, such as an index out of bounds, so validate what the file
/// contains. Errors of `header` and `pixels` other than ``InvalidInput``, ``Failure`` and
/// `ImageError` are reported to the caller as `internalError` with the name of their type; the log
/// contains the rest.
public protocol Coder: Sendable {
    /// The format to decode, which the pool's `formats-in` must also list. It is `undefined` if the
    /// built-in signatures don't recognize the format; `recognizes` then identifies it.
    var format: ImageFormat { get }

    /// Whether data is in this coder's format, judging by its signature. The default returns true.
    /// If false, the next pool that may decode the data is asked.
    func recognizes(_ data: Span<UInt8>) -> Bool

    /// Returns what the header of a file specifies. Throws ``InvalidInput`` for other data.
    ///
    /// The data is untrusted and may change while it is being read: never rely on reading the same
    /// value twice.
    func header(of data: Span<UInt8>) throws -> PixelForm

    /// Decodes the pixels described by the header, whose size is within the limits of the stack:
    /// rows from top to bottom, without padding. `pixels` has exactly the required size and is
    /// initialized to 0. Throws ``InvalidInput`` for a corrupt image. Not called for an animation.
    func pixels(
        of data: Span<UInt8>, _ header: PixelForm, into pixels: inout MutableSpan<UInt8>,
        _ cancellation: Cancellation) throws

    /// Returns the durations and the loop count of an animation, or `nil` (the default) for a still
    /// image. An image with two or more frames is an animation.
    ///
    /// The number of frames is checked against the limits only after this returns: don't allocate a
    /// list of the length that the file claims without checking it against the size of the data.
    func animation(of data: Span<UInt8>, _ header: PixelForm) throws -> AnimationProperties?

    /// Decodes one frame of an animation, counted from 0, as displayed: all of its rows, as for
    /// `pixels`. Frames may be requested in any order.
    func frame(
        _ number: Int, of data: Span<UInt8>, _ header: PixelForm,
        into pixels: inout MutableSpan<UInt8>, _ cancellation: Cancellation) throws

    /// Decodes, like `pixels`, what can be shown of an image of which only the first bytes have
    /// arrived. Returns whether there is anything to show yet; the default returns false. For an
    /// animation, decodes the first frame. Missing data is not an error here, nor in `header` and
    /// `animation`, which are called first.
    func arrived(
        of data: Span<UInt8>, _ header: PixelForm, into pixels: inout MutableSpan<UInt8>,
        _ cancellation: Cancellation
    ) throws -> Bool
}

extension Coder {
    /// Returns true: all data is accepted.
    public func recognizes(_ data: Span<UInt8>) -> Bool { true }

    /// Returns `nil`: the image is not an animation.
    public func animation(of data: Span<UInt8>, _ header: PixelForm) throws -> AnimationProperties?
    {
        nil
    }

    /// Throws `notSupported`.
    public func frame(
        _ number: Int, of data: Span<UInt8>, _ header: PixelForm,
        into pixels: inout MutableSpan<UInt8>, _ cancellation: Cancellation
    ) throws {
        throw ImageError(.notSupported, "this coder does not support frames")
    }

    /// Returns false: there is nothing to show yet.
    public func arrived(
        of data: Span<UInt8>, _ header: PixelForm, into pixels: inout MutableSpan<UInt8>,
        _ cancellation: Cancellation
    ) throws -> Bool { false }
}

/// Executes the jobs of a coder. Single-threaded.
struct CoderStage<Author: Coder> {
    let coder: Author
    let log: Log

    /// Decodes the pixels for a job into a block of `output`.
    func perform(
        _ work: DecodeWork, input: UnsafeRawBufferPointer, output: some OutputSpace,
        cancellation: Cancellation
    ) throws(ImageError) -> DecodedImage {
        let data = input.bindMemory(to: UInt8.self).span
        guard coder.recognizes(data) else {
            throw ImageError(.unsupportedFormat, "this coder does not recognize the image")
        }
        do {
            return try decode(work, data, output, cancellation)
        } catch {
            throw ImageError(of: error, log) { sentence in
                ImageError(
                    .badImageData,
                    "the \(coder.format.name) image cannot be decoded: \(sentence)")
            }
        }
    }

    private func decode(
        _ work: DecodeWork, _ data: Span<UInt8>, _ output: some OutputSpace,
        _ cancellation: Cancellation
    ) throws -> DecodedImage {
        let header = try coder.header(of: data)
        let plan = FramePlan(
            header, try coder.animation(of: data, header), wantsAll: work.wantsAllFrames)
        let count = try plan.byteCount(within: work.limits)
        var image = DecodedImage(
            info: ImageInfo(
                format: coder.format, size: header.size, pages: plan.frames,
                hasAlpha: header.bands.hasAlpha),
            frames: [])
        // No image properties are available from a plug-in.
        if !work.properties.kinds.isEmpty { image.properties = ImageProperties() }
        guard work.need != .header else { return image }
        // A preview shows the first frame.
        guard !work.isPartial || work.frame ?? 0 == 0 else { return image }
        let numbers = try plan.numbers(from: work.frame ?? 0)
        let block = try output.reserve(count)
        let isThere: Bool
        do {
            let place = block.blank(count)
            if work.isPartial {
                var pixels = place.mutableSpan
                isThere = try coder.arrived(of: data, header, into: &pixels, cancellation)
            } else {
                try make(plan, numbers, of: data, in: place, cancellation)
                isThere = true
            }
            try cancellation.check()
        } catch {
            output.discard(block)
            throw error
        }
        guard isThere else {
            output.discard(block)
            return image
        }
        image.frames = [
            DecodedImage.Frame(reference: block.reference(length: count), layout: plan.layout)
        ]
        return image
    }

    private func make(
        _ plan: FramePlan, _ numbers: Range<Int>, of data: Span<UInt8>,
        in place: UnsafeMutableBufferPointer<UInt8>, _ cancellation: Cancellation
    ) throws {
        guard plan.frames > 1 else {
            var pixels = place.mutableSpan
            return try coder.pixels(of: data, plan.form, into: &pixels, cancellation)
        }
        let size = place.count / numbers.count
        for (index, number) in numbers.enumerated() {
            try cancellation.check()
            let room = UnsafeMutableBufferPointer(
                rebasing: place[index * size..<(index + 1) * size])
            if plan.output.bands == plan.form.bands {
                var pixels = room.mutableSpan
                try coder.frame(number, of: data, plan.form, into: &pixels, cancellation)
            } else {
                var samples = [UInt8](repeating: 0, count: plan.form.byteCount ?? 0)
                var pixels = samples.mutableSpan
                try coder.frame(number, of: data, plan.form, into: &pixels, cancellation)
                plan.form.bands.spread(samples, into: room)
            }
        }
    }
}

/// What to decode of an image: its pixels, one of its frames, or all frames one after the other.
struct FramePlan {
    /// The form in which the coder produces each frame.
    let form: PixelForm
    /// Set for an image with several frames.
    let animation: AnimationProperties?
    /// The number of frames in the image.
    let frames: Int
    /// The number of frames to decode: all or one.
    let outputCount: Int

    init(_ form: PixelForm, _ animation: AnimationProperties?, wantsAll: Bool) {
        self.form = form
        frames = max(1, animation?.durations.count ?? 1)
        self.animation = frames > 1 ? animation : nil
        outputCount = wantsAll ? frames : 1
    }

    /// The form of the output: with several frames, four bands, as the protocol requires.
    var output: PixelForm {
        var output = form
        if outputCount > 1 { output.bands = .rgba }
        return output
    }

    /// The layout in a block.
    var layout: PixelLayout {
        var layout = output.layout()
        if outputCount > 1 { layout.animation = animation }
        return layout
    }

    /// The total output size in bytes. Throws, before anything is decoded, if the image exceeds the
    /// limits of its job or its header is invalid.
    func byteCount(within limits: ImageLimits) throws -> Int {
        guard form.byteCount != nil, let area = form.size.area else {
            throw InvalidInput("invalid header")
        }
        let count = Self.product(Self.product(area, output.bands.rawValue), outputCount)
        let values = [
            ("side", max(form.size.width, form.size.height), limits.sideMax),
            ("pages", frames, limits.pagesMax),
            ("pixels", area, limits.pixelsMax),
            ("bytes", count, limits.pixelBytesMax),
            ("frames", outputCount, AnimationProperties.framesMax),
        ]
        for (name, value, most) in values where value > most {
            throw ImageError(
                .limitExceeded,
                "the image exceeds the limit for \(name): \(value), at most \(most)"
            ) { $0.limit = name }
        }
        return count
    }

    /// Returns the frame numbers for a job; throws if there is no such frame.
    func numbers(from first: Int) throws -> Range<Int> {
        guard outputCount == 1 else { return 0..<frames }
        guard (0..<frames).contains(first) else {
            throw ImageError(.stepFailed, "the frame does not exist")
        }
        return first..<first + 1
    }

    /// Returns the product, or `Int.max` on overflow.
    private static func product(_ one: Int, _ other: Int) -> Int {
        let (product, overflow) = one.multipliedReportingOverflow(by: other)
        return overflow ? .max : product
    }
}

extension PixelForm.Bands {
    /// Expands samples in this form to RGBA pixels.
    func spread(_ samples: [UInt8], into pixels: UnsafeMutableBufferPointer<UInt8>) {
        let hasColors = rawValue > 2
        for pixel in 0..<min(samples.count / rawValue, pixels.count / 4) {
            let (source, target) = (pixel * rawValue, pixel * 4)
            for color in 0..<3 {
                pixels[target + color] = samples[source + (hasColors ? color : 0)]
            }
            pixels[target + 3] = hasAlpha ? samples[source + rawValue - 1] : 255
        }
    }
}

/// Encodes pixels in one format; the counterpart of ``Coder`` in SDWebImage's coder.
///
/// Used for formats that have no built-in encoder. For formats that have one, it is used if a
/// request names the format and sets at most the quality (PROTOCOL §8.9). One image is encoded at a
/// time, on a dedicated thread. If a function ignores cancellation, the process exits.
public protocol Encoder: Sendable {
    /// The format to encode, which the pool's `formats-out` must also list.
    var format: ImageFormat { get }

    /// Encodes an image to a complete file of at least one byte, with the same width and height.
    /// `samples` has the form `image`; `quality` is 0 to 100, or `nil` if the request doesn't
    /// specify it.
    ///
    /// Throws ``InvalidInput`` for an image that the format can't represent, ``Failure`` or
    /// `ImageError`. Any other error is reported to the caller as `internalError` with the name of
    /// its type.
    func encode(
        _ samples: Span<UInt8>, of image: PixelForm, quality: Int?, _ cancellation: Cancellation
    ) throws -> [UInt8]
}

/// Executes the jobs of an encoder. Single-threaded.
struct EncoderStage<Author: Encoder> {
    let encoder: Author
    let log: Log

    /// Encodes the pixels in `input` to a file in a block of `output`.
    func perform(
        _ work: TransformWork, input: UnsafeRawBufferPointer, output: some OutputSpace,
        cancellation: Cancellation
    ) throws(ImageError) -> EncodedImage {
        guard work.steps.isEmpty, work.output.format == encoder.format else {
            throw .does("encodes \(encoder.format.name)")
        }
        let pixels = try ShownPixels(work.layout, in: input)
        let file: [UInt8]
        do {
            file = try encoder.encode(
                pixels.samples.span, of: pixels.form, quality: work.output.quality, cancellation)
            try cancellation.check()
        } catch {
            throw ImageError(of: error, log) { sentence in
                ImageError(
                    .unsupportedFormat,
                    "the image cannot be encoded as \(encoder.format.name): \(sentence)"
                ) { $0.format = encoder.format.name }
            }
        }
        guard !file.isEmpty else {
            throw ImageError(.internalError, "the encoder produced no bytes")
        }
        guard file.count <= work.limits.pixelBytesMax else {
            throw ImageError(
                .limitExceeded,
                "the image has \(file.count) bytes as \(encoder.format.name); at most "
                    + "\(work.limits.pixelBytesMax) are accepted"
            ) { $0.limit = "bytes" }
        }
        let block = try output.reserve(file.count)
        block.bytes.copyBytes(from: file)
        return EncodedImage(
            reference: block.reference(length: file.count),
            info: ImageInfo(
                format: encoder.format, size: pixels.form.size,
                hasAlpha: pixels.form.bands.hasAlpha))
    }
}
