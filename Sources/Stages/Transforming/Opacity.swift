import ImageModel
import Messages

/// Whether an alpha band says anything. Where it does not, scaling needs no multiplication of the
/// colours by alpha, which takes several times as long as the scaling.
enum Opacity {
    /// True without an alpha band, or where it is 255 everywhere; `pixels` are as the layout says.
    static func isOpaque(_ pixels: UnsafeRawBufferPointer, _ layout: PixelLayout) -> Bool {
        let bands = Int(layout.bands.rawValue)
        guard layout.bands == .rgba || layout.bands == .greyAlpha else { return true }
        return (0..<layout.size.height).allSatisfy { row in
            let start = row * layout.stride + bands - 1
            var common: UInt8 = 255
            for column in 0..<layout.size.width { common &= pixels[start + column * bands] }
            return common == 255
        }
    }
}
