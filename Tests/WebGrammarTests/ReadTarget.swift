public import Model
import Testing
import WebGrammar

/// The time at which targets are parsed.
let someMoment = 1_800_000_000

extension URLGrammar {
    /// The same for a string.
    func read(_ target: String) throws(GrammarError) -> WebRequest {
        try read(Array(target.utf8), now: someMoment)
    }

    /// The reason why a string is rejected.
    func refusal(
        _ target: String, _ location: SourceLocation = #_sourceLocation
    ) throws -> GrammarError {
        try #require(throws: GrammarError.self, sourceLocation: location) { try read(target) }
    }
}

/// The text of an option and its result.
struct GoodRow: Sendable, CustomTestStringConvertible {
    let text: String
    let change: @Sendable (inout WebRequest) -> Void

    init(_ text: String, _ change: @escaping @Sendable (inout WebRequest) -> Void) {
        (self.text, self.change) = (text, change)
    }

    /// A row whose result consists of steps only.
    init(_ text: String, _ steps: TransformStep...) {
        self.init(text) { $0.image.steps = steps }
    }

    var testDescription: String { text }
}

/// The text of an invalid option and its error.
struct BadRow: Sendable, CustomTestStringConvertible {
    let text: String
    let status: Int
    /// The option that the message names.
    let option: String

    init(_ text: String, _ status: Int, _ option: String) {
        (self.text, self.status, self.option) = (text, status, option)
    }

    var testDescription: String { text }
}

extension BadRow {
    /// The rows of a table, whose lines have a status, an option and texts; `*` is the option that
    /// begins the text.
    static func table(_ table: String) -> [BadRow] {
        table.split(separator: "\n").flatMap { line in
            let words = line.split(separator: " ").map(String.init)
            return words.dropFirst(2).map { text in
                let own = text.replacing("filters:", with: "").prefix { !":(".contains($0) }
                return BadRow(text, Int(words[0]) ?? 0, words[1] == "*" ? String(own) : words[1])
            }
        }
    }
}

// Short forms for rows.
postfix operator %

/// A side in percent of the image.
postfix func % (percent: Double) -> RelativeSize.Side { .percent(percent) }

extension RelativeSize.Side: ExpressibleByIntegerLiteral {
    /// A side in pixels.
    public init(integerLiteral pixels: Int) { self = .pixels(pixels) }
}

extension RelativeSize {
    init(_ width: Side, _ height: Side) { self.init(width: width, height: height) }
}

extension PixelSize {
    init(_ width: Int, _ height: Int) { self.init(width: width, height: height) }
}

extension AspectRatio {
    init(_ width: Int, _ height: Int) { self.init(width: width, height: height) }
}

extension Gravity {
    static func at(_ x: Double, _ y: Double) -> Gravity { .point(x: x, y: y) }
}

func moved(
    _ x: Double, _ y: Double, _ across: RelativeSize.Side, _ down: RelativeSize.Side
) -> Gravity {
    .moved(x: x, y: y, by: GravityOffset(x: across, y: down))
}

extension TransformStep {
    static let flipX = flip(horizontal: true, vertical: false)
    static let flipY = flip(horizontal: false, vertical: true)
    static let flipXY = flip(horizontal: true, vertical: true)

    static func turn(_ degrees: Double) -> TransformStep {
        .rotate(Rotation(degreesClockwise: degrees))
    }

    static func crop(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> TransformStep {
        .crop(PixelRect(x: x, y: y, size: PixelSize(width, height)))
    }

    static func cropTo(
        _ width: RelativeSize.Side, _ height: RelativeSize.Side, _ gravity: Gravity
    ) -> TransformStep { .cropTo(RelativeSize(width, height), gravity) }

    static func resize(_ width: Int, _ height: Int, _ mode: ResizeMode) -> TransformStep {
        .resize(PixelSize(width, height), mode)
    }

    static func resize(
        _ width: Int, _ height: Int, _ mode: ResizeMode, enlarges: Bool
    ) -> TransformStep { .resize(PixelSize(width, height), mode, enlarges: enlarges) }

    static func resizeTo(
        _ width: RelativeSize.Side, _ height: RelativeSize.Side, _ mode: ResizeMode,
        enlarges: Bool? = nil, least: PixelSize = PixelSize(0, 0), _ gravity: Gravity = .center
    ) -> TransformStep {
        .resizeTo(
            RelativeSize(width, height), mode, enlarges: enlarges, least: least, gravity)
    }
}
