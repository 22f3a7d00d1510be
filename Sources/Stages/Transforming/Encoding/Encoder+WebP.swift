import ImageModel
import StageContract
import Vips
import WebP

extension Encoder {
    /// A WebP of the lane's planes, in the range and with the colours that it stores.
    func encodeWebP(_ lane: PlanarLane, to writer: BlockWriter<some OutputSpace>) throws {
        let planes = try lane.limitedPlanes(coloursEvery: PixelSize(width: 2, height: 2))
        try withExtendedLifetime(planes) { () throws(WebPError) in
            try WebPEncoder.encode(
                planes: planes.map { WebPSource(memory: $0.bytes, stride: $0.stride) },
                as: encoding(lane.plan.size), to: { writer.append($0) },
                isCancelled: { cancellation.isCancelled })
        }
    }

    /// A WebP of pixels.
    func encodeWebP(_ image: VipsImage, to writer: BlockWriter<some OutputSpace>) throws {
        let coloured = image.header.bands < 3 ? try image.convertedToSRGB() : image
        let header = coloured.header
        let encoding = encoding(PixelSize(width: header.width, height: header.height))
        try coloured.withPixels { pixels throws(VipsError) in
            Result { () throws(WebPError) in
                try WebPEncoder.encode(
                    pixels: WebPSource(memory: pixels, stride: header.width * header.bands),
                    bands: header.bands, as: encoding, to: { writer.append($0) },
                    isCancelled: { cancellation.isCancelled })
            }
        }.get()
    }

    private func encoding(_ size: PixelSize) -> WebPEncoding {
        WebPEncoding(
            width: size.width, height: size.height, quality: quality, isLossless: options.lossless)
    }
}
