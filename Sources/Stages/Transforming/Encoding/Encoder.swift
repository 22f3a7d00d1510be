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
