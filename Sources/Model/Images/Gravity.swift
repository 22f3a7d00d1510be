/// The most important part of an image: what a crop retains, and where the image is placed on a
/// canvas.
public enum Gravity: Hashable, Sendable {
    /// A point in fractions of the sides: 0 is left or top, 1 is right or bottom.
    case point(x: Double, y: Double)
    /// A point in pixels of the image.
    case pixel(x: Double, y: Double)
    /// An edge, a corner or the center (0, 0.5 or 1 each) with an offset: inward from an edge, to
    /// the right and down from the center.
    case moved(x: Double, y: Double, by: GravityOffset)
    /// The most salient area: edges, skin, saturated colors.
    case attention
    /// The area with the highest entropy.
    case entropy

    /// The center.
    public static let center = Gravity.point(x: 0.5, y: 0.5)

    static let words: [(name: String, gravity: Gravity)] = [
        ("center", center), ("north", .point(x: 0.5, y: 0)), ("northeast", .point(x: 1, y: 0)),
        ("east", .point(x: 1, y: 0.5)), ("southeast", .point(x: 1, y: 1)),
        ("south", .point(x: 0.5, y: 1)), ("southwest", .point(x: 0, y: 1)),
        ("west", .point(x: 0, y: 0.5)), ("northwest", .point(x: 0, y: 0)),
        ("attention", .attention), ("entropy", .entropy),
    ]

    /// The syntax of a gravity, for help and errors.
    static let expected =
        words.map(\.name).joined(separator: ", ")
        + ", fp:X:Y, px:X:Y or a position with an offset such as north:0:5%"

    /// Parses a word, `fp:X:Y`, `px:X:Y`, or a word with an offset such as `north:0:5%`; returns
    /// `nil` for anything else.
    public init?(_ text: String) {
        if let word = Self.words.first(where: { $0.name == text }) {
            self = word.gravity
            return
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { String($0) }
        guard parts.count == 3 else { return nil }
        if parts[0] == "fp" || parts[0] == "px" {
            guard let x = PlainNumber.decimal(parts[1]), let y = PlainNumber.decimal(parts[2])
            else { return nil }
            self = parts[0] == "fp" ? .point(x: x, y: y) : .pixel(x: x, y: y)
        } else {
            guard let word = Self.words.first(where: { $0.name == parts[0] }),
                case .point(let x, let y) = word.gravity,
                let offset = GravityOffset(parts[1], parts[2])
            else { return nil }
            self = .moved(x: x, y: y, by: offset)
        }
    }

    var isPermitted: Bool {
        switch self {
        case .attention, .entropy: true
        case .point(let x, let y): (0...1).contains(x) && (0...1).contains(y)
        case .pixel(let x, let y): Self.pixels.contains(x) && Self.pixels.contains(y)
        case .moved(let x, let y, let offset):
            [0, 0.5, 1].contains(x) && [0, 0.5, 1].contains(y) && offset.isPermitted
        }
    }

    private static let pixels = 0...Double(RequestLimits.sideMax)

    /// Whether the gravity is a point that doesn't depend on the pixels.
    var isPlace: Bool { self != .attention && self != .entropy }

    /// Returns the gravity for an image scaled by `ratio`.
    func scaled(by ratio: Double) -> Gravity {
        switch self {
        case .attention, .entropy, .point: self
        case .pixel(let x, let y): .pixel(x: x * ratio, y: y * ratio)
        case .moved(let x, let y, let offset): .moved(x: x, y: y, by: offset.scaled(by: ratio))
        }
    }

    /// Returns the rectangle to crop, centered on this point or aligned to this edge and clamped to
    /// the image; `nil` if it depends on the pixels.
    package func part(_ size: PixelSize, of whole: PixelSize) -> PixelRect? {
        guard isPlace, isPermitted else { return nil }
        let x = start(directions.across, size.width, of: whole.width)
        let y = start(directions.down, size.height, of: whole.height)
        return PixelRect(
            x: Int(min(max(0, x), Double(whole.width - size.width))),
            y: Int(min(max(0, y), Double(whole.height - size.height))), size: size)
    }

    /// Returns the origin of an image on a canvas, with the remaining space distributed by this
    /// gravity. It may lie outside the canvas; `nil` if it depends on the pixels.
    package func origin(of size: PixelSize, on canvas: PixelSize) -> (x: Int, y: Int)? {
        guard isPlace, isPermitted else { return nil }
        return (
            origin(directions.across, size.width, on: canvas.width),
            origin(directions.down, size.height, on: canvas.height)
        )
    }

    /// Whether the gravity is right of the center.
    var isRight: Bool { directions.across.isBehindMiddle }

    /// Whether the gravity is below the center.
    var isLow: Bool { directions.down.isBehindMiddle }

    // MARK: - One axis

    /// The gravity along one axis.
    private enum Direction {
        case nowhere
        case fraction(Double)
        case pixel(Double)
        case edge(Double, RelativeSize.Side)

        var isBehindMiddle: Bool {
            switch self {
            case .nowhere, .pixel: false
            case .fraction(let place), .edge(let place, _): place > 0.5
            }
        }
    }

    private var directions: (across: Direction, down: Direction) {
        switch self {
        case .attention, .entropy: (.nowhere, .nowhere)
        case .point(let x, let y): (.fraction(x), .fraction(y))
        case .pixel(let x, let y): (.pixel(x), .pixel(y))
        case .moved(let x, let y, let offset): (.edge(x, offset.x), .edge(y, offset.y))
        }
    }

    /// Returns where a part starts, which may be outside the image. An odd remainder is rounded so
    /// that the larger half is at the right or bottom.
    private func start(_ direction: Direction, _ length: Int, of whole: Int) -> Double {
        switch direction {
        case .nowhere: 0
        case .fraction(let place): (place * Double(whole) - Double(length) / 2).rounded(.down)
        case .pixel(let place): (place - Double(length) / 2).rounded(.down)
        case .edge(let place, let offset):
            (place * Double(whole - length)).rounded(.down)
                + Double(offset.inwards(from: place, in: whole))
        }
    }

    private func origin(_ direction: Direction, _ length: Int, on canvas: Int) -> Int {
        switch direction {
        case .nowhere: 0
        case .fraction(let place): Int(Double(canvas - length) * place)
        case .pixel(let place): Int((place - Double(length) / 2).rounded(.down))
        case .edge(let place, let offset):
            Int(Double(canvas - length) * place) + offset.inwards(from: place, in: canvas)
        }
    }
}

extension Gravity: CustomStringConvertible {
    /// The text that `init` accepts.
    public var description: String {
        if let word = Self.words.first(where: { $0.gravity == self }) { return word.name }
        switch self {
        case .attention, .entropy: return ""
        case .point(let x, let y): return "fp:\(x):\(y)"
        case .pixel(let x, let y): return "px:\(x):\(y)"
        case .moved(let x, let y, let offset): return "\(Gravity.point(x: x, y: y)):\(offset)"
        }
    }
}

/// An offset of a point: inward from an edge, to the right and down from the center. Negative
/// values move it the other way.
public struct GravityOffset: Hashable, Sendable {
    /// Columns, in pixels or percent of the width.
    public let x: RelativeSize.Side
    /// Rows, in pixels or percent of the height.
    public let y: RelativeSize.Side

    /// Accepts any numbers; values beyond the limits are rejected with the request.
    public init(x: RelativeSize.Side, y: RelativeSize.Side) { (self.x, self.y) = (x, y) }

    init?(_ x: String, _ y: String) {
        guard let x = RelativeSize.Side(x[...]), let y = RelativeSize.Side(y[...]) else {
            return nil
        }
        self.init(x: x, y: y)
    }

    var isPermitted: Bool { x.isPermittedOffset && y.isPermittedOffset }

    func scaled(by ratio: Double) -> GravityOffset {
        GravityOffset(x: x.movedFurther(by: ratio), y: y.movedFurther(by: ratio))
    }
}

extension GravityOffset: CustomStringConvertible {
    /// `5:-10%`
    public var description: String { "\(x.text):\(y.text)" }
}

extension RelativeSize.Side {
    fileprivate var isPermittedOffset: Bool {
        switch self {
        case .pixels(let count): abs(count) <= RequestLimits.sideMax
        case .percent(let number): (-100...100).contains(number)
        }
    }

    fileprivate func movedFurther(by ratio: Double) -> Self {
        guard case .pixels(let count) = self else { return self }
        return .pixels(Model.scaled(count, by: ratio))
    }

    /// Returns the offset in pixels, negative for a point in the second half of the axis, where
    /// inward is backward.
    func inwards(from place: Double, in side: Int) -> Int {
        let moved =
            switch self {
            case .pixels(let count): count
            case .percent(let number):
                Int((Double(side) * number / 100).rounded(.toNearestOrEven))
            }
        return place > 0.5 ? -moved : moved
    }
}
