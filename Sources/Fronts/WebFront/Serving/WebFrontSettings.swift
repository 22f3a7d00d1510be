package import ImageModel
import Messages
package import WebGrammar

/// How a listener answers.
package struct WebFrontSettings: Sendable {
    /// How its paths are read.
    package var grammar: any URLGrammar
    /// How paths behind `/info` are read, which ask for facts; `nil`: there are none, since the
    /// grammar has a word of its own for them.
    package var infoGrammar: (any URLGrammar)?
    /// How facts are answered.
    package var facts = FactsSettings()
    /// Which pages of other origins may read answers.
    package var crossOrigin = CrossOriginAccess()
    /// The path by which the server of the grammar is asked whether it is there, beside ours;
    /// `nil`: it has none.
    package var healthPath: String?
    /// What `/` is answered with; `nil`: as any other target.
    package var root: RootPage?
    /// How images are answered.
    package var answers = ImageAnswer()
    /// What the operator adds to the heads of all answers.
    package var responseHeaders = ResponseHeaders()
    /// Which fields of requests go along to origins.
    package var passedHeaders = PassedHeaders()
    /// Formats that are offered where the client may choose, those that make the smallest files
    /// first. Empty: nothing is negotiated, and the format is that of the source.
    package var offered: [ImageFormat] = [.avif, .webp]
    /// Whether clients have a say in the format at all.
    var negotiates: Bool { !offered.isEmpty }
    /// How images are written where URLs do not say it.
    package var output = OutputDefaults()
    /// Frames of an animation that are kept at most; one with more comes as a still. 1: all do.
    package var framesMax = Int.max
    /// What of EXIF, XMP and IPTC images have, unless their path says it.
    package var metadata = MetadataChoice.copyright
    /// What becomes of damaged images, unless their path says it.
    package var damaged = DamagedImages.show
    /// Formats whose sources are answered as they are where the path names no other format.
    package var skippedFormats: [ImageFormat] = []
    /// Whether an SVG is answered as it is whatever the steps are, where the path names no format.
    package var passesDrawings = false
    /// What is looked at of what clients say of themselves; `nil`: nothing.
    package var hints: HintSettings?
    /// What is shown in the place of what cannot be had; `nil`: the error.
    package var fallback: FallbackSettings?
    /// Who may send images; `nil`: nobody.
    package var uploads: UploadSettings?
    /// Whose `no-cache` has the origin asked; `nil`: nobody's.
    package var operators: BearerTokens?
    /// How long an image may be used where its origin does not say: an hour, ten minutes more while
    /// the origin is asked, and a day more where that fails.
    package var assumedLifetime = AssumedLifetime(
        fresh: 3_600, whileRevalidate: 600, ifError: 86_400)
    /// Milliseconds for which a source is not asked again that failed for good.
    package var earlierFailureMilliseconds = 10_000
    /// What is believed of proxies.
    package var edge = EdgeSettings()
    /// Milliseconds for which a request may take.
    package var timeoutMilliseconds = 30_000
    /// The web component; `nil`: it is not served.
    package var files: StaticFiles? = StaticFiles()

    /// What stands before all paths but those of health checks, such as `/img`; empty: nothing.
    package var pathPrefix = ""
    /// Hosts that are answered, in lower case, without ports; empty: any.
    package var hosts: [String] = []

    /// Whether `imagebus serve` runs the listener: operators know its options by the names that
    /// they have there.
    package var isServed = false

    /// Bytes of a path and its query.
    package var targetBytesMax = 8_192
    /// Whether each request has a line in the log.
    package var logsRequests = false

    package init(_ grammar: any URLGrammar) { self.grammar = grammar }

    /// A text with the names that the operator knows options by.
    package func named(_ text: String) -> String { isServed ? GatewaySetting.served(text) : text }
}
