/// What of an image counts most: what a cut keeps, and where on a canvas it lies.
public enum Gravity: Hashable, Sendable {
    /// A place in fractions of the sides: 0 is left or top, 1 is right or bottom.
    case point(x: Double, y: Double)
    /// A place in pixels of the image.
    case pixel(x: Double, y: Double)
    /// An edge, a corner or the middle (0, 0.5 or 1 each), moved from there: inwards, of the middle
    /// to the right and down.
    case moved(x: Double, y: Double, by: GravityOffset)
    /// What looks striking: edges, skin, saturated colours.
    case attention
    /// Where most is to be seen.
    case entropy

    /// The middle.
    public static let center = Gravity.point(x: 0.5, y: 0.5)

    static let words: [(name: String, gravity: Gravity)] = [
        ("center", center), ("north", .point(x: 0.5, y: 0)), ("northeast", .point(x: 1, y: 0)),
        ("east", .point(x: 1, y: 0.5)), ("southeast", .point(x: 1, y: 1)),
        ("south", .point(x: 0.5, y: 1)), ("southwest", .point(x: 0, y: 1)),
        ("west", .point(x: 0, y: 0.5)), ("northwest", .point(x: 0, y: 0)),
        ("attention", .attention), ("entropy", .entropy),
    ]

    /// What a step with a gravity takes, for help and errors.
    static let expected =
        words.map(\.name).joined(separator: ", ")
        + ", fp:X:Y, px:X:Y or a place moved inwards such as north:0:5%"

    /// A word, `fp:X:Y`, `px:X:Y`, or the word of a place with what it is moved by, such as
    /// `north:0:5%`; `nil` for anything else.
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

    /// Whether it is known without a look at the pixels.
    var isPlace: Bool { self != .attention && self != .entropy }

    /// The same on an image with so many pixels for each.
    func scaled(by ratio: Double) -> Gravity {
        switch self {
        case .attention, .entropy, .point: self
        case .pixel(let x, let y): .pixel(x: x * ratio, y: y * ratio)
        case .moved(let x, let y, let offset): .moved(x: x, y: y, by: offset.scaled(by: ratio))
        }
    }

    /// The part of an image that is cut out with this in its middle, or at this edge, as far as the
    /// image goes; `nil` where the pixels say which it is.
    package func part(_ size: PixelSize, of whole: PixelSize) -> PixelRect? {
        guard isPlace, isPermitted else { return nil }
        let x = start(across, size.width, of: whole.width)
        let y = start(down, size.height, of: whole.height)
        return PixelRect(
            x: Int(min(max(0, x), Double(whole.width - size.width))),
            y: Int(min(max(0, y), Double(whole.height - size.height))), size: size)
    }

    /// Where an image lies on a canvas, the rest divided as this says, which may be beyond its
    /// edges; `nil` where the pixels say it.
    package func origin(of size: PixelSize, on canvas: PixelSize) -> (x: Int, y: Int)? {
        guard isPlace, isPermitted else { return nil }
        return (
            origin(across, size.width, on: canvas.width),
            origin(down, size.height, on: canvas.height)
        )
    }

    /// Whether it is right of the middle.
    var isRight: Bool { across.isBehindMiddle }

    /// Whether it is below the middle.
    var isLow: Bool { down.isBehindMiddle }

    // MARK: - One direction

    /// What it says of columns or of rows.
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

    private var across: Direction {
        switch self {
        case .attention, .entropy: .nowhere
        case .point(let x, _): .fraction(x)
        case .pixel(let x, _): .pixel(x)
        case .moved(let x, _, let offset): .edge(x, offset.x)
        }
    }

    private var down: Direction {
        switch self {
        case .attention, .entropy: .nowhere
        case .point(_, let y): .fraction(y)
        case .pixel(_, let y): .pixel(y)
        case .moved(_, let y, let offset): .edge(y, offset.y)
        }
    }

    /// Where a part begins, which may be beyond the image. Of an odd rest the greater half is at
    /// the right and the bottom.
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
    /// What `init` takes.
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

/// By how much a place of an image is moved: inwards from an edge, to the right and down from the
/// middle. What is below 0 moves it the other way.
public struct GravityOffset: Hashable, Sendable {
    /// Columns, in pixels or in hundredths of the width.
    public let x: RelativeSize.Side
    /// Rows, in pixels or in hundredths of the height.
    public let y: RelativeSize.Side

    /// Takes any numbers; those beyond the limits are refused with the request.
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
        return .pixels(ImageModel.scaled(count, by: ratio))
    }

    /// Pixels of a side, negative for a place behind the middle: from there inwards is back.
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
