internal import CVipsShims

extension VipsImage {
    /// Fewer columns, by Lanczos 3: `round(width / factor)` of them.
    ///
    /// libvips centres the result: where `width` is not a multiple of `factor`, it is shifted by
    /// half of `round(width / factor) × factor − width` columns of this image.
    ///
    /// - Parameters:
    ///   - factor: at least 1.
    ///   - gap: a box filter first makes the image smaller by an integer, where `factor` is at
    ///     least twice this; at least 1. 2 is libvips' default, and close to none.
    public func reducedHorizontally(
        by factor: Double, gap: Double = 2
    ) throws(VipsError) -> VipsImage {
        try derive("reduceh") { cvips_reduce_h($0, factor, gap, $1) }
    }

    /// Fewer rows, as `reducedHorizontally`.
    public func reducedVertically(
        by factor: Double, gap: Double = 2
    ) throws(VipsError) -> VipsImage {
        try derive("reducev") { cvips_reduce_v($0, factor, gap, $1) }
    }

    /// More columns and rows, bicubic, the edge pixels repeated.
    ///
    /// - Parameters:
    ///   - horizontal: at least 1, or so little less that nothing is lost: there is no low-pass.
    ///   - vertical: the same for rows.
    ///   - left: where the left edge of the result lies in this image, in fractions of a pixel.
    ///   - top: where its top edge lies.
    ///   - width: columns of the result.
    ///   - height: rows of the result.
    public func enlarged(
        horizontally horizontal: Double, vertically vertical: Double, left: Double = 0,
        top: Double = 0, width: Int, height: Int
    ) throws(VipsError) -> VipsImage {
        try derive("affine") {
            cvips_enlarge($0, horizontal, vertical, left, top, CInt(width), CInt(height), $1)
        }
    }

    /// sRGB of 8 bits with alpha in exactly so many pixels, no more than there are; colours weigh
    /// as much as they are seen.
    public func miniature(width: Int, height: Int) throws(VipsError) -> VipsImage {
        try derive("thumbnail") { cvips_miniature($0, CInt(width), CInt(height), $1) }
    }
}
