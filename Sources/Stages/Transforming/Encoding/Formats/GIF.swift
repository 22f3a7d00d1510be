import ImageModel
import StageContract
import Vips

/// GIF, by libvips: frames of at most 256 colours each, in which a pixel is transparent or not.
struct GIFFormatEncoder: FormatEncoder {
    let format = ImageFormat.gif
    /// What libvips takes for opaque.
    private let leastOfOpaque: UInt8 = 128
    /// Once, and as many repetitions as 16 bits hold.
    private static let playsMax = 1 + Int(UInt16.max)

    func estimate(_ size: PixelSize, bands: Int, _ order: EncodingOrder) -> Int {
        size.width * size.height
    }

    func encode(
        _ image: VipsImage, _ order: EncodingOrder, to writer: BlockWriter<some OutputSpace>
    ) throws -> Bool {
        // With alpha libvips writes a transparent colour, whether a pixel is of it or not.
        try save(image.withoutAlpha(whereAllIsAtLeast: leastOfOpaque), order, to: writer)
        return GIFBlocks.haveTransparency(writer.bytes)
    }

    /// libvips takes frames as one image: they are in memory together.
    func encode(
        _ frames: StepFrames, _ order: EncodingOrder, to writer: BlockWriter<some OutputSpace>
    ) throws -> Bool {
        let rows = frames.size.height * frames.count
        guard rows <= VipsImage.sideMax else {
            throw ImageError.over(
                "sideMax", "encode",
                "\(frames.count) frames of \(frames.size) are too many rows for gif: ask for fewer")
        }
        let stack = InterleavedPixels(
            size: PixelSize(width: frames.size.width, height: rows), bands: StepFrames.bands)
        for index in 0..<frames.count {
            try frames.withPixels(of: index) { pixels in
                UnsafeMutableRawBufferPointer(
                    rebasing: stack.mutableBytes[(index * frames.byteCount)...]
                ).copyMemory(from: pixels)
            }
        }
        let image = try stack.image(order.cancellation)
            .withoutAlpha(whereAllIsAtLeast: leastOfOpaque)
        // Less than 20 ms many readers take for nothing.
        let hundredths = frames.times.durations(in: 10_000, within: 2...65_535)
        let plays = frames.times.plays(atMost: Self.playsMax)
        try save(
            image.animated(
                pageHeight: frames.size.height, delays: hundredths.map { 10 * $0 },
                plays: plays), order, to: writer)
        return image.header.hasAlpha
    }

    private func save(
        _ image: VipsImage, _ order: EncodingOrder, to writer: BlockWriter<some OutputSpace>
    ) throws(VipsError) {
        try image.save(
            .gif(
                bits: bits(order.options.colours ?? 256),
                dither: Double(order.options.dither) / 100, effort: order.effort(format),
                interlaced: order.options.isProgressive)
        ) { writer.append($0) }
    }

    /// Of the largest power of two that is no more colours.
    private func bits(_ colours: Int) -> Int {
        (1...8).last { 1 << $0 <= colours } ?? 1
    }
}
