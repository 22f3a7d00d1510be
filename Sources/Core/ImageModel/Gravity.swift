/// What of an image counts most: what a cut keeps, and where on a canvas it lies.
public enum Gravity: Hashable, Sendable {
    /// A place in fractions of the sides: 0 is left or top, 1 is right or bottom.
    case point(x: Double, y: Double)
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
    static let expected = words.map(\.name).joined(separator: ", ") + " or fp:X:Y"

    /// A word, or `fp:X:Y`; `nil` for anything else.
    public init?(_ text: String) {
        if let word = Self.words.first(where: { $0.name == text }) {
            self = word.gravity
            return
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { String($0) }
        guard parts.count == 3, parts[0] == "fp", let x = PlainNumber.decimal(parts[1]),
            let y = PlainNumber.decimal(parts[2])
        else { return nil }
        self = .point(x: x, y: y)
    }

    var isPermitted: Bool {
        guard case .point(let x, let y) = self else { return true }
        return (0...1).contains(x) && (0...1).contains(y)
    }

    /// The part of an image that is cut out with this in its middle, as far as the image goes;
    /// `nil` where the pixels say which it is.
    package func part(_ size: PixelSize, of whole: PixelSize) -> PixelRect? {
        guard case .point(let x, let y) = self, isPermitted else { return nil }
        return PixelRect(
            x: Self.start(x, size.width, whole.width), y: Self.start(y, size.height, whole.height),
            size: size)
    }

    /// Where an image lies on a larger canvas, the rest divided as this says.
    package func origin(of size: PixelSize, on canvas: PixelSize) -> (x: Int, y: Int)? {
        guard case .point(let x, let y) = self, isPermitted else { return nil }
        return (
            Int(Double(canvas.width - size.width) * x),
            Int(Double(canvas.height - size.height) * y)
        )
    }

    /// Whether it is right of the middle.
    var isRight: Bool { if case .point(let x, _) = self { x > 0.5 } else { false } }

    /// Whether it is below the middle.
    var isLow: Bool { if case .point(_, let y) = self { y > 0.5 } else { false } }

    /// Of an odd rest the greater half is at the right and the bottom.
    private static func start(_ place: Double, _ length: Int, _ whole: Int) -> Int {
        let start = (place * Double(whole) - Double(length) / 2).rounded(.down)
        return Int(min(max(0, start), Double(whole - length)))
    }
}

extension Gravity: CustomStringConvertible {
    /// What `init` takes.
    public var description: String {
        if let word = Self.words.first(where: { $0.gravity == self }) { return word.name }
        guard case .point(let x, let y) = self else { return "" }
        return "fp:\(x):\(y)"
    }
}
