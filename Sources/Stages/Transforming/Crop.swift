import ImageModel
import Vips

/// Cuts a rectangle out; the part of it that lies outside the image is left out.
struct Crop: PictureStep {
    let rect: PixelRect

    var name: String { "crop" }

    func size(for picture: Picture) throws(ImageError) -> PixelSize {
        guard let part = rect.intersection(with: picture.size) else {
            throw .step(name, "nothing of the image of \(picture.size) lies in the rectangle")
        }
        return part.size
    }

    func apply(to picture: Picture) throws(VipsError) -> Picture {
        let settled = try picture.settled()
        guard let part = rect.intersection(with: settled.size) else { return settled }
        let image = try settled.image.extracted(
            left: part.x, top: part.y, width: part.size.width, height: part.size.height)
        return settled.replaced(by: image)
    }
}
