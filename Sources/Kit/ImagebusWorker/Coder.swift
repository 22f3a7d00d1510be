public import ImageModel
import Messages
import Observability
import StageContract

/// Decodes images of one format, in the place of the decoders of Imagebus: of 8 bits a sample, in
/// sRGB and no orientation, with one frame or several. SDWebImage's coder.
///
/// One image is decoded at a time, on a thread of its own; a function that heeds no cancel ends the
/// process, and so does one that traps, such as with an index beyond the bytes: check what the file
/// says. What `header` and `pixels` throw besides ``InvalidInput``, ``Failure`` and `ImageError`
/// is `internalError` for the caller, who learns its type; the log has the rest.
public protocol Coder: Sendable {
    /// What it decodes; `formats-in` of the pool names it as well. Where no signature of Imagebus
    /// tells the format it is `undefined`, and `recognises` says of what is its own.
    var format: ImageFormat { get }

    /// Whether the bytes are of its format, by their signature; they are, where an author says
    /// nothing else. Otherwise the next pool is asked that is granted them.
    func recognises(_ data: Span<UInt8>) -> Bool

    /// What the first bytes of a file say. Throws ``InvalidInput`` for what is no such image.
    ///
    /// The bytes are a stranger's, and may change while they are read: nothing that they say is to
    /// be read twice and expected to be the same.
    func header(of data: Span<UInt8>) throws -> PixelForm

    /// Writes the pixels of that header, whose size is within the limits of the stack: rows from
    /// top to bottom, without gaps. `pixels` has room for them and nothing else, and is 0 where it
    /// is not written. Throws ``InvalidInput`` for a corrupt image. Not called for an animation.
    func pixels(
        of data: Span<UInt8>, _ header: PixelForm, into pixels: inout MutableSpan<UInt8>,
        _ cancellation: Cancellation) throws

    /// How long each frame of an animation is shown, and how often all; `nil` for another image,
    /// as where an author says nothing else. Of two frames or more it is one.
    ///
    /// How many there are is limited once it is known: let no number of a file be the length of
    /// this list that its bytes cannot hold.
    func animation(of data: Span<UInt8>, _ header: PixelForm) throws -> AnimationFacts?

    /// Writes one frame of an animation, from 0 on, as it is shown: all of its rows, as `pixels`
    /// does. Each may be asked for alone.
    func frame(
        _ number: Int, of data: Span<UInt8>, _ header: PixelForm,
        into pixels: inout MutableSpan<UInt8>, _ cancellation: Cancellation) throws

    /// Writes, as `pixels` does, what can be shown of an image of which only the first bytes are
    /// there, and says whether there is anything to see yet; there is not, where an author says
    /// nothing else. Of an animation it is the first frame. What is missing is no error, here, and
    /// in `header` and `animation`, which are asked before.
    func arrived(
        of data: Span<UInt8>, _ header: PixelForm, into pixels: inout MutableSpan<UInt8>,
        _ cancellation: Cancellation
    ) throws -> Bool
}

extension Coder {
    /// All that it is given.
    public func recognises(_ data: Span<UInt8>) -> Bool { true }

    /// It is no animation.
    public func animation(of data: Span<UInt8>, _ header: PixelForm) throws -> AnimationFacts? {
        nil
    }

    /// There is none.
    public func frame(
        _ number: Int, of data: Span<UInt8>, _ header: PixelForm,
        into pixels: inout MutableSpan<UInt8>, _ cancellation: Cancellation
    ) throws {
        throw ImageError(.notSupported, "this coder makes no frames")
    }

    /// There is nothing to see yet.
    public func arrived(
        of data: Span<UInt8>, _ header: PixelForm, into pixels: inout MutableSpan<UInt8>,
        _ cancellation: Cancellation
    ) throws -> Bool { false }
}

/// Does the jobs of a coder. One thread.
struct CoderStage<Author: Coder> {
    let coder: Author
    let log: Log

    /// The pixels that a job asks for, in a block of `output`.
    func perform(
        _ work: DecodeWork, input: UnsafeRawBufferPointer, output: some OutputSpace,
        cancellation: Cancellation
    ) throws(ImageError) -> DecodedImage {
        let data = input.bindMemory(to: UInt8.self).span
        guard coder.recognises(data) else {
            throw ImageError(.unsupportedFormat, "this coder does not know the image")
        }
        do {
            return try decode(work, data, output, cancellation)
        } catch {
            throw AuthorError(error).imageError(log) { sentence in
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
        // Nothing is known of what was asked for.
        if !work.facts.kinds.isEmpty { image.facts = ImageFacts() }
        guard work.need != .header else { return image }
        // A preview is one of the first frame.
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
            if plan.made.bands == plan.form.bands {
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

/// What is made of an image: its pixels, one of its frames, or all of them one behind the other.
struct FramePlan {
    /// Each frame, as its coder makes it.
    let form: PixelForm
    /// Of an image of several frames.
    let animation: AnimationFacts?
    /// Frames of the image.
    let frames: Int
    /// Frames that are made if all are wanted, else one.
    let madeCount: Int

    init(_ form: PixelForm, _ animation: AnimationFacts?, wantsAll: Bool) {
        self.form = form
        frames = max(1, animation?.durations.count ?? 1)
        self.animation = frames > 1 ? animation : nil
        madeCount = wantsAll ? frames : 1
    }

    /// Samples as they are made: several frames have four bands, as the protocol wants them.
    var made: PixelForm {
        var made = form
        if madeCount > 1 { made.bands = .rgba }
        return made
    }

    /// How they lie in a block.
    var layout: PixelLayout {
        var layout = made.layout()
        if madeCount > 1 { layout.animation = animation }
        return layout
    }

    /// The bytes of all that is made. Throws where the image is beyond the limits of its job, or
    /// its header makes no sense: before any pixel is made.
    func byteCount(within limits: ImageLimits) throws(AuthorError) -> Int {
        guard form.byteCount != nil, let area = form.size.area else {
            throw .invalid("its header makes no sense")
        }
        let count = Self.product(Self.product(area, made.bands.rawValue), madeCount)
        let values = [
            ("side", max(form.size.width, form.size.height), limits.sideMax),
            ("pages", frames, limits.pagesMax),
            ("pixels", area, limits.pixelsMax),
            ("bytes", count, limits.pixelBytesMax),
            ("frames", madeCount, AnimationFacts.framesMax),
        ]
        for (name, value, most) in values where value > most {
            throw .error(
                ImageError(
                    .limitExceeded,
                    "the image has \(name) of \(value), at most \(most) are decoded",
                    details: ["limit": name]))
        }
        return count
    }

    /// The frames of a job; throws where there is no such.
    func numbers(from first: Int) throws(AuthorError) -> Range<Int> {
        guard madeCount == 1 else { return 0..<frames }
        guard (0..<frames).contains(first) else {
            throw .error(ImageError(.stepFailed, "the image has no such frame"))
        }
        return first..<first + 1
    }

    /// As much as a number can say.
    private static func product(_ one: Int, _ other: Int) -> Int {
        let (product, overflow) = one.multipliedReportingOverflow(by: other)
        return overflow ? .max : product
    }
}

extension PixelForm.Bands {
    /// Writes such samples as red, green, blue and alpha of each pixel.
    func spread(_ samples: [UInt8], into pixels: UnsafeMutableBufferPointer<UInt8>) {
        let hasColours = rawValue > 2
        for pixel in 0..<min(samples.count / rawValue, pixels.count / 4) {
            let (source, target) = (pixel * rawValue, pixel * 4)
            for colour in 0..<3 {
                pixels[target + colour] = samples[source + (hasColours ? colour : 0)]
            }
            pixels[target + 3] = hasAlpha ? samples[source + rawValue - 1] : 255
        }
    }
}

/// Encodes pixels in one format: the other half of SDWebImage's coder.
///
/// It is asked for a format that Imagebus does not encode itself, and for one that it does where a
/// request names it and says nothing but a quality (PROTOCOL §8.9). One image at a time, on a
/// thread of its own; a function that heeds no cancel ends the process.
public protocol Encoder: Sendable {
    /// What it makes; `formats-out` of the pool names it as well.
    var format: ImageFormat { get }

    /// The whole file, of at least one byte, with as many columns and rows. `samples` are those of
    /// `image`; `quality` is 0 to 100, or `nil` where the request does not say it.
    ///
    /// Throws ``InvalidInput`` for what the format cannot hold, ``Failure`` or `ImageError`;
    /// whatever else is `internalError` for the caller, who learns its type.
    func encode(
        _ samples: Span<UInt8>, of image: PixelForm, quality: Int?, _ cancellation: Cancellation
    ) throws -> [UInt8]
}

/// Does the jobs of an encoder. One thread.
struct EncoderStage<Author: Encoder> {
    let encoder: Author
    let log: Log

    /// The file of the pixels that lie in `input`, in a block of `output`.
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
            throw AuthorError(error).imageError(log) { sentence in
                ImageError(
                    .unsupportedFormat,
                    "the image cannot be encoded as \(encoder.format.name): \(sentence)",
                    details: ["format": encoder.format.name])
            }
        }
        guard !file.isEmpty else {
            throw ImageError(.internalError, "the encoder made no bytes")
        }
        guard file.count <= work.limits.pixelBytesMax else {
            throw ImageError(
                .limitExceeded,
                "the image has \(file.count) bytes as \(encoder.format.name), at most "
                    + "\(work.limits.pixelBytesMax) are taken",
                details: ["limit": "bytes"])
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
