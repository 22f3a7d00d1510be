internal import CVipsShims

extension VipsImage {
    /// The same without its alpha band where each sample of it is `least` or more; computes all
    /// pixels. Colours stay as they are.
    ///
    /// - Throws: as `withPixels`.
    public func withoutAlpha(whereAllIsAtLeast least: UInt8) throws(VipsError) -> VipsImage {
        let bands = header.bands
        guard header.hasAlpha else { return self }
        let isOpaque = try withPixels { pixels in
            stride(from: bands - 1, to: pixels.count, by: bands).allSatisfy { pixels[$0] >= least }
        }
        return isOpaque ? try firstBands(bands - 1) : self
    }

    /// Without alpha, on an opaque background; components are 0 to 255, of which a grey image
    /// takes the first.
    public func flattened(
        red: Double, green: Double, blue: Double
    ) throws(VipsError) -> VipsImage {
        try derive("flatten") { cvips_flatten($0, red, green, blue, $1) }
    }

    /// With colours that are not multiplied by alpha, of an image whose colours are; in as many
    /// bits. The last band is alpha.
    public func unpremultiplied() throws(VipsError) -> VipsImage {
        try derive("unpremultiply") { cvips_unpremultiply($0, $1) }
    }

    /// With an opaque alpha band.
    public func withAlpha() throws(VipsError) -> VipsImage {
        try derive("addalpha") { cvips_add_alpha($0, $1) }
    }
}
