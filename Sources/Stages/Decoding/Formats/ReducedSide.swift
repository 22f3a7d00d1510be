/// Columns, or rows, of an image that the decoder made smaller: how many there are, and how many of
/// them are image.
///
/// Of a JPEG libvips gives the whole columns only: of 2725 reduced by 4 these are 681, though the
/// image is 681.25 wide. Ignoring the quarter costs 4 dB. Every other decoder maps
/// the whole side to whole columns.
struct ReducedSide: Equatable {
    /// Columns of the result.
    let count: Int
    /// Columns of the result that are image, counted from the first.
    let active: Double
    /// Columns to add in front of what the decoder made, by repeating the first.
    let before: Int

    /// All of the image is in `count` columns.
    init(count: Int) {
        self.init(count: count, active: Double(count), before: 0)
    }

    /// What is left of a JPEG.
    ///
    /// - Parameters:
    ///   - stored: columns of the source.
    ///   - reduction: by how much the decoder made fewer.
    ///   - made: columns that it made.
    ///   - isMirrored: the result counts them from the other end.
    init(stored: Int, reduction: Int, made: Int, isMirrored: Bool) {
        let exact = Double(stored) / Double(reduction)
        guard Double(made) < exact else {
            self.init(count: made)
            return
        }
        guard isMirrored else {
            // The part of a column that is missing becomes a repeated one, partly active.
            self.init(count: made + 1, active: exact, before: 0)
            return
        }
        // Now it is missing in front, where a layout knows no fractions: the nearest whole number
        // of columns stands for the exact one, at most half a column off at one edge.
        let missing = exact - Double(made) < 0.5 ? 0 : 1
        self.init(count: made + missing, active: Double(made + missing), before: missing)
    }

    private init(count: Int, active: Double, before: Int) {
        (self.count, self.active, self.before) = (count, active, before)
    }
}
