import CodecSupport
import Model
import Vips
import Zimg

/// An image in the pipeline.
struct StepImage {
    /// The pixels: 8-bit sRGB or gray, or in the job's sample format, with straight alpha.
    private(set) var image: VipsImage
    /// The nominal size, which is the unit of geometry. The image may have fewer pixels if the
    /// decoder reduced it.
    private(set) var size: PixelSize
    /// The area of the image with content.
    private(set) var active: ActiveRegion
    /// Resamples the image, and has the job's cancellation flag.
    let sampler: PlaneSampler

    /// Whether every pixel is opaque, with or without an alpha band.
    private(set) var isOpaque: Bool

    /// Without an active region, the image has its nominal size and content everywhere.
    init(
        _ image: VipsImage, size: PixelSize, active: ActiveRegion? = nil, isOpaque: Bool,
        sampler: PlaneSampler
    ) {
        self.image = image
        self.size = size
        self.active = active ?? ActiveRegion(of: size)
        self.isOpaque = isOpaque
        self.sampler = sampler
    }

    /// Replaces the image by one with the nominal size.
    func replaced(by image: VipsImage, isOpaque: Bool? = nil) -> StepImage {
        StepImage(
            image, size: image.header.size, isOpaque: isOpaque ?? self.isOpaque, sampler: sampler)
    }

    /// Whether the image has its nominal size and content everywhere.
    var isSettled: Bool {
        size == image.header.size && active == ActiveRegion(of: size)
    }

    /// Returns the image at its nominal size. Only images reduced by the decoder are scaled, which
    /// happens only if a resize precedes any step that needs this.
    func settled() throws -> StepImage {
        guard !isSettled else { return self }
        return try resampled(to: size)
    }

    func resampled(to target: PixelSize) throws -> StepImage {
        let resampling = Resampling(
            active: active, target: target, isOpaque: isOpaque, sampler: sampler)
        return replaced(by: try resampling.apply(to: image))
    }

    /// Resamples to a size but computes only the pixels of `part`.
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

    /// Computes the pixels, for steps that read them in any order.
    func computed() throws -> StepImage {
        var computed = self
        computed.image = try image.copiedToMemory()
        computed.image.watch { [cancellation = sampler.cancellation] in cancellation.isCancelled }
        return computed
    }

    /// Returns an image of the same geometry with other colors.
    func recolored(_ image: VipsImage, isOpaque: Bool? = nil) -> StepImage {
        var recolored = self
        (recolored.image, recolored.isOpaque) = (image, isOpaque ?? self.isOpaque)
        return recolored
    }

    /// Rotates clockwise by 1, 2 or 3 quarter turns, including areas without content.
    func turned(quarters: Int) throws -> StepImage {
        var turned = self
        turned.image = try image.rotated(quarters: quarters)
        let right = Double(image.width) - active.left - active.width
        let bottom = Double(image.height) - active.top - active.height
        switch quarters {
        case 1: (turned.active.left, turned.active.top) = (bottom, active.left)
        case 2: (turned.active.left, turned.active.top) = (right, bottom)
        default: (turned.active.left, turned.active.top) = (active.top, right)
        }
        if quarters % 2 == 1 {
            turned.size = size.transposed
            (turned.active.width, turned.active.height) = (active.height, active.width)
        }
        return turned
    }

    /// Exchanges left and right, top and bottom, or both.
    func flipped(horizontally: Bool, vertically: Bool) throws -> StepImage {
        // Rows are read from last to first, so they must be computed before.
        var flipped = vertically ? try computed() : self
        if horizontally {
            flipped.image = try flipped.image.flippedHorizontally()
            flipped.active.left = Double(image.width) - active.left - active.width
        }
        if vertically {
            flipped.image = try flipped.image.flippedVertically()
            flipped.active.top = Double(image.height) - active.top - active.height
        }
        return flipped
    }
}

extension StepImage {
    /// Wraps the interleaved pixels of a job in place; `source` has been validated.
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

    /// Wraps opaque pixels at their nominal size.
    init(_ pixels: InterleavedPixels, sampler: PlaneSampler) throws(VipsError) {
        self.init(
            try pixels.image(sampler.cancellation), size: pixels.size, isOpaque: true,
            sampler: sampler)
    }

    /// Applies the orientation.
    private func displayed(_ orientation: Orientation) throws -> StepImage {
        guard !orientation.isUpright else { return self }
        // A transposition is a quarter turn with left and right exchanged again.
        let turned = orientation.transposes ? try computed().turned(quarters: 1) : self
        return try turned.flipped(
            horizontally: orientation.mirrorsHorizontally != orientation.transposes,
            vertically: orientation.mirrorsVertically)
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
        // libvips requires rows without padding.
        let packed = InterleavedPixels(size: plane.size, bands: bands, bytesPerBand: bytes)
        let row = width * bands * bytes
        for line in 0..<height {
            let source = pixels[(line * plane.stride)...].prefix(row)
            UnsafeMutableRawBufferPointer(rebasing: packed.mutableBytes[(line * row)...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: source))
        }
        return try VipsImage.pixels(
            packed.bytes, width: width, height: height, bands: bands, bytesPerBand: bytes,
            owner: packed)
    }
}

extension VipsHeader {
    var size: PixelSize { PixelSize(width: width, height: height) }
}

extension StepImage {
    /// Replaces the image by one of this size whose samples are changed in place row by row; after
    /// a cancellation the remaining rows stay unchanged.
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

extension Color {
    /// Whether red, green and blue are equal.
    var isGray: Bool { red == green && green == blue }
}

extension StepImage {
    /// Crops this image, which must have its nominal size, to an area within it.
    func cut(_ part: PixelRect) throws -> StepImage {
        guard part.size != size else { return self }
        let image = try image.extracted(
            left: part.x, top: part.y, width: part.size.width, height: part.size.height)
        return replaced(by: image)
    }
}

extension PixelSize {
    /// Returns the middle area of at most this size; of an odd remainder the larger half is cut off
    /// at the right and the bottom.
    func middle(_ target: PixelSize) -> PixelRect {
        let size = PixelSize(width: min(width, target.width), height: min(height, target.height))
        return PixelRect(x: (width - size.width) / 2, y: (height - size.height) / 2, size: size)
    }
}

/// Resamples an area of interleaved pixels, in fractions of a pixel, to a given size, band by band;
/// premultiplies colors by alpha if not every pixel is opaque.
struct Resampling {
    let active: ActiveRegion
    let target: PixelSize
    /// Whether alpha, if present, is 255 everywhere.
    let isOpaque: Bool
    let sampler: PlaneSampler

    func apply(to image: VipsImage) throws -> VipsImage {
        let header = image.header
        guard !isIdentity(header) else { return image }
        let isMixed = header.hasAlpha && !isOpaque
        let planes = try image.withMemory {
            try Self.planes($0, header, premultiplied: isMixed)
        }
        let sampled = try planes.map { try sampler.sample($0, active, to: target) }
        let pixels = try InterleavedPixels(
            joining: sampled, premultiplied: isMixed, isDeep: header.bytesPerBand == 2)
        return try pixels.image(sampler.cancellation)
    }

    private func isIdentity(_ header: VipsHeader) -> Bool {
        target == header.size && active == ActiveRegion(of: target)
    }

    private static func planes(
        _ pixels: UnsafeRawBufferPointer, _ header: VipsHeader, premultiplied: Bool
    ) throws(CodecError) -> [Plane] {
        let size = header.size
        let isDeep = header.bytesPerBand == 2
        let depth = premultiplied || isDeep ? 2 : 1
        let planes = (0..<header.bands).map { _ in Plane(size, depth: depth) }
        try Interleaving.separate(
            pixels, stride: header.width * header.bands * header.bytesPerBand, width: size.width,
            height: size.height, into: planes.map(\.target), isDeep: isDeep,
            premultiplied: premultiplied)
        return planes
    }
}

/// Whether alpha is significant. If not, scaling needs no premultiplication, which takes several
/// times as long as the scaling.
enum Opacity {
    /// Returns true without alpha, or if it is 1 everywhere; `pixels` are those of the plane.
    static func isOpaque(
        _ pixels: UnsafeRawBufferPointer, _ plane: PixelPlane, isDeep: Bool
    ) -> Bool {
        guard plane.bands == .rgba || plane.bands == .grayAlpha else { return true }
        return isDeep
            ? isOpaque(pixels, plane, as: UInt16.self) : isOpaque(pixels, plane, as: UInt8.self)
    }

    private static func isOpaque<Sample: FixedWidthInteger>(
        _ pixels: UnsafeRawBufferPointer, _ plane: PixelPlane, as _: Sample.Type
    ) -> Bool {
        let (bands, bytes) = (Int(plane.bands.rawValue), MemoryLayout<Sample>.size)
        return (0..<plane.size.height).allSatisfy { row in
            let start = row * plane.stride + bytes * (bands - 1)
            var common = Sample.max
            for column in 0..<plane.size.width {
                common &= pixels.load(
                    fromByteOffset: start + bytes * column * bands, as: Sample.self)
            }
            return common == .max
        }
    }
}

/// The frames of an animation after the steps of a job. Each is computed on demand, so that only
/// one is in memory.
struct StepFrames {
    /// The size of every frame.
    let size: PixelSize
    let times: FrameTimes
    private let make: (Int) throws -> StepImage

    /// - Parameter make: Returns the frame with a number after the steps.
    /// - Throws: `limitExceeded` if all frames together exceed the byte limit; the errors of
    ///   `make`.
    init(
        _ animation: AnimationProperties, limits: ImageLimits,
        make: @escaping (Int) throws -> StepImage
    ) throws {
        times = FrameTimes(animation)
        size = try make(0).size
        self.make = make
        let most = limits.pixelBytesMax / Self.bands
        guard let area = size.area, area <= most / times.count else {
            throw ImageError.over(
                "pixelBytesMax", "encode",
                "\(times.count) frames of \(size) exceed the limit: request a smaller size")
        }
    }

    /// The number of samples per pixel.
    static let bands = 4

    var count: Int { times.count }

    /// The size of a frame in bytes.
    var byteCount: Int { Self.bands * size.width * size.height }

    /// Passes the pixels of a frame to `body`: 8-bit RGBA in sRGB, rows without padding.
    ///
    /// - Throws: `stepFailed` if a step produced another size than for the first frame.
    func withPixels<Value>(
        of index: Int, _ body: (UnsafeRawBufferPointer) throws -> Value
    ) throws -> Value {
        let frame = try make(index)
        guard frame.size == size else {
            throw ImageError.step(
                "encode",
                "frame \(index) became \(frame.size), but the first one \(size): frames must have "
                    + "the same size; leave out trim, or request one frame by its number")
        }
        let colored = try frame.image.colored()
        let image = try colored.header.hasAlpha ? colored : colored.withAlpha()
        return try image.withMemory(body)
    }
}

extension VipsImage {
    /// Calls `withPixels` with a body that may throw any error.
    func withMemory<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) throws -> Value {
        try withPixels { pixels throws(VipsError) in Result { try body(pixels) } }.get()
    }
}

/// The durations of frames in the units of formats.
struct FrameTimes {
    private let animation: AnimationProperties

    /// Requires at least one frame.
    init(_ animation: AnimationProperties) { self.animation = animation }

    var count: Int { animation.durations.count }

    /// Returns the number of plays, limited to what a format supports; 0 for endless.
    func plays(atMost most: Int) -> Int { min(max(0, animation.plays), most) }

    /// Returns the duration of a frame in microseconds.
    func microseconds(_ index: Int) -> Int { Int(animation.durations[index]) }

    /// Returns the durations in units of this many microseconds. The rounding error of each frame
    /// is carried over to the next, so that the total duration stays the same.
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

    /// Returns the duration of a frame as in an animated PNG: seconds as a fraction of two 16-bit
    /// numbers.
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
