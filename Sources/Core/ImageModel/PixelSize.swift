/// A width and a height in pixels, in the displayed orientation.
public struct PixelSize: Hashable, Sendable {
    /// Columns.
    public var width: Int
    /// Rows.
    public var height: Int

    /// Takes any numbers; whether they are positive is for the user of the size to check.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Both sides are at least one pixel.
    public var isPositive: Bool { width > 0 && height > 0 }

    /// Width times height; `nil` where that overflows.
    public var area: Int? {
        let (product, overflow) = width.multipliedReportingOverflow(by: height)
        return overflow ? nil : product
    }

    /// As large as it is, but no side longer than that of another size.
    func part(of other: PixelSize) -> PixelSize {
        PixelSize(width: min(width, other.width), height: min(height, other.height))
    }

    /// Of a box with an open side (0): as long as the other one.
    var closed: PixelSize {
        PixelSize(width: width == 0 ? height : width, height: height == 0 ? width : height)
    }

    /// The size after a quarter turn.
    public var transposed: PixelSize { PixelSize(width: height, height: width) }
}

extension PixelSize: CustomStringConvertible {
    /// `512x418`
    public var description: String { "\(width)x\(height)" }
}
