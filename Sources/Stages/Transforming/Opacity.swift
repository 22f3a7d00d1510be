import ImageModel
import Messages

/// Whether an alpha band says anything. Where it does not, scaling needs no multiplication of the
/// colours by alpha, which takes several times as long as the scaling.
enum Opacity {
    /// True without an alpha band, or where it is 255 everywhere; `pixels` are those of the plane.
    static func isOpaque(_ pixels: UnsafeRawBufferPointer, _ plane: PixelPlane) -> Bool {
        let bands = Int(plane.bands.rawValue)
        guard plane.bands == .rgba || plane.bands == .greyAlpha else { return true }
        return (0..<plane.size.height).allSatisfy { row in
            let start = row * plane.stride + bands - 1
            var common: UInt8 = 255
            for column in 0..<plane.size.width { common &= pixels[start + column * bands] }
            return common == 255
        }
    }
}
