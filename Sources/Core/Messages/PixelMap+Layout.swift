import ImageModel

extension EncodedImage {
    /// How the pixels of a PAM lie behind its header, which has as many bytes in each
    /// (`PixelMapHeader`): so the number of all bytes says how many samples a pixel has. `nil` for
    /// other formats, and where it is none that the size and the alpha channel leave.
    package var pixelMap: PixelLayout? {
        guard info.format == .pam, let area = info.size.area, area > 0,
            let length = Int(exactly: reference.length), length > PixelMapHeader.byteCount
        else { return nil }
        let (count, rest) = (length - PixelMapHeader.byteCount).quotientAndRemainder(
            dividingBy: area)
        guard rest == 0, let bands = UInt8(exactly: count).flatMap(PixelPlane.Bands.init),
            bands.hasAlpha == info.hasAlpha
        else { return nil }
        let plane = PixelPlane(
            bands: bands, offset: PixelMapHeader.byteCount, size: info.size,
            stride: info.size.width * count)
        return PixelLayout(planes: [plane], orientation: .upright)
    }
}

extension PixelPlane.Bands {
    fileprivate var hasAlpha: Bool { self == .greyAlpha || self == .rgba }
}
