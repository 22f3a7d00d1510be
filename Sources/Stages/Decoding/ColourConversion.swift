import Vips

/// Any colours to 8-bit sRGB, or to 8-bit grey where the source is grey.
struct ColourConversion {
    let source: SourceImage

    private var header: VipsHeader { source.header }
    private var needsProfile: Bool { source.needsProfile }

    init(_ source: SourceImage) { self.source = source }

    func apply(to image: VipsImage) throws(VipsError) -> VipsImage {
        try checkSamples()
        if let hdr = source.hdr {
            return try image.convertedToSRGB(
                of: hdr.conversion, whole: source.whole, isDeep: false)
        }
        let coloured = try converted(image)
        let isColour = ![.grey, .grey16].contains(header.colour)
        // What follows alpha are masks and spot colours, which are for print.
        return isColour && coloured.header.bands > 4 ? try coloured.firstBands(4) : coloured
    }

    /// Lab and colours in real numbers mean the same whatever device a profile is of.
    private func converted(_ image: VipsImage) throws(VipsError) -> VipsImage {
        let byProfile = needsProfile && header.colour != .other ? convertedByProfile(image) : nil
        switch header.colour {
        case .grey where byProfile == nil, .rgb where byProfile == nil: return image
        case .grey, .grey16: return try (byProfile ?? image).convertedToGrey()
        case .rgb, .rgb16, .cmyk, .other: return try (byProfile ?? image).convertedToSRGB()
        }
    }

    /// Nil where the profile is broken or made for other colours: then it is as if there were none,
    /// which is what browsers do.
    private func convertedByProfile(_ image: VipsImage) -> VipsImage? {
        try? image.convertedToSRGBByProfile()
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
