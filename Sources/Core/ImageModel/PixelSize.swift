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

extension PixelSize {
    /// `512x418`: two whole numbers from 1 to `RequestLimits.sideMax`; `nil` for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false)
            .map { PlainNumber.integer($0) }
        let sides = 1...RequestLimits.sideMax
        guard parts.count == 2, let width = parts[0], let height = parts[1],
            sides.contains(width), sides.contains(height)
        else { return nil }
        self.init(width: width, height: height)
    }

    /// The box of a resize: the same, or `512x` and `x418`, of which the side that is left out is
    /// open: 0.
    public init?(box text: String) {
        if text.utf8.last == UInt8(ascii: "x") {
            self.init("\(text)1")
            height = 0
        } else if text.utf8.first == UInt8(ascii: "x") {
            self.init("1\(text)")
            width = 0
        } else {
            self.init(text)
        }
    }
}

extension PixelRect {
    /// `10,20,300,200`: left, top, width, height; `nil` for anything else.
    public init?(_ text: String) {
        let texts = text.split(separator: ",", omittingEmptySubsequences: false)
        let parts = texts.compactMap { PlainNumber.integer($0) }
        let places = -RequestLimits.sideMax...RequestLimits.sideMax
        guard texts.count == 4, parts.count == 4, parts.allSatisfy(places.contains),
            parts[2] > 0, parts[3] > 0
        else { return nil }
        self.init(x: parts[0], y: parts[1], size: PixelSize(width: parts[2], height: parts[3]))
    }
}

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

/// A width and a height, each in pixels or as a part of an image.
public struct RelativeSize: Hashable, Sendable {
    /// One of the two.
    public enum Side: Hashable, Sendable {
        /// So many pixels.
        case pixels(Int)
        /// So many hundredths of the side of the image.
        case percent(Double)
    }

    /// Columns.
    public let width: Side
    /// Rows.
    public let height: Side

    /// Takes any numbers; those of no size are refused with the request.
    public init(width: Side, height: Side) {
        (self.width, self.height) = (width, height)
    }

    /// `300x200`, `50%x100%` or `300x50%`; `nil` for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false)
            .map { Side($0) }
        guard parts.count == 2, let width = parts[0], let height = parts[1] else { return nil }
        self.init(width: width, height: height)
    }

    /// Where it says both in pixels.
    var pixels: PixelSize? {
        guard case .pixels(let columns) = width, case .pixels(let rows) = height else { return nil }
        return PixelSize(width: columns, height: rows)
    }

    var isPermitted: Bool { width.isPermitted && height.isPermitted }

    /// In pixels of an image, at least one and at most all.
    package func resolved(in source: PixelSize) -> PixelSize {
        PixelSize(
            width: width.resolved(in: source.width), height: height.resolved(in: source.height))
    }
}

extension RelativeSize: CustomStringConvertible {
    /// What `init` takes.
    public var description: String { "\(width.text)x\(height.text)" }
}

extension RelativeSize.Side {
    init?(_ text: Substring) {
        if text.utf8.last == UInt8(ascii: "%") {
            guard let number = PlainNumber.decimal(String(text.dropLast())) else { return nil }
            self = .percent(number)
        } else {
            guard let number = PlainNumber.integer(text) else { return nil }
            self = .pixels(number)
        }
    }

    var text: String {
        switch self {
        case .pixels(let count): "\(count)"
        case .percent(let number): "\(number)%"
        }
    }

    var isPermitted: Bool {
        switch self {
        case .pixels(let count): (1...RequestLimits.sideMax).contains(count)
        case .percent(let number): number > 0 && number <= 100
        }
    }

    func resolved(in side: Int) -> Int {
        switch self {
        case .pixels(let count): max(1, min(count, side))
        case .percent(let number):
            isPermitted ? max(1, Int((Double(side) * number / 100).rounded())) : side
        }
    }
}

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
