import ImageModel
import StageContract
import Vips
import WebP

/// WebP, by libwebp: of planes, in the range and with the colours that it stores, or of pixels.
struct WebPFormatEncoder: FormatEncoder {
    let format = ImageFormat.webp

    /// How sharp colours are is for whoever reduces them: libwebp, which has to have all of them.
    func takesPlanes(_ options: OutputOptions) -> Bool { !options.sharpensChroma }

    func encode(
        _ lane: PlanarLane, _ order: EncodingOrder, to writer: BlockWriter<some OutputSpace>
    ) throws {
        let planes = try lane.limitedPlanes(coloursEvery: PixelSize(width: 2, height: 2))
        try withExtendedLifetime(planes) { () throws(WebPError) in
            try WebPEncoder.encode(
                planes: planes.map { WebPSource(memory: $0.bytes, stride: $0.stride) },
                as: encoding(lane.plan.size, order), to: { writer.append($0) },
                isCancelled: { order.cancellation.isCancelled })
        }
    }

    func encode(
        _ image: VipsImage, _ order: EncodingOrder, to writer: BlockWriter<some OutputSpace>
    ) throws -> Bool {
        let coloured = image.header.bands < 3 ? try image.convertedToSRGB() : image
        let header = coloured.header
        let encoding = encoding(PixelSize(width: header.width, height: header.height), order)
        try coloured.withPixels { pixels throws(VipsError) in
            Result { () throws(WebPError) in
                try WebPEncoder.encode(
                    pixels: WebPSource(memory: pixels, stride: header.width * header.bands),
                    bands: header.bands, as: encoding, to: { writer.append($0) },
                    isCancelled: { order.cancellation.isCancelled })
            }
        }.get()
        return try header.hasAlpha && hasAlpha(writer.bytes)
    }

    func encode(
        _ frames: StepFrames, _ order: EncodingOrder, to writer: BlockWriter<some OutputSpace>
    ) throws -> Bool {
        let animation = try WebPAnimation(
            encoding(frames.size, order), plays: frames.times.plays(atMost: 65_535))
        let most = min(0xFF_FFFF, WebPAnimation.durationMax / frames.count)
        var start = 0
        for (index, duration) in frames.times.durations(in: 1_000, within: 1...most).enumerated() {
            try frames.withPixels(of: index) { pixels in
                try animation.add(
                    pixels, from: start, isCancelled: { order.cancellation.isCancelled })
            }
            start += duration
        }
        try animation.finish(
            at: start, to: { writer.append($0) },
            isCancelled: { order.cancellation.isCancelled })
        return try hasAlpha(writer.bytes)
    }

    /// It has no chunk for IPTC.
    func enclose(_ parts: EnclosedParts, in writer: BlockWriter<some OutputSpace>) throws {
        guard !parts.profile.isEmpty || !parts.exif.isEmpty || !parts.xmp.isEmpty else { return }
        try WebPContainer.enclose(
            profile: parts.profile, exif: parts.exif, xmp: parts.xmp, in: writer.bytes
        ) { file in
            writer.restart()
            return writer.append(file)
        }
    }

    /// The encoder leaves alpha out where every pixel is opaque.
    private func hasAlpha(_ written: UnsafeRawBufferPointer) throws(VipsError) -> Bool {
        try VipsImage.webp(written).header.hasAlpha
    }

    private func encoding(_ size: PixelSize, _ order: EncodingOrder) -> WebPEncoding {
        WebPEncoding(
            width: size.width, height: size.height, quality: order.quality,
            method: order.effort(format), isLossless: order.options.isWithoutLoss,
            nearLossless: order.options.nearLossless ?? 100,
            alphaQuality: order.options.alphaQuality,
            sharpensChroma: order.options.sharpensChroma)
    }
}
