import ImageModel
import Vips

/// Any colours to sRGB, or to grey where the source is grey, of 8 bits; or of 16, or as they are,
/// where samples are to be such.
struct ColourConversion {
    let source: SourceImage
    let samples: SampleForm

    private var header: VipsHeader { source.header }
    private var needsProfile: Bool { source.needsProfile }

    init(_ source: SourceImage, to samples: SampleForm) {
        (self.source, self.samples) = (source, samples)
    }

    func apply(to image: VipsImage) throws(VipsError) -> VipsImage {
        try checkSamples()
        if samples.hdr == nil, let hdr = source.hdr {
            return try image.convertedToSRGB(
                of: hdr.conversion, whole: source.whole, isDeep: samples.isDeep)
        }
        let coloured = try samples.isDeep ? deepened(image) : converted(image)
        let isColour = ![.grey, .grey16].contains(header.colour)
        // What follows alpha are masks and spot colours, which are for print.
        return isColour && coloured.header.bands > 4 ? try coloured.firstBands(4) : coloured
    }

    private func converted(_ image: VipsImage) throws(VipsError) -> VipsImage {
        let byProfile = needsProfile ? convertedByProfile(image) : nil
        switch header.colour {
        case .grey where byProfile == nil, .rgb where byProfile == nil: return image
        case .grey, .grey16: return try (byProfile ?? image).convertedToGrey()
        case .rgb, .rgb16, .cmyk, .other: return try (byProfile ?? image).convertedToSRGB()
        }
    }

    /// Samples of more than 8 bits in 16.
    private func deepened(_ image: VipsImage) throws(VipsError) -> VipsImage {
        let whole = 65_535
        let wide = source.whole == whole ? image : try image.widened(whole: source.whole)
        guard samples.hdr == nil, needsProfile else { return wide }
        let coloured = convertedByProfile(wide) ?? wide
        return header.colour == .grey16 ? try coloured.convertedToGrey(isDeep: true) : coloured
    }

    /// Nil where the profile is damaged: the image is then shown as if it had none, as in browsers.
    private func convertedByProfile(_ image: VipsImage) -> VipsImage? {
        guard let profile = source.profile else { return nil }
        let isDeep = image.header.bytesPerBand == 2
        let isGreyAsRGB = image.header.bands < 3 && profile.space == .rgb
        return try? (isGreyAsRGB ? image.convertedToSRGB(isDeep: isDeep) : image)
            .enclosing(profile: profile.bytes, xmp: [])
            .convertedToSRGBByProfile(isPerceptual: profile.isPerceptualOnly)
    }

    /// Numbers with a fraction are known where their colours say what 1 is; of those with a sign,
    /// and of more than 16 bits, a file does not say which is black and which is white.
    private func checkSamples() throws(VipsError) {
        switch header.samples {
        case .whole: return
        case .real where header.colour == .other: return
        case .real, .other:
            throw VipsError(
                kind: .unsupported, operation: "decode",
                text: "samples with a sign, a fraction or more than 16 bits")
        }
    }
}
