import ImageModel
import Messages

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
