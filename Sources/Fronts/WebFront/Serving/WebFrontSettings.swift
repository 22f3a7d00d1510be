package import ImageModel
package import WebGrammar

/// How a listener answers.
package struct WebFrontSettings: Sendable {
    /// How its paths are read.
    package var grammar: any URLGrammar
    /// How images are answered.
    package var answers = ImageAnswer()
    /// Formats that are offered where the client may choose, those that make the smallest files
    /// first. Empty: the format of the source.
    package var offered: [ImageFormat] = [.avif, .webp]
    /// The field in which a proxy that is trusted names its client; `nil`: whoever connects is one.
    package var visitorField: String?
    /// Milliseconds for which a request may take.
    package var timeoutMilliseconds = 30_000

    package init(_ grammar: any URLGrammar) { self.grammar = grammar }
}
