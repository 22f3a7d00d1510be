package import ImageModel
import Messages
import Nettle
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

/// How images are written where their URLs do not say it, whatever the grammar.
package struct OutputDefaults: Hashable, Sendable {
    /// The quality of formats that `qualities` does not name; `nil`: the stack's.
    package var quality: Int?
    /// The quality by format.
    package var qualities: [ImageFormat: Int] = [:]
    /// Formats that are written so that a rough image comes first.
    package var progressive: Set<ImageFormat> = []
    /// How much time encoders take, by format.
    package var efforts: [ImageFormat: Int] = [:]

    /// As the stack writes them.
    package init() {}

    /// Whether a format has more to be said than its quality.
    func isSaid(of format: ImageFormat) -> Bool {
        efforts[format] != nil || progressive.contains(format)
    }

    /// The qualities of formats, of which those of a URL count first.
    func qualities(besides said: [ImageFormat: Int]) -> [ImageFormat: Int] {
        qualities.merging(said) { $1 }
    }

    /// Completes an output whose format is known, or is that of the source. What the file name of a
    /// source ends with says only what is worth asking for: encoders leave out what their format
    /// does not have.
    func complete(_ output: inout OutputOptions, of url: String) {
        let format = output.format ?? Self.format(ofSource: url) ?? .jpeg
        if output.quality == nil { output.quality = quality }
        output.effort = efforts[format]
        output.isProgressive = progressive.contains(format)
    }

    /// The format that the path of a source ends with; `nil` where that is none.
    static func format(ofSource url: String) -> ImageFormat? {
        let path = url.prefix { $0 != "?" && $0 != "#" }
        guard let dot = path.lastIndex(of: "."), !path[dot...].contains("/") else { return nil }
        return ImageFormat(name: path[path.index(after: dot)...].lowercased())
    }
}

/// What is shown in the place of an image that cannot be had, and when.
///
/// It goes through the steps of the image. It is one of the listener's own; one that a profile of
/// the stack names comes before it, and is answered the same way.
package struct FallbackSettings: Hashable, Sendable {
    /// Where it comes from.
    package enum Image: Hashable, Sendable {
        case url(String)
        /// The bytes of a file.
        case bytes([UInt8])
    }

    package var image: Image
    package var causes = Causes.usual

    package init(_ image: Image) { self.image = image }

    /// The failures in whose place it is shown.
    package struct Causes: Hashable, Sendable {
        /// By the status that they would be answered with.
        package var statuses: Set<UInt16> = []
        /// By their names.
        package var codes: Set<ErrorCode> = []

        package init() {}

        /// Whatever the source is the reason of: it is not there, it is no image that is taken, or
        /// its origin fails. What the client does wrong, and a stack that has no time, are told as
        /// they are.
        package static let usual: Causes = {
            var causes = Causes()
            causes.statuses = [404, 410, 415, 422, 502, 504]
            causes.codes = [.invalidDownloadStatusCode]
            return causes
        }()

        /// Words with commas between them: statuses such as `404`, and names of errors such as
        /// `badImageData`; `nil` where one is neither.
        package init?(_ text: String) {
            for word in text.split(separator: ",", omittingEmptySubsequences: false) {
                if let status = UInt16(word), (400...599).contains(status) {
                    statuses.insert(status)
                } else if let code = ErrorCode.allCases.first(where: { "\($0)" == word }) {
                    codes.insert(code)
                } else {
                    return nil
                }
            }
        }

        package func contain(_ error: ImageError) -> Bool {
            codes.contains((error.firstFailure ?? error).code)
                || statuses.contains(FailureStatus(error).status)
        }
    }
}

/// Who may send images to be worked on, and how large they may be.
package struct UploadSettings: Sendable {
    /// How the paths of such requests are read: as others, but that the token stands for the
    /// signature, and that their sources are of the scheme `scheme`.
    package let grammar: any URLGrammar
    /// Who may send any.
    package let tokens: BearerTokens
    /// Bytes of an image.
    package var bytesMax = 16 << 20
    /// Images that may be on their way here at a time.
    package var atOnce = 16

    /// The scheme of the source that stands for the bytes of the request.
    package static let scheme = "upload"

    /// For those who show one of the tokens.
    package init(tokens: BearerTokens, _ grammar: any URLGrammar) {
        (self.tokens, self.grammar) = (tokens, grammar)
    }

    /// Whether the field `Authorization` has one of the tokens.
    package func permits(_ authorization: String?) -> Bool { tokens.permits(authorization) }

    /// Which of the tokens it has, counted from 1; `nil`: none.
    package func number(of authorization: String?) -> Int? { tokens.number(of: authorization) }
}

/// Tokens that a request shows in its field `Authorization` (RFC 6750 §2.1).
package struct BearerTokens: Sendable {
    /// Bytes of a token, so that nobody guesses one.
    package static let tokenBytes = 16...1_024
    /// Tokens that are known at a time.
    package static let countMax = 16

    private let digests: [[UInt8]]

    /// `nil` where there is no token, too many of them, or one that is too short or too long.
    package init?(_ tokens: [[UInt8]]) {
        guard (1...Self.countMax).contains(tokens.count),
            tokens.allSatisfy({ Self.tokenBytes.contains($0.count) })
        else { return nil }
        digests = tokens.map { SHA256.digest($0.span.bytes) }
    }

    /// Those of a file: one a line; lines that begin with `#` are comments.
    package init?(file bytes: [UInt8]) {
        let lines = bytes.split(separator: UInt8(ascii: "\n")).map(Array.init)
        self.init(lines.filter { $0.first != UInt8(ascii: "#") })
    }

    /// What a file of tokens has to be, for errors.
    package static let expected =
        "a token a line, \(countMax) at most, each of \(tokenBytes.lowerBound) to "
        + "\(tokenBytes.upperBound) bytes"

    /// Whether the field `Authorization` has one of them.
    package func permits(_ authorization: String?) -> Bool { number(of: authorization) != nil }

    /// Which of them the field `Authorization` has, counted from 1; `nil`: none. How long it takes
    /// says nothing of them: digests are compared, each of them, whole.
    package func number(of authorization: String?) -> Int? {
        let words = (authorization ?? "").split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bearer" else { return nil }
        let token = Array(words[1].trimmedOfBlanks.utf8)
        guard Self.tokenBytes.contains(token.count) else { return nil }
        let digest = SHA256.digest(token.span.bytes)
        return digests.indices.reduce(nil) { known, index in
            SecretBytes.areEqual(digests[index], digest) ? index + 1 : known
        }
    }
}
