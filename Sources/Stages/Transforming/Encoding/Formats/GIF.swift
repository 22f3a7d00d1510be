import ImageModel
import StageContract
import Vips

/// GIF, by libvips: one frame of at most 256 colours, in which a pixel is transparent or not.
struct GIFFormatEncoder: FormatEncoder {
    let format = ImageFormat.gif
    /// What libvips takes for opaque.
    private let leastOfOpaque: UInt8 = 128

    func estimate(_ size: PixelSize, bands: Int, _ order: EncodingOrder) -> Int {
        size.width * size.height
    }

    func encode(
        _ image: VipsImage, _ order: EncodingOrder, to writer: BlockWriter<some OutputSpace>
    ) throws -> Bool {
        // With alpha libvips writes a transparent colour, whether a pixel is of it or not.
        try image.withoutAlpha(whereAllIsAtLeast: leastOfOpaque).save(
            .gif(
                bits: bits(order.options.colours ?? 256),
                dither: Double(order.options.dither) / 100, effort: order.effort(format),
                interlaced: order.options.isProgressive)
        ) { writer.append($0) }
        return GIFBlocks.haveTransparency(writer.bytes)
    }

    /// Of the largest power of two that is no more colours.
    private func bits(_ colours: Int) -> Int {
        (1...8).last { 1 << $0 <= colours } ?? 1
    }
}
