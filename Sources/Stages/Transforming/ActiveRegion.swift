import ImageModel

/// The part of an image that is image, from its top left corner: in pixels, or in fractions of
/// the sides.
struct ActiveRegion: Equatable {
    var left = 0.0
    var top = 0.0
    var width: Double
    var height: Double

    /// All of an image, in fractions of its sides.
    static let whole = ActiveRegion(width: 1, height: 1)

    /// The part of this region that `inner` is, in fractions of its sides.
    func part(_ inner: ActiveRegion) -> ActiveRegion {
        ActiveRegion(
            left: left + inner.left * width, top: top + inner.top * height,
            width: inner.width * width, height: inner.height * height)
    }

    /// Where this part of a displayed image is stored, both in fractions.
    func stored(_ orientation: Orientation) -> ActiveRegion {
        let across = orientation.mirrorsHorizontally ? 1 - left - width : left
        let down = orientation.mirrorsVertically ? 1 - top - height : top
        guard orientation.transposes else {
            return ActiveRegion(left: across, top: down, width: width, height: height)
        }
        return ActiveRegion(left: down, top: across, width: height, height: width)
    }
}
