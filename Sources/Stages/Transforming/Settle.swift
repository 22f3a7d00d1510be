import ImageModel
import Vips

/// The last step: what the decoder made smaller and no resize used becomes as large as it counts.
struct Settle: PictureStep {
    var name: String { "settle" }

    func size(for picture: Picture) throws(ImageError) -> PixelSize { picture.size }

    func apply(to picture: Picture) throws(VipsError) -> Picture { try picture.settled() }
}
