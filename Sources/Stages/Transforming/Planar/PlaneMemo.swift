import ImageModel

/// Planes of a lane that were rendered, for an image that is encoded more than once.
final class PlaneMemo {
    struct Key: Hashable {
        /// Of the planes of the source.
        let index: Int
        /// Columns and rows of the result for which it has one sample.
        let every: PixelSize
    }

    /// In full range.
    var planes: [Key: Plane] = [:]
    /// Those of all, in limited range, which one format alone asks for, always alike.
    var limited: [Plane]?
}
