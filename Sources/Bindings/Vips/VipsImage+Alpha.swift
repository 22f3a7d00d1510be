internal import CVipsShims

extension VipsImage {
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
