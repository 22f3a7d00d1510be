import ImageModel
import Messages

/// Whether an alpha band says anything. Where it does not, scaling needs no multiplication of the
/// colours by alpha, which takes several times as long as the scaling.
enum Opacity {
    /// True without an alpha band, or where it is 1 everywhere; `pixels` are those of the plane.
    static func isOpaque(
        _ pixels: UnsafeRawBufferPointer, _ plane: PixelPlane, isDeep: Bool
    ) -> Bool {
        let bands = Int(plane.bands.rawValue)
        guard plane.bands == .rgba || plane.bands == .greyAlpha else { return true }
        if isDeep { return isOpaque(deep: pixels, plane, bands) }
        return (0..<plane.size.height).allSatisfy { row in
            let start = row * plane.stride + bands - 1
            var common: UInt8 = 255
            for column in 0..<plane.size.width { common &= pixels[start + column * bands] }
            return common == 255
        }
    }

    /// The same of samples of 16 bits.
    private static func isOpaque(
        deep pixels: UnsafeRawBufferPointer, _ plane: PixelPlane, _ bands: Int
    ) -> Bool {
        (0..<plane.size.height).allSatisfy { row in
            let start = row * plane.stride + 2 * (bands - 1)
            var common = UInt16.max
            for column in 0..<plane.size.width {
                common &= pixels.load(fromByteOffset: start + 2 * column * bands, as: UInt16.self)
            }
            return common == .max
        }
    }
}
