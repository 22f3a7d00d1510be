import ImageModel
import Messages
import StageContract
import Vips
import Zimg

/// An image on its way through the pipeline.
struct StepImage {
    /// The pixels, sRGB or grey of 8 bits, or as the samples of the job are; alpha straight.
    let image: VipsImage
    /// The size in which geometry counts. The image may have fewer pixels, as long as it is the
    /// decoder that made it smaller.
    let size: PixelSize
    /// The part of the image that is image.
    let active: ActiveRegion
    /// Scales it, and knows whether the job is cancelled.
    let sampler: PlaneSampler

    /// No pixel is transparent, alpha band or not.
    let isOpaque: Bool

    init(
        _ image: VipsImage, size: PixelSize, active: ActiveRegion, isOpaque: Bool,
        sampler: PlaneSampler
    ) {
        self.image = image
        self.size = size
        self.active = active
        self.isOpaque = isOpaque
        self.sampler = sampler
    }

    /// Another image in place of this one, in which each pixel counts as one.
    func replaced(by image: VipsImage, isOpaque: Bool? = nil) -> StepImage {
        let header = image.header
        return StepImage(
            image, size: PixelSize(width: header.width, height: header.height),
            active: ActiveRegion(width: Double(header.width), height: Double(header.height)),
            isOpaque: isOpaque ?? self.isOpaque, sampler: sampler)
    }

    /// Whether each pixel of the image counts as one, and all of them are image.
    var isSettled: Bool {
        let header = image.header
        return size == PixelSize(width: header.width, height: header.height)
            && active == ActiveRegion(width: Double(size.width), height: Double(size.height))
    }

    /// The same image in which each pixel counts as one. Only pixels that the decoder made fewer
    /// are scaled, and it does that only where a resize comes before any step that needs this.
    func settled() throws -> StepImage {
        guard !isSettled else { return self }
        return try resampled(to: size)
    }

    /// The whole image in exactly so many pixels.
    func resampled(to target: PixelSize) throws -> StepImage {
        let resampling = Resampling(
            active: active, target: target, isOpaque: isOpaque, sampler: sampler)
        return replaced(by: try resampling.apply(to: image))
    }

    /// A part of the whole image in exactly so many pixels; no others are computed.
    func resampled(to target: PixelSize, keeping part: PixelRect) throws -> StepImage {
        guard part.size != target else { return try resampled(to: target) }
        if isSettled, target == size { return try cut(part) }
        let (width, height) = (Double(target.width), Double(target.height))
        let kept = ActiveRegion(
            left: Double(part.x) / width, top: Double(part.y) / height,
            width: Double(part.size.width) / width, height: Double(part.size.height) / height)
        let resampling = Resampling(
            active: active.part(kept).snapped, target: part.size, isOpaque: isOpaque,
            sampler: sampler)
        return replaced(by: try resampling.apply(to: image))
    }

    /// The same image, its pixels computed: for steps that read them in any order.
    func computed() throws -> StepImage {
        let copy = try image.copiedToMemory()
        copy.watch { [cancellation = sampler.cancellation] in cancellation.isCancelled }
        return StepImage(
            copy, size: size, active: active, isOpaque: isOpaque, sampler: sampler)
    }
}

extension StepImage {
    /// Interleaved pixels of a job, wrapped where they lie; `source` was checked.
    init(_ source: PixelSource, sampler: PlaneSampler) throws {
        let plane = source.layout.planes[0]
        let samples = source.layout.samples
        let image = try Self.wrap(source.pixels(of: plane), plane, samples.bytes)
        image.watch { [cancellation = sampler.cancellation] in cancellation.isCancelled }
        let orientation = source.layout.orientation
        let stored = StepImage(
            image, size: orientation.stored(source.size),
            active: ActiveRegion(width: plane.activeWidth, height: plane.activeHeight),
            isOpaque: Opacity.isOpaque(
                source.pixels(of: plane), plane, isDeep: samples.isDeep),
            sampler: sampler)
        self = try stored.displayed(orientation)
    }

    /// Opaque pixels of our own, each of which counts as one.
    init(_ pixels: InterleavedPixels, sampler: PlaneSampler) throws(VipsError) {
        let image = try pixels.image(sampler.cancellation)
        let size = pixels.size
        self.init(
            image, size: size,
            active: ActiveRegion(width: Double(size.width), height: Double(size.height)),
            isOpaque: true, sampler: sampler)
    }

    /// The image after what has to be done to display it.
    private func displayed(_ orientation: Orientation) throws -> StepImage {
        guard !orientation.isUpright else { return self }
        // A transposition is a quarter turn whose left and right are exchanged again.
        let turned = orientation.transposes ? try computed().turned(quarters: 1) : self
        return try Flip(
            horizontal: orientation.mirrorsHorizontally != orientation.transposes,
            vertical: orientation.mirrorsVertically
        ).apply(to: turned)
    }

    private static func wrap(
        _ pixels: UnsafeRawBufferPointer, _ plane: PixelPlane, _ bytes: Int
    ) throws(VipsError) -> VipsImage {
        let bands = Int(plane.bands.rawValue)
        let (width, height) = (plane.size.width, plane.size.height)
        guard plane.stride != width * bands * bytes else {
            return try VipsImage.pixels(
                pixels, width: width, height: height, bands: bands, bytesPerBand: bytes)
        }
        let packed = PackedPixels(pixels, plane, bytes)
        return try VipsImage.pixels(
            packed.bytes, width: width, height: height, bands: bands, bytesPerBand: bytes,
            owner: packed)
    }
}

/// A copy of pixels without padding between rows, which is how libvips wants them.
private final class PackedPixels {
    let bytes: UnsafeRawBufferPointer

    init(_ pixels: UnsafeRawBufferPointer, _ plane: PixelPlane, _ bytesPerBand: Int) {
        let row = plane.size.width * Int(plane.bands.rawValue) * bytesPerBand
        let copy = UnsafeMutableRawBufferPointer.allocate(
            byteCount: row * plane.size.height, alignment: 64)
        for line in 0..<plane.size.height {
            let source = pixels[(line * plane.stride)...].prefix(row)
            UnsafeMutableRawBufferPointer(rebasing: copy[(line * row)...].prefix(row))
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: source))
        }
        bytes = UnsafeRawBufferPointer(copy)
    }

    deinit {
        bytes.deallocate()
    }
}

extension StepImage {
    /// Another image of this size in place of this one, its samples changed row by row where they
    /// lie; rows after a cancel stay as they are.
    func changingRows(
        of image: VipsImage, isOpaque: Bool,
        _ change: (_ y: Int, _ samples: UnsafeMutableRawBufferPointer) -> Void
    ) throws -> StepImage {
        let pixels = InterleavedPixels(size: size, bands: image.header.bands)
        try image.write(to: pixels.mutableBytes)
        let stride = size.width * pixels.bands
        for y in 0..<size.height where !sampler.cancellation.isCancelled {
            change(y, .init(rebasing: pixels.mutableBytes[(y * stride)..<((y + 1) * stride)]))
        }
        return replaced(by: try pixels.image(sampler.cancellation), isOpaque: isOpaque)
    }
}

extension Colour {
    /// Red, green and blue are the same.
    var isGrey: Bool { red == green && green == blue }
}

extension StepImage {
    /// A part of this settled image; it lies in it.
    func cut(_ part: PixelRect) throws -> StepImage {
        guard part.size != size else { return self }
        let image = try image.extracted(
            left: part.x, top: part.y, width: part.size.width, height: part.size.height)
        return replaced(by: image)
    }
}

extension PixelSize {
    /// The middle part, at most so large; of an odd rest the greater half is cut off at the right
    /// and the bottom.
    func middle(_ target: PixelSize) -> PixelRect {
        let size = PixelSize(width: min(width, target.width), height: min(height, target.height))
        return PixelRect(x: (width - size.width) / 2, y: (height - size.height) / 2, size: size)
    }
}

/// Maps a part of interleaved pixels, given in fractions of a pixel, to exactly so many pixels,
/// band by band; colours are multiplied by alpha for it where not every pixel is opaque.
struct Resampling {
    let active: ActiveRegion
    let target: PixelSize
    /// Any alpha band is 255 everywhere.
    let isOpaque: Bool
    let sampler: PlaneSampler

    func apply(to image: VipsImage) throws -> VipsImage {
        let header = image.header
        guard !isIdentity(header) else { return image }
        let isMixed = header.hasAlpha && !isOpaque
        let planes = try image.withPixels { pixels throws(VipsError) in
            Result { () throws(ZimgError) in
                try Self.planes(pixels, header, premultiplied: isMixed)
            }
        }.get()
        let sampled = try planes.map { try sampler.sample($0, active, to: target) }
        let pixels = try InterleavedPixels(
            joining: sampled, premultiplied: isMixed, isDeep: header.bytesPerBand == 2)
        return try pixels.image(sampler.cancellation)
    }

    private func isIdentity(_ header: VipsHeader) -> Bool {
        target == PixelSize(width: header.width, height: header.height)
            && active == ActiveRegion(width: Double(target.width), height: Double(target.height))
    }

    private static func planes(
        _ pixels: UnsafeRawBufferPointer, _ header: VipsHeader, premultiplied: Bool
    ) throws(ZimgError) -> [Plane] {
        let size = PixelSize(width: header.width, height: header.height)
        let isDeep = header.bytesPerBand == 2
        let depth = premultiplied || isDeep ? 2 : 1
        let planes = (0..<header.bands).map { _ in Plane(size, depth: depth) }
        let targets = planes.map(\.target)
        let stride = header.width * header.bands * header.bytesPerBand
        if isDeep {
            try Interleaving.separateDeep(
                pixels, stride: stride, width: size.width, height: size.height, into: targets,
                premultiplied: premultiplied)
        } else if premultiplied {
            try Interleaving.premultiply(
                pixels, stride: stride, width: size.width, height: size.height, into: targets)
        } else {
            try Interleaving.separate(
                pixels, stride: stride, width: size.width, height: size.height, into: targets)
        }
        return planes
    }
}

/// Whether an alpha band says anything. Where it does not, scaling needs no multiplication of the
/// colours by alpha, which takes several times as long as the scaling.
enum Opacity {
    /// True without an alpha band, or where it is 1 everywhere; `pixels` are those of the plane.
    static func isOpaque(
        _ pixels: UnsafeRawBufferPointer, _ plane: PixelPlane, isDeep: Bool
    ) -> Bool {
        let bands = Int(plane.bands.rawValue)
        guard plane.bands == .rgba || plane.bands == .greyAlpha else { return true }
        if isDeep { return isOpaque(deep: pixels, plane, bands) }
        return (0..<plane.size.height).allSatisfy { row in
            let start = row * plane.stride + bands - 1
            var common: UInt8 = 255
            for column in 0..<plane.size.width { common &= pixels[start + column * bands] }
            return common == 255
        }
    }

    /// The same of samples of 16 bits.
    private static func isOpaque(
        deep pixels: UnsafeRawBufferPointer, _ plane: PixelPlane, _ bands: Int
    ) -> Bool {
        (0..<plane.size.height).allSatisfy { row in
            let start = row * plane.stride + 2 * (bands - 1)
            var common = UInt16.max
            for column in 0..<plane.size.width {
                common &= pixels.load(fromByteOffset: start + 2 * column * bands, as: UInt16.self)
            }
            return common == .max
        }
    }
}

/// The frames of an animation after the steps of a job. Each is made when it is asked for, so that
/// one of them is in memory at a time.
struct StepFrames {
    /// Of every frame.
    let size: PixelSize
    let times: FrameTimes
    private let make: (Int) throws(ImageError) -> StepImage

    /// - Parameter make: the frame of a number, after the steps.
    /// - Throws: `limitExceeded` if the pixels of all of them are too many bytes; what `make`
    ///   throws.
    init(
        _ animation: AnimationFacts, limits: ImageLimits,
        make: @escaping (Int) throws(ImageError) -> StepImage
    ) throws(ImageError) {
        times = FrameTimes(animation)
        size = try make(0).size
        self.make = make
        let most = limits.pixelBytesMax / Self.bands
        guard let area = size.area, area <= most / times.count else {
            throw .over(
                "pixelBytesMax", "encode",
                "\(times.count) frames of \(size) are over the limit: ask for a smaller size")
        }
    }

    /// Samples of a pixel.
    static let bands = 4

    var count: Int { times.count }

    /// Bytes of one frame.
    var byteCount: Int { Self.bands * size.width * size.height }

    /// Lends the pixels of a frame: RGBA of 8 bits in sRGB, rows without gaps.
    ///
    /// - Throws: `stepFailed` where a step made it of another size than the first one.
    func withPixels<Value>(
        of index: Int, _ body: (UnsafeRawBufferPointer) throws -> Value
    ) throws -> Value {
        let frame = try make(index)
        guard frame.size == size else {
            throw ImageError.step(
                "encode",
                "frame \(index) became \(frame.size) and the first one \(size), and frames have "
                    + "one size: leave out trim, or ask for one frame by its number")
        }
        let coloured = try frame.image.coloured()
        let image = try coloured.header.hasAlpha ? coloured : coloured.withAlpha()
        return try image.withPixels { pixels throws(VipsError) in
            Result { try body(pixels) }
        }.get()
    }
}

/// How long frames are shown, in the units of formats.
struct FrameTimes {
    private let animation: AnimationFacts

    /// Of one frame at least.
    init(_ animation: AnimationFacts) { self.animation = animation }

    var count: Int { animation.durations.count }

    /// How often all are played, as far as a format can say it; 0: without end.
    func plays(atMost most: Int) -> Int { min(max(0, animation.plays), most) }

    /// The microseconds of a frame.
    func microseconds(_ index: Int) -> Int { Int(animation.durations[index]) }

    /// The frames' durations in units of so many microseconds. What is lost by one frame the next
    /// one gets, so that all together take as long as before.
    func durations(in unit: Int, within range: ClosedRange<Int>) -> [Int] {
        var (end, written) = (0, 0)
        return animation.durations.map { duration in
            end += Int(duration)
            let left = (end + unit / 2) / unit - written
            let units = min(max(left, range.lowerBound), range.upperBound)
            written += units
            return units
        }
    }

    /// The duration of a frame as an animated PNG has it: seconds as a fraction of two numbers of
    /// 16 bits.
    func fraction(_ index: Int) -> (numerator: Int, denominator: Int) {
        let duration = microseconds(index)
        let rate = max(1, (1_000_000 + duration / 2) / max(1, duration))
        for denominator in [1_000, 100, rate, 10_000, 10] where denominator <= 65_535 {
            let numerator = (duration * denominator + 500_000) / 1_000_000
            let stated = (numerator * 1_000_000 + denominator / 2) / denominator
            if numerator <= 65_535, stated == duration { return (numerator, denominator) }
        }
        let milliseconds = (duration + 500) / 1_000
        return milliseconds <= 65_535
            ? (milliseconds, 1_000) : (min(65_535, (duration + 500_000) / 1_000_000), 1)
    }
}
