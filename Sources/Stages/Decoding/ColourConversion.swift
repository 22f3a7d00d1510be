import Vips

/// Any colours to 8-bit sRGB, or to 8-bit grey where the source is grey.
struct ColourConversion {
    let header: VipsHeader
    let needsProfile: Bool

    init(_ source: SourceImage) { (header, needsProfile) = (source.header, source.needsProfile) }

    func apply(to image: VipsImage) throws(VipsError) -> VipsImage {
        let converted = needsProfile ? byProfile(image) : nil
        switch header.colour {
        case .grey where converted == nil, .rgb where converted == nil: return image
        case .grey, .grey16: return try (converted ?? image).convertedToGrey()
        case .rgb, .rgb16, .cmyk, .other: return try (converted ?? image).convertedToSRGB()
        }
    }

    /// Nil where the profile is broken or made for other colours: then it is as if there were none,
    /// which is what browsers do.
    private func byProfile(_ image: VipsImage) -> VipsImage? {
        try? image.convertedToSRGBByProfile()
    }
}
