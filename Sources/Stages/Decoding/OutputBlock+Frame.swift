import ImageModel
import Messages
import StageContract

extension OutputBlock {
    /// The frame whose pixels were written into its first `count` bytes; what is kept goes behind
    /// them, where the block has room for it.
    func frame(
        _ layout: PixelLayout, pixelBytes count: Int, with kept: KeptBytes
    ) -> DecodedImage.Frame {
        var layout = layout
        layout.enclosures = kept.write(to: bytes, from: count)
        return DecodedImage.Frame(
            reference: reference(length: count + kept.byteCount), layout: layout)
    }
}

extension OutputSpace {
    /// A frame of an animation as it is shown, in a block of its own: RGBA of the whole canvas.
    func frame(
        _ pixels: [UInt8], of canvas: PixelSize, turned orientation: Orientation = .upright,
        with kept: KeptBytes
    ) throws(ImageError) -> DecodedImage.Frame {
        let block = try reserve(pixels.count + kept.byteCount)
        UnsafeMutableRawBufferPointer(rebasing: block.bytes[..<pixels.count])
            .copyBytes(from: pixels)
        var layout = PixelLayout(bands: .rgba, size: canvas, stride: 4 * canvas.width)
        layout.orientation = orientation
        return block.frame(layout, pixelBytes: pixels.count, with: kept)
    }
}
