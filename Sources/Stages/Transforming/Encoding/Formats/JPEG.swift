import ImageModel
import JPEG
import StageContract
import Vips

/// JPEG: planes by libjpeg-turbo, which are never joined; pixels by libvips.
struct JPEGFormatEncoder: FormatEncoder {
    let format = ImageFormat.jpeg

    func encode(
        _ lane: PlanarLane, _ order: EncodingOrder, to writer: BlockWriter<some OutputSpace>
    ) throws {
        let size = lane.plan.size
        let encoding = JPEGEncoding(
            width: size.width, height: size.height, subsampling: subsampling(lane, order),
            quality: quality(order), isProgressive: order.options.isProgressive,
            optimisesCoding: order.options.optimisesCoding)
        let step = encoding.subsampling == .yuv420 ? 2 : 1
        let planes = try lane.planes(coloursEvery: PixelSize(width: step, height: step))
        let count = try withExtendedLifetime(planes) { () throws(JPEGError) in
            try JPEGPlaneEncoder.encode(
                planes.map { JPEGPlaneSource(memory: $0.bytes, stride: $0.stride) }, as: encoding,
                into: { writer.next($0) }, isCancelled: { order.cancellation.isCancelled })
        }
        writer.written(count)
    }

    func encode(
        _ image: VipsImage, _ order: EncodingOrder, to writer: BlockWriter<some OutputSpace>
    ) throws -> Bool {
        let subsampling: VipsEncoding.Subsampling =
            switch order.options.subsampling {
            case .auto: .auto
            case .yuv420: .quarter
            case .yuv444: .full
            }
        try image.save(
            .jpeg(
                quality: quality(order), progressive: order.options.isProgressive,
                optimised: order.options.optimisesCoding, subsampling: subsampling)
        ) { writer.append($0) }
        return image.header.hasAlpha
    }

    func enclose(_ parts: EnclosedParts, in writer: BlockWriter<some OutputSpace>) throws {
        guard !parts.isEmpty else { return }
        let place = JPEGSegments.place(in: writer.bytes)
        guard writer.insert(JPEGSegments.of(parts), at: place) else { throw ImageError.noRoom }
    }

    private func quality(_ order: EncodingOrder) -> Int { max(1, order.quality) }

    /// Half of the colours suffices below quality 90, as libvips and others have it.
    private func subsampling(
        _ lane: PlanarLane, _ order: EncodingOrder
    ) -> JPEGEncoding.Subsampling {
        if lane.isGrey { return .grey }
        return switch order.options.subsampling {
        case .auto: order.quality < 90 ? .yuv420 : .yuv444
        case .yuv420: .yuv420
        case .yuv444: .yuv444
        }
    }
}
