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
