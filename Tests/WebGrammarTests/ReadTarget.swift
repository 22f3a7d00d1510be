import Model
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

extension PixelSize {
    /// A size from width and height.
    init(_ width: Int, _ height: Int) { self.init(width: width, height: height) }
}
