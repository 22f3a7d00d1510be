internal import CVipsShims

extension VipsImage {
    /// sRGB of 8 bits, or of 16 where it is to be deep, by what the header says of the colours; an
    /// embedded profile is ignored. An alpha band stays.
    public func convertedToSRGB(isDeep: Bool = false) throws(VipsError) -> VipsImage {
        try derive("colourspace") { cvips_to_srgb($0, isDeep ? 1 : 0, $1) }
    }

    /// Grey with the tone curve of sRGB; as `convertedToSRGB`.
    public func convertedToGrey(isDeep: Bool = false) throws(VipsError) -> VipsImage {
        try derive("colourspace") { cvips_to_grey($0, isDeep ? 1 : 0, $1) }
    }

    /// The first `count` of its bands.
    public func firstBands(_ count: Int) throws(VipsError) -> VipsImage {
        try derive("extract_band") { cvips_first_bands($0, CInt(count), $1) }
    }

    /// sRGB by the embedded profile, in as many bits (8 or 16) as this image has. An alpha band
    /// stays. If there is no profile, or it lacks the intent, libvips takes one of its own: sRGB,
    /// or a general one for CMYK.
    ///
    /// - Parameter isPerceptual: whether the intent is perceptual, instead of relative
    ///   colorimetric.
    /// - Throws: `internal` if libvips has no profile for these colors.
    public func convertedToSRGBByProfile(
        isPerceptual: Bool = false
    ) throws(VipsError) -> VipsImage {
        try derive("icc_transform") { cvips_profile_to_srgb($0, isPerceptual ? 1 : 0, $1) }
    }

    /// Red, green and blue of three bands of 8 bits that are Y, Cb and Cr as in JFIF, whatever the
    /// header says.
    public func convertedFromYCbCr() throws(VipsError) -> VipsImage {
        try derive("recomb") { cvips_ycbcr_to_srgb($0, $1) }
    }
}
