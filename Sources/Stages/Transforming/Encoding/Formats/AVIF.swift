import AVIF
import ImageModel
import StageContract
import Vips

/// AVIF, by libavif and libaom: of planes where they lie, or of pixels.
struct AVIFFormatEncoder: FormatEncoder {
    let format = ImageFormat.avif

    func encode(
        _ lane: PlanarLane, _ order: EncodingOrder, to writer: BlockWriter<some OutputSpace>
    ) throws {
        let chroma = lane.isGrey ? .grey : chroma(order)
        let step = chroma == .yuv420 ? 2 : 1
        let planes = try lane.planes(coloursEvery: PixelSize(width: step, height: step))
        try withExtendedLifetime(planes) { () throws(AVIFError) in
            try AVIFEncoder.encode(
                planes: planes.map { AVIFSource(memory: $0.bytes, stride: $0.stride) },
                as: encoding(lane.plan.size, chroma, order), to: { writer.append($0) },
                isCancelled: { order.cancellation.isCancelled })
        }
    }

    func encode(
        _ image: VipsImage, _ order: EncodingOrder, to writer: BlockWriter<some OutputSpace>
    ) throws -> Bool {
        let coloured = try image.coloured()
        let header = coloured.header
        let size = PixelSize(width: header.width, height: header.height)
        let encoding = encoding(size, chroma(order), order)
        return try coloured.withPixels { pixels throws(VipsError) in
            Result { () throws(AVIFError) in
                try AVIFEncoder.encode(
                    pixels: AVIFSource(
                        memory: pixels,
                        stride: header.width * header.bands * header.bytesPerBand),
                    bands: header.bands, as: encoding, to: { writer.append($0) },
                    isCancelled: { order.cancellation.isCancelled })
            }
        }.get()
    }

    /// As of a JPEG: half of the colours suffices below quality 90.
    private func chroma(_ order: EncodingOrder) -> AVIFEncoding.Chroma {
        switch order.options.subsampling {
        case .auto: order.quality < 90 ? .yuv420 : .yuv444
        case .yuv420: .yuv420
        case .yuv444: .yuv444
        }
    }

    private func encoding(
        _ size: PixelSize, _ chroma: AVIFEncoding.Chroma, _ order: EncodingOrder
    ) -> AVIFEncoding {
        var encoding = AVIFEncoding(
            width: size.width, height: size.height, chroma: chroma, quality: order.quality,
            alphaQuality: order.options.alphaQuality,
            speed: AVIFEncoding.speedMax - order.effort(format),
            isLossless: order.options.isWithoutLoss)
        encoding.depth = order.samples.bits
        encoding.colours = order.samples.hdr.map { hdr in
            AVIFEncoding.Colours(
                primaries: hdr.primaries.rawValue, transfer: hdr.transfer.rawValue)
        }
        encoding.profile = order.enclosed.profile
        encoding.exif = order.enclosed.exif
        encoding.xmp = order.enclosed.xmp
        return encoding
    }
}
