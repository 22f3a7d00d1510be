import ImageModel

/// What steps do to an image, as one resampling: the part of the stored image that is taken, how
/// that is turned, and how large it becomes. Pure.
struct PlanarPlan: Equatable {
    /// The part of the stored image, in fractions of its sides.
    private(set) var part = ActiveRegion.whole
    /// What displays it.
    private(set) var orientation: Orientation
    /// The displayed size.
    private(set) var size: PixelSize
    /// The part of the stored image whose pixels may be looked at, in fractions of its sides:
    /// what was cut off before it was scaled does not show at the edges.
    private(set) var bounds = ActiveRegion.whole
    /// Only brightness is left.
    private(set) var isGrey = false
    private var isScaled = false

    /// Nothing done yet.
    ///
    /// - Parameter size: as displayed, before any reduction.
    init(size: PixelSize, orientation: Orientation) {
        self.size = size
        self.orientation = orientation
    }

    /// The size of a plane with one sample for so many columns and rows of the result.
    func size(every step: PixelSize) -> PixelSize {
        PixelSize(
            width: (size.width + step.width - 1) / step.width,
            height: (size.height + step.height - 1) / step.height)
    }

    /// Takes so many pixels of the displayed image; the rectangle lies in it.
    mutating func crop(_ rect: PixelRect) {
        let (width, height) = (Double(size.width), Double(size.height))
        let taken = ActiveRegion(
            left: Double(rect.x) / width, top: Double(rect.y) / height,
            width: Double(rect.size.width) / width, height: Double(rect.size.height) / height)
        part = part.part(taken.stored(orientation))
        if !isScaled { bounds = part }
        size = rect.size
    }

    /// Scales; false where it was scaled before, since two resamplings are not one.
    mutating func scale(to target: PixelSize) -> Bool {
        guard target != size else { return true }
        guard !isScaled else { return false }
        isScaled = true
        size = target
        return true
    }

    /// Leaves brightness.
    mutating func dropColours() { isGrey = true }

    /// Mirrors the displayed image.
    mutating func flip(horizontally: Bool, vertically: Bool) {
        orientation = orientation.flipped(horizontally: horizontally, vertically: vertically)
    }

    /// Turns the displayed image clockwise.
    mutating func turn(quarters: Int) {
        orientation = orientation.turned(quarters: quarters)
        if quarters % 2 == 1 { size = size.transposed }
    }
}
