package import MicroHTTPD
package import Model
import Nettle
package import WebGrammar

/// The settings of a listener.
package struct WebFrontSettings: Sendable {
    /// The grammar of its paths.
    package var grammar: any URLGrammar
    /// The grammar of paths after `/info`, which request image properties; `nil` if the grammar has
    /// a syntax of its own for them.
    package var infoGrammar: (any URLGrammar)?
    /// The format of image properties.
    var propertiesForm = PropertiesForm.plain
    /// The URL of this listener as seen by clients, without a trailing slash; `nil` derives it from
    /// `Host`, with http.
    package var publicURL: String?
    /// The origins whose pages may read responses.
    package var crossOrigin = CrossOriginAccess()
    /// The health check path of the grammar's original server, in addition to ours; `nil` if it has
    /// none.
    package var healthPath: String?
    /// The response to `/`; `nil` treats it like any other target.
    package var root: RootPage?
    /// How images are sent.
    package var answers = ImageAnswer()
    /// The fields that the operator adds to all responses.
    package var responseHeaders = ResponseHeaders()
    /// The request fields that are passed to origins.
    package var passedHeaders = PassedHeaders()
    /// The formats offered for negotiation, those with the smallest files first. If empty, the
    /// format is not negotiated but that of the source.
    package var offered: [ImageFormat] = [.avif, .webp]
    /// The output options if URLs don't specify them.
    package var output = OutputDefaults()
    /// The maximum number of frames of an animation to keep; an animation with more is sent as a
    /// still image, and with 1, every animation is.
    package var framesMax = Int.max
    /// The EXIF, XMP and IPTC metadata to keep if the path doesn't specify it.
    package var metadata = MetadataChoice.copyright
    /// How to handle damaged images if the path doesn't specify it.
    package var damaged = DamagedImages.show
    /// The formats whose sources are sent unchanged if the path names no other format.
    package var skippedFormats: [ImageFormat] = []
    /// Whether an SVG is sent unchanged, ignoring the steps, if the path names no format.
    package var passesDrawings = false
    /// The client hints to use; `nil` for none.
    package var hints: HintSettings?
    /// The fallback for images that can't be loaded; `nil` to report the error.
    package var fallback: FallbackSettings?
    /// The settings of uploads; `nil` to refuse them.
    package var uploads: UploadSettings?
    /// The tokens of clients whose `no-cache` causes revalidation with the origin; `nil` for none.
    package var operators: BearerTokens?
    /// How long an image may be used if its origin doesn't specify it: one hour, ten more minutes
    /// while the origin is being asked, and one more day if the origin fails.
    package var assumedLifetime = AssumedLifetime(
        fresh: 3_600, whileRevalidate: 600, ifError: 86_400)
    /// How long a source that failed permanently is not tried again, in milliseconds.
    package var earlierFailureMilliseconds = 10_000
    /// The trusted proxies.
    package var edge = EdgeSettings()
    package var timeoutMilliseconds = 30_000
    package var limits = HTTPLimits()
    /// The address for metrics; `nil` for none.
    package var metricsPlace: ListenPlace?
    /// The address for removals by operators; `nil` for none.
    package var operatorPlace: ListenPlace?
    /// The settings for removals; `nil` if they are disabled.
    package var removals: OperatorSettings?
    /// The web component; `nil` if it isn't served.
    package var files: StaticFiles? = StaticFiles()

    /// The prefix of all paths except health checks, such as `/img`; may be empty.
    package var pathPrefix = ""
    /// The hosts served, in lowercase and without ports; empty for any host.
    package var hosts: [String] = []

    /// Whether `imagebus serve` runs the listener, so that messages use its option names.
    package var isServed = false

    /// The maximum length of path and query in bytes.
    package var targetBytesMax = 8_192
    /// Whether each request is logged.
    package var logsRequests = false

    /// Returns a text with option names replaced by those that the operator uses.
    package func named(_ text: String) -> String { isServed ? GatewaySetting.served(text) : text }
}

/// The output options if URLs don't specify them, independent of the grammar.
package struct OutputDefaults: Hashable, Sendable {
    /// The quality of formats not in `qualities`; `nil` for the stack's default.
    package var quality: Int?
    package var qualities: [ImageFormat: Int] = [:]
    /// The formats encoded progressively.
    package var progressive: Set<ImageFormat> = []
    package var efforts: [ImageFormat: Int] = [:]

    /// Whether options other than the quality are set for a format.
    func isStated(of format: ImageFormat) -> Bool {
        efforts[format] != nil || progressive.contains(format)
    }

    /// Completes output options whose format is known or will be that of the source. The source's
    /// file extension is only a hint for what to request: encoders ignore options that their format
    /// doesn't support.
    ///
    /// - Parameter isProgressive: Whether the URL requests progressive output.
    func complete(_ output: inout OutputOptions, of url: String, isProgressive: Bool = false) {
        let format = output.format ?? Self.format(ofSource: url) ?? .jpeg
        if output.quality == nil { output.quality = quality }
        output.effort = efforts[format]
        output.isProgressive =
            progressive.contains(format)
            || (isProgressive && OutputSetting.progressive.row.formats.contains(format))
    }

    /// Returns the format for a source's file extension; `nil` if it is unknown.
    static func format(ofSource url: String) -> ImageFormat? {
        let path = url.prefix { $0 != "?" && $0 != "#" }
        guard let dot = path.lastIndex(of: "."), !path[dot...].contains("/") else { return nil }
        return ImageFormat(name: path[path.index(after: dot)...].lowercased())
    }
}

/// The fallback for images that can't be loaded, and when to use it.
///
/// The steps of the image are applied to it. This is the listener's own fallback; one defined in a
/// profile of the stack takes precedence and is sent in the same way.
package struct FallbackSettings: Hashable, Sendable {
    /// The source of the fallback.
    package enum Image: Hashable, Sendable {
        case url(String)
        /// The contents of a file.
        case bytes([UInt8])
    }

    package var image: Image
    package var causes = Causes.usual

    /// The errors for which the fallback is used.
    package struct Causes: Hashable, Sendable {
        /// The statuses that would be sent otherwise.
        package var statuses: Set<UInt16> = []
        package var codes: Set<ErrorCode> = []

        /// Errors caused by the source: it doesn't exist, is not a supported image, or its origin
        /// fails. Client errors and overload of the stack are reported as such.
        package static let usual = Causes(
            statuses: [404, 410, 415, 422, 502, 504], codes: [.invalidDownloadStatusCode])

        package func contain(_ error: ImageError) -> Bool {
            codes.contains((error.firstFailure ?? error).code)
                || statuses.contains(FailureStatus(error).status)
        }
    }
}

extension FallbackSettings.Causes {
    /// Parses comma-separated statuses such as `404` and error names such as `badImageData`;
    /// returns `nil` for other texts.
    init?(_ text: String) {
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
}

package struct UploadSettings: Sendable {
    /// The grammar of upload paths: a token replaces the signature, and sources have the scheme
    /// `scheme`.
    package let grammar: any URLGrammar
    /// The tokens that permit uploads.
    package let tokens: BearerTokens
    /// The maximum size of an image in bytes.
    package var bytesMax = 16 << 20

    /// The scheme of a source that refers to the body of the request.
    package static let scheme = "upload"
}

/// Bearer tokens in the `Authorization` field (RFC 6750 §2.1).
package struct BearerTokens: Sendable {
    /// The allowed length of a token in bytes; the minimum prevents guessing.
    package static let tokenBytes = 16...1_024
    /// The maximum number of tokens.
    package static let countMax = 16

    private let digests: [[UInt8]]

    /// Returns `nil` if there is no token, too many of them, or one that is too short or too long.
    package init?(_ tokens: [[UInt8]]) {
        guard (1...Self.countMax).contains(tokens.count),
            tokens.allSatisfy({ Self.tokenBytes.contains($0.count) })
        else { return nil }
        digests = tokens.map { SHA256.digest($0.span.bytes) }
    }

    /// Parses a file with one token per line; lines that begin with `#` are comments.
    package init?(file bytes: [UInt8]) {
        let lines = bytes.split(separator: UInt8(ascii: "\n")).map(Array.init)
        self.init(lines.filter { $0.first != UInt8(ascii: "#") })
    }

    /// Describes a valid token file in error messages.
    package static let expected =
        "one token per line, at most \(countMax), each with \(tokenBytes.lowerBound) to "
        + "\(tokenBytes.upperBound) bytes"

    /// Whether an `Authorization` field contains one of the tokens.
    package func permits(_ authorization: String?) -> Bool { number(of: authorization) != nil }

    /// Returns the number of the token in an `Authorization` field, counted from 1; `nil` if it
    /// contains none. Takes constant time with respect to the tokens: all digests are compared
    /// completely.
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
