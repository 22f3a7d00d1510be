/// The sizes of one resize.
public struct ResizeGeometry: Hashable, Sendable {
    /// What the whole image is scaled to.
    public let scaled: PixelSize
    /// What comes out: `scaled`, or the box where the mode cuts (`fill`) or pads (`letterbox`).
    public let output: PixelSize

    /// Rounds half up and never below one pixel. `source` and `box` must be positive and at most
    /// 2³¹ − 1 a side, but one side of the box may be 0: it is open.
    ///
    /// - Parameter enlarges: whether a smaller image becomes larger; as the mode does unless said.
    public init(source: PixelSize, box: PixelSize, mode: ResizeMode, enlarges: Bool? = nil) {
        let box = mode.isTurned(source, box) ? box.transposed : box
        let wanted = Self.scaled(source, box, mode)
        let isLarger = wanted.width > source.width || wanted.height > source.height
        if !isLarger || enlarges ?? mode.enlarges {
            scaled = wanted
        } else {
            scaled = Self.unenlarged(wanted, source, box, mode)
        }
        switch mode {
        case .letterbox where box.isPositive: output = box
        case .fill where box.isPositive: output = scaled.part(of: box)
        default: output = scaled
        }
    }

    /// Of what would be larger than the image.
    private static func unenlarged(
        _ wanted: PixelSize, _ source: PixelSize, _ box: PixelSize, _ mode: ResizeMode
    ) -> PixelSize {
        switch mode {
        case .stretch where box.isPositive: wanted.part(of: source)
        case .reshape where box.isPositive: inside(source, box)
        default: source
        }
    }

    /// Without a limit.
    private static func scaled(
        _ source: PixelSize, _ box: PixelSize, _ mode: ResizeMode
    ) -> PixelSize {
        if box.height == 0 { return PixelSize(width: box.width, height: height(box, source)) }
        if box.width == 0 { return PixelSize(width: width(box, source), height: box.height) }
        return switch mode {
        case .stretch, .reshape: box
        case .fit, .letterbox, .fitTurned: inside(box, source)
        case .fill, .cover, .coverTurned: around(box, source)
        case .auto: box.isWide == source.isWide ? around(box, source) : inside(box, source)
        }
    }

    /// The largest size of the source's ratio that lies in the box: one side is the box's.
    private static func inside(_ box: PixelSize, _ source: PixelSize) -> PixelSize {
        widthBinds(box, source)
            ? PixelSize(width: box.width, height: min(box.height, height(box, source)))
            : PixelSize(width: min(box.width, width(box, source)), height: box.height)
    }

    /// The smallest size of the source's ratio that covers the box.
    private static func around(_ box: PixelSize, _ source: PixelSize) -> PixelSize {
        widthBinds(box, source)
            ? PixelSize(width: max(box.width, width(box, source)), height: box.height)
            : PixelSize(width: box.width, height: max(box.height, height(box, source)))
    }

    /// Whether the source is wider than the box for its height.
    private static func widthBinds(_ box: PixelSize, _ source: PixelSize) -> Bool {
        source.width * box.height >= source.height * box.width
    }

    private static func width(_ box: PixelSize, _ source: PixelSize) -> Int {
        rounded(source.width * box.height, over: source.height)
    }

    private static func height(_ box: PixelSize, _ source: PixelSize) -> Int {
        rounded(source.height * box.width, over: source.width)
    }

    /// In whole numbers, since a half is exactly a half then.
    private static func rounded(_ product: Int, over divisor: Int) -> Int {
        max(1, (product + divisor / 2) / divisor)
    }
}

extension ResizeMode {
    /// Whether it turns that box for that image. What is as wide as high is never turned.
    fileprivate func isTurned(_ source: PixelSize, _ box: PixelSize) -> Bool {
        guard self == .fitTurned || self == .coverTurned, box.isPositive else { return false }
        return (source.width < source.height && box.width > box.height)
            || (source.width > source.height && box.width < box.height)
    }
}

extension PixelSize {
    /// Whether it is at least as wide as high.
    fileprivate var isWide: Bool { width >= height }
}
