package import ImageModel

/// Builds the request of `get` from its options.
package enum RequestReader {
    package static func request(_ read: ReadOptions, url: String) throws(UsageError) -> ImageRequest
    {
        var request = ImageRequest(url: url)
        request.steps = try StepReader.steps(read)
        guard request.steps.count <= RequestLimits.stepsMax else {
            throw UsageError("there are more than \(RequestLimits.stepsMax) steps")
        }
        if let box = try read.parsed("thumbnail", OptionValue.size) {
            request.thumbnail = Thumbnail(box: box)
        }
        request.frame = try frame(read)
        if let ratio = try read.parsed("dpr", OptionValue.pixelRatio) {
            request.pixelRatio = ratio
        }
        request.output.format = try read.parsed("format", OptionValue.format)
        request.output.quality = try read.parsed("quality") { (text) throws(UsageError) in
            try OptionValue.integer(text, in: 0...100)
        }
        request.output.lossless = read.isSet("lossless")
        for setting in OutputSetting.allCases { try take(setting, read, &request.output) }
        if let facts = try read.parsed("facts", OptionValue.facts) { request.facts = facts }
        request.infoOnly = read.isSet("info") || read.isSet("facts")
        request.headers = try read.parsedAll("header", header)
        request.options = try options(read)
        request.context.tags = try tags(read)
        try applyContext(read, to: &request)
        request.context.fallback = try read.parsed("fallback", OptionValue.fallback)
        request.context.damaged = try read.parsed("damaged") { (text) throws(UsageError) in
            try OptionValue.word(text, DamagedImages.allCases.map { ($0.name, $0) })
        }
        if let limit = try read.parsed("timeout", timeout) { request.timeoutMilliseconds = limit }
        try checkLossless(request)
        for name in ["original", "info", "facts"] where read.isSet(name) && !request.isPlain {
            throw UsageError(
                "--\(name) is about the source as it is: leave out steps, --format, --quality, "
                    + "--lossless and other options of the result")
        }
        return request
    }

    private static func frame(_ read: ReadOptions) throws(UsageError) -> Int? {
        let frame = try read.parsed("frame") { (text) throws(UsageError) in
            try OptionValue.integer(text, in: 0...RequestLimits.framesMax - 1)
        }
        guard read.isSet("first-frame") else { return frame }
        guard frame == nil else {
            throw UsageError("--frame and --first-frame contradict each other: leave one out")
        }
        return 0
    }

    private static func take(
        _ setting: OutputSetting, _ read: ReadOptions, _ output: inout OutputOptions
    ) throws(UsageError) {
        if setting.placeholder == nil {
            output[setting] = read.isSet(setting.name) ? 1 : nil
        } else {
            output[setting] = try read.parsed(setting.name) { (text) throws(UsageError) in
                guard let value = setting.value(ofWritten: text), setting.permits(value) else {
                    throw UsageError(
                        "expected \(setting.expected), not '\(text)'"
                            + Nearness.question(text, setting.words))
                }
                return value
            }
        }
    }

    /// Some formats have no form without loss, or lack a setting.
    package static func checkLossless(_ request: ImageRequest) throws(UsageError) {
        do throws(ImageError) {
            try request.output.check()
        } catch {
            throw UsageError(error.message)
        }
        guard request.output.lossless, let format = request.output.format,
            format.traits.output?.loss == .always
        else { return }
        let others = ImageFormat.encodable.filter { $0.traits.output?.loss != .always }
        throw UsageError(
            "--lossless and \(format.name) contradict each other: write "
                + others.map(\.name).joined(separator: " or ") + ", or leave out --lossless")
    }

    /// The tags that are named. Throws for what is none, and for too many.
    package static func tags(_ read: ReadOptions) throws(UsageError) -> [String] {
        let tags = try read.parsedAll("tag", tag)
        guard tags.count <= CacheTag.countMax else {
            throw UsageError("there are more than \(CacheTag.countMax) tags")
        }
        return tags
    }

    /// What is read of one.
    package static func tag(_ text: String) throws(UsageError) -> String {
        guard CacheTag.isTag(text) else {
            throw UsageError("'\(text)' is no tag: \(CacheTag.expected)")
        }
        return text
    }

    private static func timeout(_ text: String) throws(UsageError) -> Int {
        try OptionValue.milliseconds(text, atMost: RequestLimits.timeoutMillisecondsMax)
    }

    private static func header(_ text: String) throws(UsageError) -> HTTPHeader {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let value = parts.count == 2 ? parts[1] : ""
        let header = HTTPHeader(name: String(parts[0]), value: trimmed(value))
        guard parts.count == 2, header.isValid else {
            throw UsageError("'\(text)' is no header, such as 'Accept: image/webp'")
        }
        return header
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while text.first == " " || text.first == "\t" { text = text.dropFirst() }
        while text.last == " " || text.last == "\t" { text = text.dropLast() }
        return String(text)
    }

    private static func options(_ read: ReadOptions) throws(UsageError) -> RequestOptions {
        var options = RequestOptions(try read.parsedAll("option", option))
        if read.isSet("respect-cache-control") { options.insert(.respectCacheControl) }
        if read.isSet("animated") {
            guard !read.isSet("frame"), !read.isSet("first-frame") else {
                throw UsageError(
                    "--animated and \(read.isSet("frame") ? "--frame" : "--first-frame") "
                        + "contradict each other: leave one out")
            }
            options.insert(.transformAnimatedImage)
        }
        switch try read.parsed("priority", priority) {
        case .high: options.insert(.highPriority)
        case .low: options.insert(.lowPriority)
        case .normal, nil: break
        }
        return options
    }

    private static func option(_ name: String) throws(UsageError) -> RequestOptions {
        guard let known = RequestOptions.names.first(where: { $0.name == name }) else {
            let names = RequestOptions.offeredNames.joined(separator: ", ")
            throw UsageError(
                "this version has \(names), not '\(name)'"
                    + Nearness.question(name, RequestOptions.offeredNames))
        }
        return known.option
    }

    private static func priority(_ text: String) throws(UsageError) -> Priority {
        try OptionValue.word(text, Priority.allCases.map { ($0.name, $0) })
    }

    private static func applyContext(
        _ read: ReadOptions, to request: inout ImageRequest
    ) throws(UsageError) {
        request.context.profile = try read.parsed("profile", name)
        request.context.preset = try read.parsed("preset", name)
        var settings: [ContextSetting] = []
        for entry in read.entries where entry.name == "context" {
            let parts = entry.value
                .split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count == 2 ? String(parts[1]) : ""
            do throws(UsageError) {
                if let setting = try setting(String(parts[0]), value, of: &request) {
                    settings.append(setting)
                }
            } catch {
                throw UsageError("\(entry.label) \(parts[0]): \(error.message)")
            }
        }
        ContextSetting.apply(settings, to: &request)
    }

    private static func name(_ text: String) throws(UsageError) -> String {
        guard RequestContext.isName(text) else {
            throw UsageError("'\(text)' is no name")
        }
        return text
    }

    /// What the option says, or `nil` where that went into the output.
    private static func setting(
        _ name: String, _ value: String, of request: inout ImageRequest
    ) throws(UsageError) -> ContextSetting? {
        if name == "png-compression" {
            request.output.compression = try OptionValue.integer(
                value, in: OutputOptions.compressionRange)
            return nil
        }
        if name == shortPreserve, request.thumbnail == nil {
            throw UsageError("needs a --thumbnail")
        }
        let key = name == shortPreserve ? .imagePreserveAspectRatio : ContextKey(rawValue: name)
        guard let key else {
            throw UsageError(
                "no such context in this version" + Nearness.question(name, contextNames))
        }
        do throws(ContextSettingError) {
            return try ContextSetting(key, value)
        } catch {
            throw UsageError(error.reason)
        }
    }

    /// What `--context` takes before its `=`.
    private static let contextNames =
        ContextKey.allCases.map(\.rawValue) + [shortPreserve, "png-compression"]

    /// Without those that no command line has.
    static let offeredContextNames = contextNames.filter { name in
        ![ContextKey.setImageOperationKey, .callbackQueue].contains { $0.rawValue == name }
    }

    private static let shortPreserve = "preserve-aspect-ratio"
}
