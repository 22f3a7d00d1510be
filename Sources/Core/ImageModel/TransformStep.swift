/// One step of a transformation; the steps of a request run in the order given.
public enum TransformStep: Hashable, Sendable {
    /// Scale to a box in pixels.
    case resize(PixelSize, ResizeMode)
    /// Cut a rectangle out; it is intersected with the image first.
    case crop(PixelRect)
    /// Turn about the centre.
    case rotate(Rotation)
    /// Mirror left to right, top to bottom, or both.
    case flip(horizontal: Bool, vertical: Bool)
    /// Lay another picture over it.
    case overlay(Overlay)
}

extension TransformStep {
    /// SDWebImage's transformer key (SEMANTICS §4.5); `fit`, which upstream does not have,
    /// has a name of its own, as has an overlay, which keys know by the name of its original
    /// (`CacheKey`).
    public var key: String {
        switch self {
        case .resize(let box, .fit):
            "ImagebusFitTransformer({\(six(box.width)),\(six(box.height))})"
        case .resize(let box, let mode):
            "SDImageResizingTransformer({\(six(box.width)),\(six(box.height))},\(mode.rawValue))"
        case .crop(let rect):
            "SDImageCroppingTransformer({\(six(rect.x)),\(six(rect.y)),"
                + "\(six(rect.size.width)),\(six(rect.size.height))})"
        case .rotate(let rotation):
            "SDImageRotationTransformer(\(decimalText(rotation.radians)),"
                + "\(rotation.fitsSize ? 1 : 0))"
        case .flip(let horizontal, let vertical):
            "SDImageFlippingTransformer(\(horizontal ? 1 : 0),\(vertical ? 1 : 0))"
        case .overlay(let overlay): overlay.key(named: overlay.url)
        }
    }

    /// The word for this step in errors and on the command line.
    public var name: String {
        switch self {
        case .resize: "resize"
        case .crop: "crop"
        case .rotate: "rotate"
        case .flip: "flip"
        case .overlay: "overlay"
        }
    }
}

private func six(_ value: Int) -> String { "\(value).000000" }
