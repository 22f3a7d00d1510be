internal import CVipsShims

extension VipsImage {
    /// Colours multiplied by alpha, as floating-point numbers: what must be done before pixels are
    /// mixed, lest the colour of transparent ones shows.
    public func premultiplied() throws(VipsError) -> VipsImage {
        try derive("premultiply") { cvips_premultiply($0, $1) }
    }

    /// Undoes `premultiplied`; still floating-point numbers.
    public func unpremultiplied() throws(VipsError) -> VipsImage {
        try derive("unpremultiply") { cvips_unpremultiply($0, $1) }
    }

    /// Without alpha, on an opaque background; components are 0 to 255, of which a grey image
    /// takes the first.
    public func flattened(
        red: Double, green: Double, blue: Double
    ) throws(VipsError) -> VipsImage {
        try derive("flatten") { cvips_flatten($0, red, green, blue, $1) }
    }

    /// With an opaque alpha band.
    public func withAlpha() throws(VipsError) -> VipsImage {
        try derive("addalpha") { cvips_add_alpha($0, $1) }
    }
}
