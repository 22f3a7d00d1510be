import Bootstrap
import ImageModel
import MicroHTTPD
import WebFront
import WebGrammar

// What the front answers besides images: facts, fallbacks, images that are sent, hints, and how
// long all of it counts as fresh.
extension GatewayOptions {
    static let valuedOfAnswers: Set<String> = [
        "public-url", "fallback", "fallback-for", "fallback-status", "fallback-max-age",
        "post-tokens", "post-max-bytes", "hint-widths", "save-data-quality", "save-data-preset",
        "assume-fresh", "assume-stale-while-revalidate", "assume-stale-if-error", "max-age-most",
        "browser-max-age", "timeout",
    ]
    static let flagsOfAnswers: Set<String> = ["client-hints"]

    /// What the server takes of strangers.
    var limits: HTTPLimits {
        var limits = HTTPLimits()
        if let uploads = front.uploads {
            (limits.bodyBytes, limits.bodies) = (uploads.bytesMax, uploads.atOnce)
        }
        return limits
    }

    mutating func takeAnswers(_ arguments: ProgramArguments) throws {
        try takeFacts(arguments)
        try takeFallback(arguments)
        try takeUploads(arguments)
        try takeHints(arguments)
        try takeLifetimes(arguments)
    }

    private mutating func takeFacts(_ arguments: ProgramArguments) throws {
        switch arguments.value("grammar") ?? "imgproxy" {
        case "thumbor": front.facts = FactsSettings(.thumbor)
        case "iiif":
            front.facts = FactsSettings(.iiif)
            // Level 1 asks for it.
            front.answers.allowedOrigin = front.answers.allowedOrigin ?? "*"
        default: front.infoGrammar = try Self.grammar(arguments, for: .facts)
        }
        guard let url = arguments.value("public-url") else { return }
        guard url.hasPrefix("http://") || url.hasPrefix("https://"), !url.hasSuffix("/") else {
            throw ConfigurationError(
                "--public-url is as clients see this listener, such as https://example.com, "
                    + "without a slash at its end; not '\(url)'")
        }
        front.facts.publicURL = url
    }

    // MARK: - Fallback

    private mutating func takeFallback(_ arguments: ProgramArguments) throws {
        if let place = arguments.value("fallback") {
            front.fallback = FallbackSettings(try Self.fallback(place))
        }
        if let words = arguments.value("fallback-for") {
            guard let causes = FallbackSettings.Causes(words) else {
                throw ConfigurationError(
                    "--fallback-for is statuses and names of errors with commas between them, such "
                        + "as 404,badImageData; not '\(words)'")
            }
            guard front.fallback != nil else {
                throw ConfigurationError("--fallback-for needs --fallback URL or a path")
            }
            front.fallback?.causes = causes
        }
        front.answers.fallbackSeconds = try arguments.number(
            "fallback-max-age", else: front.answers.fallbackSeconds)
        guard let word = arguments.value("fallback-status"), word != "200" else { return }
        let status = UInt16(word).flatMap { (201...599).contains($0) ? $0 : nil }
        // Such answers have no bytes (RFC 9110 §6.4.1).
        guard word == "error" || status.map({ ![204, 205, 206, 304].contains($0) }) ?? false else {
            throw ConfigurationError(
                "--fallback-status is a status with bytes, or error for that of the failure; "
                    + "not '\(word)'")
        }
        front.answers.fallbackStatus = status
    }

    private static func fallback(_ place: String) throws -> FallbackSettings.Image {
        if (try? SourceURL(place)) != nil { return .url(place) }
        do throws(GrammarError) {
            return .bytes(try bytes(place))
        } catch {
            throw ConfigurationError("--fallback: \(error.message)")
        }
    }

    // MARK: - Images that are sent

    private mutating func takeUploads(_ arguments: ProgramArguments) throws {
        guard let path = arguments.value("post-tokens") else { return }
        guard arguments.value("grammar") != "iiif" else {
            throw ConfigurationError("--post-tokens: IIIF has no paths for images that are sent")
        }
        let lines: [[UInt8]]
        do throws(GrammarError) {
            lines = try Self.bytes(path).split(separator: UInt8(ascii: "\n")).map(Array.init)
        } catch {
            throw ConfigurationError("--post-tokens: \(error.message)")
        }
        let tokens = lines.filter { $0.first != UInt8(ascii: "#") }
        let grammar = try Self.grammar(arguments, for: .uploads)
        guard var uploads = UploadSettings(tokens: tokens, grammar) else {
            let range = UploadSettings.tokenBytes
            throw ConfigurationError(
                "--post-tokens: \(path) has a token a line, \(UploadSettings.tokensMax) at most, "
                    + "each of \(range.lowerBound) to \(range.upperBound) bytes")
        }
        uploads.bytesMax = try arguments.number("post-max-bytes", else: uploads.bytesMax)
        guard (1...Self.uploadBytesMax).contains(uploads.bytesMax) else {
            throw ConfigurationError("--post-max-bytes is from 1 to \(Self.uploadBytesMax)")
        }
        front.uploads = uploads
    }

    /// What the stack takes where it is not configured otherwise.
    private static let uploadBytesMax = 64 << 20

    // MARK: - Hints

    private mutating func takeHints(_ arguments: ProgramArguments) throws {
        guard arguments.has("client-hints") else {
            for name in ["hint-widths", "save-data-quality", "save-data-preset"]
            where arguments.value(name) != nil {
                throw ConfigurationError("--\(name) needs --client-hints")
            }
            return
        }
        var hints = HintSettings()
        if let text = arguments.value("hint-widths") { hints.widths = try Self.widths(text) }
        let quality = try arguments.number("save-data-quality", else: hints.savingQuality ?? 0)
        guard (0...100).contains(quality) else {
            throw ConfigurationError("--save-data-quality is from 1 to 100, or 0 for none")
        }
        hints.savingQuality = quality == 0 ? nil : quality
        if let preset = arguments.value("save-data-preset") {
            guard arguments.value("presets") != nil, front.infoGrammar != nil else {
                throw ConfigurationError(
                    "--save-data-preset names one of --presets, which imgproxy's grammar has")
            }
            hints.savingGrammar = try Self.grammar(arguments, for: .saving(preset: preset))
            if arguments.value("save-data-quality") == nil { hints.savingQuality = nil }
        }
        front.hints = hints
        front.answers.wantedHints =
            HintSettings.ofWidth + HintSettings.ofRatio
            + (hints.looksAtSaving ? [HintSettings.ofSaving] : [])
    }

    private static func widths(_ text: String) throws(ConfigurationError) -> [Int] {
        let widths = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
        let range = 1...RequestLimits.sideMax
        let known = widths.compactMap { $0 }.filter(range.contains)
        guard known.count == widths.count, known.count <= 64, known == known.sorted() else {
            throw ConfigurationError(
                "--hint-widths is up to 64 widths in ascending order, such as 320,640,1280, each "
                    + "of 1 to \(range.upperBound) pixels")
        }
        return known
    }

    // MARK: - Lifetimes

    private mutating func takeLifetimes(_ arguments: ProgramArguments) throws {
        let usual = front.assumedLifetime
        let most = Int(AssumedLifetime.range.upperBound)
        func seconds(_ name: String, _ usual: Int64) throws -> Int64 {
            let said = try arguments.number(name, else: Int(usual))
            guard said <= most else { throw ConfigurationError("--\(name) is at most \(most)") }
            return Int64(said)
        }
        front.assumedLifetime = AssumedLifetime(
            fresh: try seconds("assume-fresh", usual.fresh),
            whileRevalidate: try seconds("assume-stale-while-revalidate", usual.whileRevalidate),
            ifError: try seconds("assume-stale-if-error", usual.ifError))
        front.answers.caching.mostSeconds = try arguments.number(
            "max-age-most", else: front.answers.caching.mostSeconds)
        let timeout = try arguments.number("timeout", else: front.timeoutMilliseconds / 1_000)
        guard (1...RequestLimits.timeoutMillisecondsMax / 1_000).contains(timeout) else {
            throw ConfigurationError("--timeout is from 1 to 3600 seconds")
        }
        front.timeoutMilliseconds = timeout * 1_000
        guard arguments.value("browser-max-age") != nil else { return }
        front.answers.caching.browserSeconds = try arguments.number("browser-max-age", else: 0)
    }
}
