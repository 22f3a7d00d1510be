/// A rectangle in pixels; the origin is the top left corner of the displayed image.
public struct PixelRect: Hashable, Sendable {
    /// Columns left of the rectangle.
    public var x: Int
    /// Rows above the rectangle.
    public var y: Int
    /// Its width and height.
    public var size: PixelSize

    /// Takes any numbers; `intersection` says what of them lies in an image.
    public init(x: Int, y: Int, size: PixelSize) {
        self.x = x
        self.y = y
        self.size = size
    }

    /// The part that lies inside an image of `bounds`; `nil` where nothing does
    /// (SEMANTICS §11.9: the crop is intersected with the image, an empty one fails).
    public func intersection(with bounds: PixelSize) -> PixelRect? {
        guard size.isPositive, bounds.isPositive, x < bounds.width, y < bounds.height else {
            return nil
        }
        let right = min(bounds.width, Self.end(of: x, size.width))
        let bottom = min(bounds.height, Self.end(of: y, size.height))
        let left = max(0, x)
        let top = max(0, y)
        guard right > left, bottom > top else { return nil }
        return PixelRect(
            x: left, y: top, size: PixelSize(width: right - left, height: bottom - top))
    }

    private static func end(of start: Int, _ length: Int) -> Int {
        let (end, overflow) = start.addingReportingOverflow(length)
        return overflow ? Int.max : end
    }
}
