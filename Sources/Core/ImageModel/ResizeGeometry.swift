/// The sizes of one resize.
public struct ResizeGeometry: Hashable, Sendable {
    /// What the whole image is scaled to.
    public let scaled: PixelSize
    /// What comes out: `scaled`, or the box where the mode cuts (`fill`) or pads (`letterbox`).
    public let output: PixelSize

    /// Rounds half up and never below one pixel. `source` and `box` must be positive.
    public init(source: PixelSize, box: PixelSize, mode: ResizeMode) {
        let horizontal = Double(box.width) / Double(source.width)
        let vertical = Double(box.height) / Double(source.height)
        switch mode {
        case .stretch:
            (scaled, output) = (box, box)
        case .fit:
            scaled = Self.scale(source, by: min(horizontal, vertical, 1), within: box)
            output = scaled
        case .letterbox:
            scaled = Self.scale(source, by: min(horizontal, vertical), within: box)
            output = box
        case .fill:
            let size = Self.scale(source, by: max(horizontal, vertical), within: nil)
            scaled = PixelSize(
                width: max(size.width, box.width), height: max(size.height, box.height))
            output = box
        }
    }

    private static func scale(_ size: PixelSize, by factor: Double, within box: PixelSize?)
        -> PixelSize
    {
        func side(_ value: Int, _ limit: Int?) -> Int {
            let exact = Int((Double(value) * factor).rounded(.toNearestOrAwayFromZero))
            return max(1, min(exact, limit ?? exact))
        }
        return PixelSize(
            width: side(size.width, box?.width), height: side(size.height, box?.height))
    }
}
