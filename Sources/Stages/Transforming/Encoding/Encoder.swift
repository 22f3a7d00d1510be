import Animation
import ImageModel
import Messages
import StageContract
import Vips

/// Encodes the finished image, the last thing a job does.
struct Encoder {
    private let form: any FormatEncoder
    private let order: EncodingOrder

    /// In the format that the work says.
    init(
        _ work: TransformWork, hasAlpha: Bool, beside enclosed: EnclosedParts,
        cancellation: CancellationFlag
    ) throws(ImageError) {
        form = try FormatEncoders.encoder(of: work.resultFormat(hasAlpha: hasAlpha))
        let samples = work.layout.samples
        guard samples.hdr == nil || form.format.holdsHDR else {
            throw ImageError(.internalError, "\(form.format.name) has no high dynamic range")
        }
        order = EncodingOrder(
            options: work.output, isPhotograph: work.sourceInfo.format.traits.isPhotographic,
            cancellation: cancellation,
            samples: form.format.samples(of: samples, work.output), enclosed: enclosed)
    }

    /// Of what is painted.
    init(_ work: PaintWork, cancellation: CancellationFlag) throws(ImageError) {
        form = try FormatEncoders.encoder(of: work.resultFormat)
        order = EncodingOrder(
            options: work.output, isPhotograph: false, cancellation: cancellation,
            samples: form.format.samples(of: .usual, work.output))
    }

    /// Whether these planes become this format without being joined.
    func takes(_ lane: PlanarLane) -> Bool {
        // Planes have 8 bits, and a profile of colours wants these.
        guard !order.samples.isDeep else { return false }
        guard !lane.isGrey || order.enclosed.space != .rgb else { return false }
        let isOfPlanes = form.format.traits.output?.takesPlanes(
            lossless: order.options.isWithoutLoss)
        return isOfPlanes == true && form.takesPlanes(order.options)
    }

    /// The planes of the lane, which are taken.
    func encode(
        _ lane: PlanarLane, to output: some OutputSpace
    ) throws(ImageError) -> EncodedImage {
        let isOnce = order.options.maxBytes == nil && !embedsThumbnail
        let lane = isOnce ? lane : lane.remembering()
        let order = try order(order(besideGrey: lane.isGrey)) { () throws(ImageError) in
            try lane.stepImage(resampledTo: EmbeddedThumbnail.size(of: lane.plan.size))
        }
        var encoded = try write(lane.plan.size, bands: 1, order, to: output) { order, writer in
            try form.encode(lane, order, to: writer)
            try form.enclose(order.enclosed, in: writer)
            return false
        }
        encoded.account.isPlanar = true
        return encoded
    }

    /// Any image.
    func encode(
        _ whole: StepImage, to output: some OutputSpace
    ) throws(ImageError) -> EncodedImage {
        let (current, image): (StepImage, VipsImage)
        do {
            current = embedsThumbnail ? try whole.computed() : whole
            image = try pixels(of: current)
        } catch {
            throw ImageError(transforming: error, step: "encode")
        }
        let bands = image.header.bands
        let order = try order(order(besideGrey: bands < 3)) {
            try current.resampled(to: EmbeddedThumbnail.size(of: current.size))
        }
        let bytes = bands * order.samples.bytes
        return try write(current.size, bands: bytes, order, to: output) { order, writer in
            let hasAlpha = try form.encode(image, order, to: writer)
            try form.enclose(order.enclosed, in: writer)
            return hasAlpha
        }
    }

    /// All frames of an animation.
    func encode(
        _ frames: StepFrames, to output: some OutputSpace
    ) throws(ImageError) -> EncodedImage {
        let order = order.withUsualSamples
        return try write(
            frames.size, bands: StepFrames.bands, order, frames: frames.count, to: output
        ) { order, writer in
            let hasAlpha = try form.encode(frames, order, to: writer)
            try form.enclose(order.enclosed, in: writer)
            return hasAlpha
        }
    }

    private var embedsThumbnail: Bool {
        order.options.embedsThumbnail
            && OutputSetting.embedThumbnail.row.formats.contains(form.format)
    }

    /// The order with a small image beside the pixels, where one is asked for.
    private func order(
        _ order: EncodingOrder, thumbnail: () throws -> StepImage
    ) throws(ImageError) -> EncodingOrder {
        guard embedsThumbnail else { return order }
        let jpeg: [UInt8]
        do {
            jpeg = try EmbeddedThumbnail.jpeg(of: flattened(thumbnail().image))
        } catch {
            throw ImageError(transforming: error, step: "encode")
        }
        return try order.with(thumbnail: jpeg)
    }

    /// A profile of greys goes with pixels that are written as such.
    private func order(besideGrey isGrey: Bool) -> EncodingOrder {
        order.beside(isGrey: isGrey && OutputSetting.greyHolders.contains(form.format))
    }

    /// What is encoded, in memory where that may be done more than once.
    private func pixels(of current: StepImage) throws -> VipsImage {
        let deep = try current.image.with(order.samples)
        let flat = try flattened(deep)
        let image = order.enclosed.space == .rgb ? try flat.coloured() : flat
        guard order.options.maxBytes != nil else { return image }
        let copy = try image.copiedToMemory()
        copy.watch { [cancellation = order.cancellation] in cancellation.isCancelled }
        return copy
    }

    /// Hands what `body` writes to the outcome; it answers whether that has alpha.
    private func write<Space: OutputSpace>(
        _ size: PixelSize, bands: Int, _ order: EncodingOrder, frames: Int = 1, to output: Space,
        _ body: @escaping (EncodingOrder, BlockWriter<Space>) throws -> Bool
    ) throws(ImageError) -> EncodedImage {
        try check(size)
        let writer = try BlockWriter(output, estimate: form.estimate(size, bands: bands, order))
        do {
            let attempts = EncodingAttempts(
                order: order, losesSomething: losesSomething, body: body)
            let made = try attempts.run(writer)
            let info = ImageInfo(
                format: form.format, size: size, pages: Self.frames(in: writer.bytes, of: frames),
                hasAlpha: made.hasAlpha,
                bits: order.samples.bits, isHDR: order.samples.hdr != nil)
            return EncodedImage(
                reference: writer.finish(), info: info,
                account: TransformAccount(
                    attempts: UInt32(made.count), quality: made.quality.map { UInt32($0) }))
        } catch {
            writer.discard()
            throw writer.failure ?? ImageError(transforming: error, step: "encode")
        }
    }

    /// Frames of what was written: encoders join those that are the same.
    private static func frames(in bytes: UnsafeRawBufferPointer, of most: Int) -> Int {
        guard most > 1 else { return 1 }
        let map = AnimationMap(bytes.bindMemory(to: UInt8.self).span, framesMax: most)
        return max(1, map?.frames.count ?? 1)
    }

    private var losesSomething: Bool {
        form.format.traits.output?.losesSomething(order.options) == true
    }

    /// Refuses what the format has no numbers for.
    private func check(_ size: PixelSize) throws(ImageError) {
        let (name, limits) = (form.format.name, form.format.traits.output)
        let (sideMax, pixelsMax) = (limits?.sideMax ?? 0, limits?.pixelsMax ?? 0)
        guard max(size.width, size.height) <= sideMax else {
            throw .over("sideMax", "encode", "\(name) has at most \(sideMax) pixels on a side")
        }
        guard let area = size.area, area <= pixelsMax else {
            throw .over(
                "pixelsMax", "encode",
                "\(size) is too large for \(name), which is encoded up "
                    + "to \(pixelsMax) pixels")
        }
    }

    /// A colour shows where a format without alpha meets transparent pixels (SEMANTICS §11.11).
    private func flattened(_ image: VipsImage) throws(VipsError) -> VipsImage {
        guard !form.format.carriesAlpha, image.header.hasAlpha else { return image }
        let colour = order.options.background
        let canvas = try colour.isGrey ? image : image.coloured()
        return try canvas.flattened(
            red: Double(colour.red), green: Double(colour.green), blue: Double(colour.blue))
    }
}

extension ImageFormat {
    /// What is written of samples: as many bits as are asked for; of a high dynamic range as many
    /// as there are, as far as the format has them.
    func samples(of samples: SampleForm, _ options: OutputOptions) -> SampleForm {
        let wanted = options.depth ?? (samples.hdr == nil ? 8 : samples.bits)
        let bits = traits.output?.depth(for: options.colours == nil ? wanted : 8) ?? 8
        return SampleForm(bits: bits, hdr: samples.hdr)
    }
}

extension VipsImage {
    /// The same in samples of as many bytes.
    func with(_ samples: SampleForm) throws(VipsError) -> VipsImage {
        switch (header.bytesPerBand, samples.bytes) {
        case (1, 2): try widened(whole: 255)
        case (2, 1): try narrowed()
        default: self
        }
    }
}

/// Encodes one image, again at lower qualities where it is to have only so many bytes.
struct EncodingAttempts<Space: OutputSpace> {
    let order: EncodingOrder
    /// Whether quality says how large a file is.
    let losesSomething: Bool
    /// Writes the image; answers whether that has alpha.
    let body: (EncodingOrder, BlockWriter<Space>) throws -> Bool

    /// What became of the attempts.
    struct Outcome {
        let hasAlpha: Bool
        let count: Int
        /// That of the image, where a limit of bytes had it looked for.
        var quality: Int?
    }

    /// Leaves in the writer the best image that has few enough bytes; where none has, the smallest.
    func run(_ writer: BlockWriter<Space>) throws -> Outcome {
        let hasAlpha = try body(order, writer)
        guard losesSomething, let limit = order.options.maxBytes else {
            return Outcome(hasAlpha: hasAlpha, count: 1, quality: nil)
        }
        guard writer.bytes.count > limit else {
            return Outcome(hasAlpha: hasAlpha, count: 1, quality: order.quality)
        }
        var count = 1
        let first = (Array(writer.bytes), hasAlpha, order.quality)
        let best = try best(atMost: limit, after: first, writer, &count)
        writer.restart()
        guard best.bytes.withUnsafeBytes({ writer.append($0) }) else {
            throw ImageError(.internalError, "what had room before has none")
        }
        return Outcome(hasAlpha: best.hasAlpha, count: count, quality: best.quality)
    }

    private typealias Attempt = (bytes: [UInt8], hasAlpha: Bool, quality: Int)

    /// The best of those that fit, else the smallest. The first one and `QualitySearch` are
    /// `triesMax` attempts.
    private func best(
        atMost limit: Int, after first: Attempt, _ writer: BlockWriter<Space>, _ count: inout Int
    ) throws -> Attempt {
        var best: Attempt?
        var smallest = first
        var search = QualitySearch(below: order.quality)
        while let quality = search.next {
            if order.cancellation.isCancelled { throw ImageError.cancelled }
            writer.restart()
            count += 1
            let hasAlpha = try body(order.with(quality: quality), writer)
            let fits = writer.bytes.count <= limit
            let attempt = (Array(writer.bytes), hasAlpha, quality)
            if fits { best = attempt }
            if attempt.0.count < smallest.bytes.count { smallest = attempt }
            search.found(fits: fits)
        }
        return best ?? smallest
    }
}

/// Looks for the best quality below one at which a result was too large: by halves, over every
/// second quality from 0 on, so that few of them are tried. Pure.
struct QualitySearch {
    /// Of the qualities 0, 2, 4, …: so many first ones fit, and those from `unfit` on do not.
    private var (fit, unfit) = (0, 0)

    /// All of them below `asked`, which does not fit.
    init(below asked: Int) { unfit = (asked + 1) / 2 }

    /// What to try; nil where the last one that fitted is the best, or none does.
    var next: Int? { fit < unfit ? 2 * middle : nil }

    /// Whether `next` fitted.
    mutating func found(fits: Bool) {
        if fits { fit = middle + 1 } else { unfit = middle }
    }

    private var middle: Int { (fit + unfit) / 2 }
}

/// Collects bytes in a block that grows as they come.
final class BlockWriter<Space: OutputSpace> {
    private let space: Space
    private var block: OutputBlock
    private var count = 0
    /// Bytes that `next` has given, from the first on.
    private var handedOut = 0

    /// Why `append` answered false.
    private(set) var failure: ImageError?

    /// - Parameter estimate: bytes expected; a wrong guess costs a copy.
    init(_ space: Space, estimate: Int) throws(ImageError) {
        self.space = space
        block = try space.reserve(max(4096, estimate))
    }

    /// Adds bytes; false where there is no space for them.
    func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard grow(by: bytes.count) else { return false }
        UnsafeMutableRawBufferPointer(rebasing: block.bytes[count...]).copyMemory(from: bytes)
        count += bytes.count
        return true
    }

    /// Adds bytes before those from `place` on; false where there is no space for them.
    func insert(_ bytes: [UInt8], at place: Int) -> Bool {
        guard grow(by: bytes.count) else { return false }
        let behind = UnsafeMutableRawBufferPointer(rebasing: block.bytes[(place + bytes.count)...])
        behind.copyMemory(from: UnsafeRawBufferPointer(rebasing: self.bytes[place...]))
        UnsafeMutableRawBufferPointer(rebasing: block.bytes[place...]).copyBytes(from: bytes)
        written(count + bytes.count)
        return true
    }

    /// Memory for at least so many bytes more, which count as written once it is asked again; nil
    /// where there is no space for them.
    func next(_ minimum: Int) -> UnsafeMutableRawBufferPointer? {
        count = handedOut
        guard grow(by: minimum) else { return nil }
        handedOut = block.bytes.count
        return UnsafeMutableRawBufferPointer(rebasing: block.bytes[count...])
    }

    /// Of all that `next` gave, the first so many bytes count as written.
    func written(_ count: Int) {
        self.count = count
        handedOut = count
    }

    /// The bytes so far, valid until more are added.
    var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(block.bytes)[..<count])
    }

    /// Forgets all bytes so far; the space stays.
    func restart() { (count, handedOut) = (0, 0) }

    /// A reference to the bytes; the block is the outcome's from now on.
    func finish() -> BlockReference {
        block.reference(length: count)
    }

    /// Gives the block back.
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
