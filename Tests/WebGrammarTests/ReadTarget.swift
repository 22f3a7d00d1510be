import ImageModel
import Testing
import WebGrammar

/// The moment at which targets are read.
let someMoment = 1_800_000_000

extension URLGrammar {
    /// The same for a text.
    func read(_ target: String) throws(GrammarError) -> WebRequest {
        try read(Array(target.utf8), now: someMoment)
    }

    /// Why a text is refused.
    func refusal(
        _ target: String, _ location: SourceLocation = #_sourceLocation
    ) throws -> GrammarError {
        try #require(throws: GrammarError.self, sourceLocation: location) { try read(target) }
    }
}

/// What the text of one option comes to.
struct GoodRow: Sendable, CustomTestStringConvertible {
    let text: String
    let change: @Sendable (inout WebRequest) -> Void

    init(_ text: String, _ change: @escaping @Sendable (inout WebRequest) -> Void) {
        (self.text, self.change) = (text, change)
    }

    /// Steps alone.
    init(_ text: String, _ steps: TransformStep...) {
        self.init(text) { $0.image.steps = steps }
    }

    var testDescription: String { text }
}

/// How the text of one option is refused.
struct BadRow: Sendable, CustomTestStringConvertible {
    let text: String
    let status: Int
    /// What the message names.
    let option: String

    init(_ text: String, _ status: Int, _ option: String) {
        (self.text, self.status, self.option) = (text, status, option)
    }

    var testDescription: String { text }
}

extension PixelSize {
    /// Two sides.
    init(_ width: Int, _ height: Int) { self.init(width: width, height: height) }
}
