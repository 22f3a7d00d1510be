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
        _ work: TransformWork, hasAlpha: Bool, cancellation: CancellationFlag
    ) throws(ImageError) {
        form = try FormatEncoders.encoder(of: work.resultFormat(hasAlpha: hasAlpha))
        order = EncodingOrder(
            options: work.output, isPhotograph: work.sourceInfo.format.traits.isPhotographic,
            cancellation: cancellation)
    }

    /// Of what is painted.
    init(_ work: PaintWork, cancellation: CancellationFlag) throws(ImageError) {
        form = try FormatEncoders.encoder(of: work.resultFormat)
        order = EncodingOrder(
            options: work.output, isPhotograph: false, cancellation: cancellation)
    }

    /// Whether planes become this format without being joined.
    var takesPlanes: Bool {
        let isOfPlanes = form.format.traits.output?.takesPlanes(
            lossless: order.options.isWithoutLoss)
        return isOfPlanes == true && form.takesPlanes(order.options)
    }

    /// The planes of the lane, `takesPlanes`.
    func encode(
        _ lane: PlanarLane, to output: some OutputSpace
    ) throws(ImageError) -> EncodedImage {
        try write(lane.plan.size, bands: 1, to: output) { writer in
            try form.encode(lane, order, to: writer)
            return false
        }
    }

    /// Any image.
    func encode(
        _ current: StepImage, to output: some OutputSpace
    ) throws(ImageError) -> EncodedImage {
        try write(current.size, bands: current.image.header.bands, to: output) { writer in
            try form.encode(try flattened(current.image), order, to: writer)
        }
    }

    /// Hands what `body` writes to the outcome; it answers whether that has alpha.
    private func write<Space: OutputSpace>(
        _ size: PixelSize, bands: Int, to output: Space,
        _ body: (BlockWriter<Space>) throws -> Bool
    ) throws(ImageError) -> EncodedImage {
        try check(size)
        let writer = try BlockWriter(output, estimate: form.estimate(size, bands: bands, order))
        do {
            let hasAlpha = try body(writer)
            let info = ImageInfo(format: form.format, size: size, hasAlpha: hasAlpha)
            return EncodedImage(reference: writer.finish(), info: info)
        } catch {
            writer.discard()
            throw writer.failure ?? ImageError(transforming: error, step: "encode")
        }
    }

    /// Refuses what the format has no numbers for.
    private func check(_ size: PixelSize) throws(ImageError) {
        let sideMax = form.format.traits.output?.sideMax ?? 0
        guard max(size.width, size.height) <= sideMax else {
            throw .over(
                "sideMax", "encode",
                "\(form.format.name) has at most \(sideMax) pixels on a side")
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
