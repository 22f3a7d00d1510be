/// The shape of an image: so wide for so high.
public struct AspectRatio: Hashable, Sendable {
    /// Parts across.
    public let width: Int
    /// Parts down.
    public let height: Int

    /// Takes any numbers; others than 1 to `RequestLimits.sideMax` are refused with the request.
    public init(width: Int, height: Int) { (self.width, self.height) = (width, height) }

    /// That of a size.
    public init(of size: PixelSize) { self.init(width: size.width, height: size.height) }

    /// `16:9`; `nil` for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            .map { PlainNumber.integer($0) }
        guard parts.count == 2, let width = parts[0], let height = parts[1] else { return nil }
        self.init(width: width, height: height)
    }

    var isPermitted: Bool {
        let parts = 1...RequestLimits.sideMax
        return parts.contains(width) && parts.contains(height)
    }

    /// The largest size of this ratio that lies in an image; one pixel at least.
    package func largest(in image: PixelSize) -> PixelSize {
        let (rows, columns) = (image.width * height, image.height * width)
        return rows >= columns
            ? PixelSize(width: min(image.width, Self.over(columns, height)), height: image.height)
            : PixelSize(width: image.width, height: min(image.height, Self.over(rows, width)))
    }

    /// The smallest size of this ratio in which an image lies.
    package func smallest(around image: PixelSize) -> PixelSize {
        let (rows, columns) = (image.width * height, image.height * width)
        return rows >= columns
            ? PixelSize(width: image.width, height: max(image.height, Self.over(rows, width)))
            : PixelSize(width: max(image.width, Self.over(columns, height)), height: image.height)
    }

    /// Half a pixel is rounded up.
    private static func over(_ product: Int, _ divisor: Int) -> Int {
        max(1, (product + divisor / 2) / divisor)
    }
}

extension AspectRatio: CustomStringConvertible {
    /// What `init` takes.
    public var description: String { "\(width):\(height)" }
}
