import Model
import Vips

/// Encodes the finished image, the last part of a job.
struct Encoder {
    private let encoder: any FormatEncoder
    private let spec: EncodingSpecification

    /// Creates an encoder for the output format of the work.
    init(
        _ work: TransformWork, hasAlpha: Bool, beside embedded: EmbeddedParts,
        cancellation: CancellationFlag
    ) throws {
        encoder = try FormatEncoders.encoder(of: work.resultFormat(hasAlpha: hasAlpha))
        let samples = work.layout.samples
        guard samples.hdr == nil || encoder.format.holdsHDR else {
            throw ImageError(
                .internalError, "\(encoder.format.name) does not support high dynamic range")
        }
        spec = EncodingSpecification(
            options: work.output, isPhotograph: work.sourceInfo.format.traits.isPhotographic,
            cancellation: cancellation,
            samples: encoder.format.samples(of: samples, work.output), embedded: embedded)
    }

    /// Creates an encoder for an image of one color.
    init(_ work: PaintWork, cancellation: CancellationFlag) throws {
        encoder = try FormatEncoders.encoder(of: work.resultFormat)
        spec = EncodingSpecification(
            options: work.output, isPhotograph: false, cancellation: cancellation,
            samples: encoder.format.samples(of: .standard, work.output))
    }

    /// Returns whether these planes can be encoded in this format without joining them.
    func takes(_ lane: PlanarLane) -> Bool {
        // Planes have 8 bits, and a color profile requires color planes.
        guard !spec.samples.isDeep else { return false }
        guard !lane.isGray || spec.embedded.space != .rgb else { return false }
        let isOfPlanes = encoder.format.traits.output?.takesPlanes(
            lossless: spec.options.isWithoutLoss)
        return isOfPlanes == true && encoder.takesPlanes(spec.options)
    }

    /// Encodes the planes of the lane, which must be supported.
    func encode(_ lane: PlanarLane, to output: some OutputSpace) throws -> EncodedImage {
        let isOnce = spec.options.maxBytes == nil && !embedsThumbnail
        let lane = isOnce ? lane : lane.remembering()
        let spec = try spec(spec(besideGray: lane.isGray)) {
            try lane.stepImage(resampledTo: EmbeddedThumbnail.size(of: lane.plan.size))
        }
        var encoded = try write(lane.plan.size, bands: 1, spec, to: output) {
            try encoder.encode(lane, $0, to: $1)
            return false
        }
        encoded.account.isPlanar = true
        return encoded
    }

    /// Encodes any image.
    func encode(_ whole: StepImage, to output: some OutputSpace) throws -> EncodedImage {
        let (current, image) = try ImageError.mapping("encode") {
            let current = embedsThumbnail ? try whole.computed() : whole
            return (current, try pixels(of: current))
        }
        let bands = image.header.bands
        let spec = try spec(spec(besideGray: bands < 3)) {
            try current.resampled(to: EmbeddedThumbnail.size(of: current.size))
        }
        let bytes = bands * spec.samples.bytes
        return try write(current.size, bands: bytes, spec, to: output) {
            try encoder.encode(image, $0, to: $1)
        }
    }

    /// Encodes all frames of an animation.
    func encode(_ frames: StepFrames, to output: some OutputSpace) throws -> EncodedImage {
        var spec: EncodingSpecification = spec
        spec.samples = .standard
        return try write(
            frames.size, bands: StepFrames.bands, spec, frames: frames.count, to: output
        ) { try encoder.encode(frames, $0, to: $1) }
    }

    private var embedsThumbnail: Bool {
        spec.options.embedsThumbnail
            && OutputSetting.embedThumbnail.row.formats.contains(encoder.format)
    }

    /// Returns the specification with a thumbnail, if one is requested.
    private func spec(
        _ spec: EncodingSpecification, thumbnail: () throws -> StepImage
    ) throws -> EncodingSpecification {
        guard embedsThumbnail else { return spec }
        let jpeg = try ImageError.mapping("encode") {
            try EmbeddedThumbnail.jpeg(of: flattened(thumbnail().image))
        }
        var spec = spec
        spec.embedded = try spec.embedded.with(thumbnail: jpeg)
        return spec
    }

    /// Returns the specification with a gray profile only if the pixels are written as gray.
    private func spec(besideGray isGray: Bool) -> EncodingSpecification {
        var spec: EncodingSpecification = spec
        spec.embedded = spec.embedded.beside(
            isGray: isGray && OutputSetting.grayHolders.contains(encoder.format))
        return spec
    }

    /// Returns the pixels to encode, computed into memory if they may be encoded several times.
    private func pixels(of current: StepImage) throws -> VipsImage {
        let deep = try current.image.with(spec.samples)
        let flat = try flattened(deep)
        let image = spec.embedded.space == .rgb ? try flat.colored() : flat
        guard spec.options.maxBytes != nil else { return image }
        let copy = try image.copiedToMemory()
        copy.watch { [cancellation = spec.cancellation] in cancellation.isCancelled }
        return copy
    }

    /// Writes the output of `body` and the embedded metadata to a block for the outcome; `body`
    /// returns whether the output has alpha.
    private func write(
        _ size: PixelSize, bands: Int, _ spec: EncodingSpecification, frames: Int = 1,
        to output: some OutputSpace, _ body: (EncodingSpecification, BlockWriter) throws -> Bool
    ) throws -> EncodedImage {
        try check(size)
        let writer = try BlockWriter(output, estimate: encoder.estimate(size, bands: bands, spec))
        do {
            let outcome = try outcome(of: spec, writer) { spec in
                let hasAlpha = try body(spec, writer)
                try encoder.embed(spec.embedded, in: writer)
                return hasAlpha
            }
            let info = ImageInfo(
                format: encoder.format, size: size,
                pages: Self.frames(in: writer.bytes, of: frames),
                hasAlpha: outcome.hasAlpha,
                bits: spec.samples.bits, isHDR: spec.samples.hdr != nil)
            return EncodedImage(
                reference: writer.finish(), info: info,
                account: TransformAccount(
                    attempts: UInt32(outcome.count), quality: outcome.quality.map { UInt32($0) }))
        } catch {
            writer.discard()
            throw writer.failure ?? ImageError(transforming: error, step: "encode")
        }
    }

    /// Returns the number of written frames: encoders merge identical ones.
    private static func frames(in bytes: UnsafeRawBufferPointer, of most: Int) -> Int {
        guard most > 1 else { return 1 }
        let map = AnimationMap(bytes.bindMemory(to: UInt8.self).span, framesMax: most)
        return max(1, map?.frames.count ?? 1)
    }

    /// Rejects sizes that the format can't represent.
    private func check(_ size: PixelSize) throws {
        let (name, limits) = (encoder.format.name, encoder.format.traits.output)
        let (sideMax, pixelsMax) = (limits?.sideMax ?? 0, limits?.pixelsMax ?? 0)
        guard max(size.width, size.height) <= sideMax else {
            throw ImageError.over(
                "sideMax", "encode", "\(name) supports at most \(sideMax) pixels per side")
        }
        guard let area = size.area, area <= pixelsMax else {
            throw ImageError.over(
                "pixelsMax", "encode",
                "\(size) is too large for \(name): at most "
                    + "\(pixelsMax) pixels are encoded")
        }
    }

    /// Flattens onto a background color if the format has no alpha and pixels are transparent
    /// (SEMANTICS §11.11).
    private func flattened(_ image: VipsImage) throws(VipsError) -> VipsImage {
        guard !encoder.format.carriesAlpha, image.header.hasAlpha else { return image }
        return try image.flattened(onto: spec.options.background)
    }
}

extension ImageFormat {
    /// Returns the sample format to write: the requested bit depth; for high dynamic range the
    /// source's, as far as the format supports it.
    func samples(of samples: SampleForm, _ options: OutputOptions) -> SampleForm {
        let wanted = options.depth ?? (samples.hdr == nil ? 8 : samples.bits)
        let bits = traits.output?.depth(for: options.colors == nil ? wanted : 8) ?? 8
        return SampleForm(bits: bits, hdr: samples.hdr)
    }
}

extension VipsImage {
    /// Converts to samples of the same number of bytes.
    func with(_ samples: SampleForm) throws(VipsError) -> VipsImage {
        switch (header.bytesPerBand, samples.bytes) {
        case (1, 2): try widened(whole: 255)
        case (2, 1): try narrowed()
        default: self
        }
    }
}

extension Encoder {
    /// One encoding of an image.
    private struct Attempt {
        var bytes: [UInt8] = []
        let hasAlpha: Bool
        /// The quality of the image, if a size limit determined it.
        var quality: Int?
        /// The number of attempts so far.
        var count = 1
    }

    /// Encodes an image, repeatedly with lower quality if the output has a size limit. Leaves the
    /// best image within the limit in the writer; if none fits, the smallest.
    ///
    /// - Parameter body: Writes the image and returns whether the output has alpha.
    private func outcome(
        of spec: EncodingSpecification, _ writer: BlockWriter,
        _ body: (EncodingSpecification) throws -> Bool
    ) throws -> Attempt {
        var first = Attempt(hasAlpha: try body(spec))
        guard encoder.format.traits.output?.hasLossyQuality(spec.options) == true,
            let limit = spec.options.maxBytes
        else { return first }
        first.quality = spec.quality
        guard writer.bytes.count > limit else { return first }
        first.bytes = Array(writer.bytes)
        // The first attempt and those of the search are at most `triesMax`.
        var (count, best, smallest) = (1, Attempt?.none, first)
        var (spec, search) = (spec, QualitySearch(below: spec.quality))
        while let quality = search.next {
            if spec.cancellation.isCancelled { throw ImageError.cancelled }
            writer.restart()
            count += 1
            spec.options.quality = quality
            let hasAlpha = try body(spec)
            let attempt = Attempt(
                bytes: Array(writer.bytes), hasAlpha: hasAlpha, quality: quality)
            let fits = attempt.bytes.count <= limit
            if fits { best = attempt }
            if attempt.bytes.count < smallest.bytes.count { smallest = attempt }
            search.found(fits: fits)
        }
        var chosen = best ?? smallest
        chosen.count = count
        writer.restart()
        guard chosen.bytes.withUnsafeBytes({ writer.append($0) }) else {
            throw ImageError(.internalError, "reserved space must remain available")
        }
        return chosen
    }
}

/// Finds the best quality below one that was too large, by binary search over every second quality
/// starting at 0, to limit the number of attempts. Pure.
struct QualitySearch {
    /// Among the qualities 0, 2, 4, …, the first `fit` ones fit, and those from `unfit` on don't.
    private var (fit, unfit) = (0, 0)

    /// Searches all of them below `asked`, which doesn't fit.
    init(below asked: Int) { unfit = (asked + 1) / 2 }

    /// The next quality to try; nil if the search is complete.
    var next: Int? { fit < unfit ? 2 * middle : nil }

    /// Records whether `next` fits.
    mutating func found(fits: Bool) {
        if fits { fit = middle + 1 } else { unfit = middle }
    }

    private var middle: Int { (fit + unfit) / 2 }
}

/// Collects bytes in a growing block.
final class BlockWriter {
    private let space: any OutputSpace
    private var block: OutputBlock
    private var count = 0
    /// The size of the memory returned by `next`, including the bytes before it.
    private var handedOut = 0

    /// Why `append` returned false.
    private(set) var failure: ImageError?

    /// - Parameter estimate: The expected size; a wrong estimate costs a copy.
    init(_ space: any OutputSpace, estimate: Int) throws {
        self.space = space
        block = try space.reserve(max(4096, estimate))
    }

    /// Appends bytes; returns false if they don't fit.
    func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard grow(by: bytes.count) else { return false }
        UnsafeMutableRawBufferPointer(rebasing: block.bytes[count...]).copyMemory(from: bytes)
        count += bytes.count
        return true
    }

    /// Inserts bytes at `place`; throws if they don't fit.
    func insert(_ bytes: [UInt8], at place: Int) throws {
        guard grow(by: bytes.count) else { throw ImageError.noRoom }
        let behind = UnsafeMutableRawBufferPointer(rebasing: block.bytes[(place + bytes.count)...])
        behind.copyMemory(from: UnsafeRawBufferPointer(rebasing: self.bytes[place...]))
        UnsafeMutableRawBufferPointer(rebasing: block.bytes[place...]).copyBytes(from: bytes)
        written(count + bytes.count)
    }

    /// Returns memory for at least `minimum` more bytes, which count as written at the next call;
    /// nil if there is no space.
    func next(_ minimum: Int) -> UnsafeMutableRawBufferPointer? {
        count = handedOut
        guard grow(by: minimum) else { return nil }
        handedOut = block.bytes.count
        return UnsafeMutableRawBufferPointer(rebasing: block.bytes[count...])
    }

    /// Sets how many bytes of the memory returned by `next` count as written.
    func written(_ count: Int) {
        self.count = count
        handedOut = count
    }

    /// The bytes so far, valid until more are added.
    var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(block.bytes)[..<count])
    }

    /// Discards all bytes so far; the space stays allocated.
    func restart() { (count, handedOut) = (0, 0) }

    /// Returns a reference to the bytes; the block then belongs to the outcome.
    func finish() -> BlockReference {
        block.reference(length: count)
    }

    /// Frees the block.
    func discard() {
        space.discard(block)
    }

    private func grow(by more: Int) -> Bool {
        guard count + more > block.bytes.count else { return true }
        do {
            block = try space.resize(
                block, to: max(count + more, 2 * block.bytes.count), keeping: count)
            return true
        } catch {
            failure = error
            return false
        }
    }
}
