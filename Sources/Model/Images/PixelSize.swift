/// A width and a height in pixels, in display orientation.
public struct PixelSize: Hashable, Sendable {
    /// Columns.
    public var width: Int
    /// Rows.
    public var height: Int

    /// Accepts any numbers; callers check whether they are positive.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Whether both sides are at least one pixel.
    public var isPositive: Bool { width > 0 && height > 0 }

    /// Width times height; `nil` on overflow.
    public var area: Int? {
        let (product, overflow) = width.multipliedReportingOverflow(by: height)
        return overflow ? nil : product
    }

    /// Returns this size with each side limited to that of another size.
    func part(of other: PixelSize) -> PixelSize {
        PixelSize(width: min(width, other.width), height: min(height, other.height))
    }

    /// The box with an open side (0) replaced by the other side.
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
    /// Parses `512x418`: two integers from 1 to `RequestLimits.sideMax`; returns `nil` for anything
    /// else.
    public init?(_ text: String) {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false)
            .map { PlainNumber.integer($0) }
        let sides = 1...RequestLimits.sideMax
        guard parts.count == 2, let width = parts[0], let height = parts[1],
            sides.contains(width), sides.contains(height)
        else { return nil }
        self.init(width: width, height: height)
    }

    /// Parses the box of a resize: as above, or `512x` and `x418`, where the omitted side is open
    /// (0).
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
    /// Parses `10,20,300,200`: left, top, width, height; returns `nil` for anything else.
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

    /// Accepts any numbers; `intersection` limits the rectangle to an image.
    public init(x: Int, y: Int, size: PixelSize) {
        self.x = x
        self.y = y
        self.size = size
    }

    /// Returns the part inside an image of size `bounds`; `nil` if it is empty (SEMANTICS §11.9:
    /// the crop is intersected with the image, an empty one fails).
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

/// A width and a height, each in pixels or relative to an image.
public struct RelativeSize: Hashable, Sendable {
    /// A length along one axis.
    public enum Side: Hashable, Sendable {
        /// A number of pixels.
        case pixels(Int)
        /// A percentage of the image's side.
        case percent(Double)
    }

    /// Columns.
    public let width: Side
    /// Rows.
    public let height: Side

    /// Accepts any numbers; invalid ones are rejected with the request.
    public init(width: Side, height: Side) {
        (self.width, self.height) = (width, height)
    }

    /// Parses `300x200`, `50%x100%` or `300x50%`; returns `nil` for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false)
            .map { Side($0) }
        guard parts.count == 2, let width = parts[0], let height = parts[1] else { return nil }
        self.init(width: width, height: height)
    }

    /// The size in pixels; `nil` unless both sides are in pixels.
    var pixels: PixelSize? {
        guard case .pixels(let columns) = width, case .pixels(let rows) = height else { return nil }
        return PixelSize(width: columns, height: rows)
    }

    var isPermitted: Bool { width.isPermitted && height.isPermitted }

    /// Returns the size in pixels relative to an image, limited to 1 pixel and the whole side.
    package func resolved(in source: PixelSize) -> PixelSize {
        PixelSize(
            width: width.resolved(in: source.width), height: height.resolved(in: source.height))
    }
}

extension RelativeSize: CustomStringConvertible {
    /// The text that `init` accepts.
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

/// The ratio of width to height of an image.
public struct AspectRatio: Hashable, Sendable {
    /// The horizontal part of the ratio.
    public let width: Int
    /// The vertical part of the ratio.
    public let height: Int

    /// Accepts any numbers; values outside 1 to `RequestLimits.sideMax` are rejected with the
    /// request.
    public init(width: Int, height: Int) { (self.width, self.height) = (width, height) }

    /// The ratio of a size.
    public init(of size: PixelSize) { self.init(width: size.width, height: size.height) }

    /// Parses `16:9`; returns `nil` for anything else.
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

    /// Returns the largest size of this ratio inside an image; at least one pixel.
    package func largest(in image: PixelSize) -> PixelSize {
        ResizeGeometry.inside(image, PixelSize(width: width, height: height))
    }

    /// Returns the smallest size of this ratio that encloses an image.
    package func smallest(around image: PixelSize) -> PixelSize {
        ResizeGeometry.around(image, PixelSize(width: width, height: height))
    }
}

extension AspectRatio: CustomStringConvertible {
    /// The text that `init` accepts.
    public var description: String { "\(width):\(height)" }
}
