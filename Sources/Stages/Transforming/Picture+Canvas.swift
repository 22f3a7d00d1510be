import ImageModel
import Vips

extension Picture {
    /// The middle part of so many pixels, at most as large as this settled picture; of an odd rest
    /// the greater half is cut off at the right and the bottom.
    func cutCentred(to target: PixelSize) throws(VipsError) -> Picture {
        guard target != size else { return self }
        let part = try image.extracted(
            left: (size.width - target.width) / 2, top: (size.height - target.height) / 2,
            width: target.width, height: target.height)
        return replaced(by: part)
    }

    /// This settled picture in the middle of a transparent canvas at least as large; of an odd rest
    /// the greater half is at the right and the bottom.
    func padCentred(to target: PixelSize) throws(VipsError) -> Picture {
        guard target != size else { return self }
        let header = image.header
        let opaque = header.hasAlpha ? image : try image.withAlpha()
        let bands = header.hasAlpha ? header.bands : header.bands + 1
        let canvas = try opaque.embedded(
            left: (target.width - size.width) / 2, top: (target.height - size.height) / 2,
            width: target.width, height: target.height,
            background: [Double](repeating: 0, count: bands))
        return replaced(by: canvas, isOpaque: false)
    }
}
