internal import CVipsShims

extension VipsImage {
    /// Each colour as a sum of the three of sRGB, or grey as one; an alpha band stays.
    ///
    /// - Parameter rows: three factors each; three rows, or one for grey.
    public func mixed(_ rows: [[Double]]) throws(VipsError) -> VipsImage {
        let factors = rows.flatMap(\.self)
        return try derive("recomb") { cvips_mix($0, factors, CInt(rows.count), $1) }
    }

    /// Each sample of a colour by a table of 256; an alpha band stays.
    public func mapped(_ curve: [UInt8]) throws(VipsError) -> VipsImage {
        precondition(curve.count == 256)
        return try derive("maplut") { cvips_map($0, curve, $1) }
    }

    /// Blurred by a Gaussian, the edge pixels repeated. The pixels must be in memory already, as
    /// for all that follows.
    public func blurred(sigma: Double) throws(VipsError) -> VipsImage {
        try derive("gaussblur") { cvips_blur($0, sigma, $1) }
    }

    /// Twice the image without what a blur of it shows.
    public func sharpened(sigma: Double) throws(VipsError) -> VipsImage {
        try derive("unsharp") { cvips_unsharp($0, sigma, $1) }
    }

    /// Squares of one colour, from the top left corner on, the edge pixels repeated.
    public func pixelated(side: Int) throws(VipsError) -> VipsImage {
        try derive("shrink") { cvips_pixelate($0, CInt(side), $1) }
    }

    /// Turned counter-clockwise about its centre onto the centre of a transparent canvas; the
    /// image has an alpha band.
    public func turned(
        radians: Double, width: Int, height: Int
    ) throws(VipsError) -> VipsImage {
        try derive("affine") { cvips_turn($0, radians, CInt(width), CInt(height), $1) }
    }

    /// The part of that size, at most that of the image, which is most striking.
    ///
    /// - Parameter byEntropy: which shows most instead.
    public func smartCropped(
        width: Int, height: Int, byEntropy: Bool
    ) throws(VipsError) -> VipsImage {
        try derive("smartcrop") {
            cvips_smart_crop($0, CInt(width), CInt(height), byEntropy ? 1 : 0, $1)
        }
    }
}
