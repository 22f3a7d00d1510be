import Bootstrap
import ImageModel
import Messages
import MicroHTTPD
import WebFront
import WebGrammar

// What the front answers besides images: facts, fallbacks, images that are sent, hints, and how
// long all of it counts as fresh.
extension GatewayOptions {
    mutating func takeAnswers(_ arguments: ProgramArguments) throws {
        try takeFacts(arguments)
        try takeFallback(arguments)
        try takeUploads(arguments)
        try takeOperators(arguments)
        try takeHints(arguments)
        try takeLifetimes(arguments)
        try takeHeaders(arguments)
    }

    /// What goes along to origins, and what is added to answers.
    private mutating func takeHeaders(_ arguments: ProgramArguments) throws(ConfigurationError) {
        if let text = arguments.value("response-headers") {
            front.responseHeaders = try Self.checked(.responseHeaders) { () throws(GrammarError) in
                try ResponseHeaders(text)
            }
        }
        guard let names = arguments.value("pass-headers") else {
            guard arguments.value("pass-headers-to") == nil else {
                throw ConfigurationError("--pass-headers-to needs --pass-headers")
            }
            return
        }
        let sources = try Self.checked(.passHeadersTo) { () throws(GrammarError) in
            try arguments.value("pass-headers-to").map { (text) throws(GrammarError) in
                try SourcePattern.list(text)
            }
        }
        front.passedHeaders = try Self.checked(.passHeaders) { () throws(GrammarError) in
            try PassedHeaders(names: names, sources: sources)
        }
        guard front.operators == nil || !front.passedHeaders.has("authorization") else {
            throw ConfigurationError(
                "--pass-headers: authorization is not passed on beside --operator-tokens, which "
                    + "origins would see: leave one of them out")
        }
    }

    private mutating func takeFacts(_ arguments: ProgramArguments) throws {
        switch arguments.value("grammar") ?? "imgproxy" {
        case "thumbor":
            front.facts = FactsSettings(.thumbor)
            front.healthPath = "/healthcheck"
        case "iiif":
            front.facts = FactsSettings(.iiif)
            // Level 1 asks for it.
            if front.crossOrigin.isNone { front.crossOrigin = try Self.crossOrigin("*") }
        default: front.infoGrammar = try grammar(for: .facts)
        }
        guard let url = arguments.value("public-url") else { return }
        guard url.hasPrefix("http://") || url.hasPrefix("https://"), !url.hasSuffix("/") else {
            throw ConfigurationError(
                "--public-url is as clients see this listener, such as https://example.com, "
                    + "without a slash at its end; not '\(url)'")
        }
        front.facts.publicURL = url
    }

    static func crossOrigin(_ text: String) throws(ConfigurationError) -> CrossOriginAccess {
        guard let access = CrossOriginAccess(text) else {
            throw ConfigurationError(
                "--allow-origin is *, or origins with commas between, such as "
                    + "https://example.com,https://www.example.com; not '\(text)'")
        }
        return access
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
        Self.set(&front.answers.fallbackSeconds, .fallbackMaxAge, arguments)
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
        guard let tokens = try Self.tokens(.postTokens, arguments) else { return }
        guard arguments.value("grammar") != "iiif" else {
            throw ConfigurationError("--post-tokens: IIIF has no paths for images that are sent")
        }
        var uploads = UploadSettings(tokens: tokens, try grammar(for: .uploads))
        Self.set(&uploads.bytesMax, .postMaxBytes, arguments)
        front.uploads = uploads
    }

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
        var quality = hints.savingQuality ?? 0
        Self.set(&quality, .saveDataQuality, arguments)
        hints.savingQuality = quality == 0 ? nil : quality
        if let preset = arguments.value("save-data-preset") {
            guard arguments.value("presets") ?? arguments.value("preset-lines") != nil,
                front.infoGrammar != nil
            else {
                throw ConfigurationError(
                    "--save-data-preset names one of --presets, which imgproxy's grammar has")
            }
            hints.savingGrammar = try grammar(for: .saving(preset: preset))
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
        guard arguments.value("max-age") == nil || arguments.value("assume-fresh") == nil else {
            throw ConfigurationError("--max-age and --assume-fresh are the same: give one of them")
        }
        let usual = front.assumedLifetime
        var (fresh, whileRevalidate, ifError) = (usual.fresh, usual.whileRevalidate, usual.ifError)
        for setting in [GatewaySetting.maxAge, .assumeFresh] {
            Self.set(&fresh, setting, arguments)
            Self.set(&front.answers.caching.usualSeconds, setting, arguments)
        }
        Self.set(&whileRevalidate, .assumeStaleWhileRevalidate, arguments)
        Self.set(&ifError, .assumeStaleIfError, arguments)
        front.assumedLifetime = AssumedLifetime(
            fresh: fresh, whileRevalidate: whileRevalidate, ifError: ifError)
        Self.set(&front.answers.caching.mostSeconds, .maxAgeMost, arguments)
        guard arguments.value("browser-max-age") != nil else { return }
        var seconds = 0
        Self.set(&seconds, .browserMaxAge, arguments)
        front.answers.caching.browserSeconds = seconds
    }
}
