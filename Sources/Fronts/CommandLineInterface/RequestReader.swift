package import Model

/// Builds the request of `get` from its options.
package enum RequestReader {
    package static func request(_ read: ReadOptions, url: String) throws(UsageError) -> ImageRequest
    {
        var request = ImageRequest(url: url)
        request.steps = try StepReader.steps(read)
        guard request.steps.count <= RequestLimits.stepsMax else {
            throw UsageError("at most \(RequestLimits.stepsMax) steps are allowed")
        }
        if let box = try read.parsed("thumbnail", OptionValue.size) {
            request.thumbnail = Thumbnail(box: box)
        }
        request.frame = try frame(read)
        if let ratio = try read.parsed("dpr", OptionValue.pixelRatio) {
            request.pixelRatio = ratio
        }
        request.output.format = try read.parsed("format", OptionValue.format)
        request.output.quality = try read.integer("quality", in: 0...100)
        request.output.lossless = read.isSet("lossless")
        for setting in OutputSetting.allCases { try apply(setting, read, &request.output) }
        if let properties = try read.parsed("properties", OptionValue.properties) {
            request.properties = properties
        }
        request.infoOnly = read.isSet("info") || read.isSet("properties")
        request.headers = try read.parsedAll("header", header)
        request.options = try options(read)
        request.context.tags = try tags(read)
        try applyContext(read, to: &request)
        request.context.fallback = try read.parsed("fallback", OptionValue.fallback)
        request.context.damaged = try read.word(
            "damaged", DamagedImages.allCases.map { ($0.name, $0) })
        if let limit = try read.milliseconds(
            "timeout", atMost: RequestLimits.timeoutMillisecondsMax)
        {
            request.timeoutMilliseconds = limit
        }
        try checkLossless(request)
        for name in ["original", "info", "properties"] where read.isSet(name) && !request.isPlain {
            throw UsageError(
                "--\(name) \(name == "original" ? "returns" : "describes") the source unchanged "
                    + "and cannot be combined with steps, --format, --quality, --lossless or "
                    + "other output options")
        }
        return request
    }

    private static func frame(_ read: ReadOptions) throws(UsageError) -> Int? {
        let frame = try read.integer("frame", in: 0...RequestLimits.framesMax - 1)
        guard read.isSet("first-frame") else { return frame }
        guard frame == nil else {
            throw UsageError("--frame and --first-frame cannot be combined")
        }
        return 0
    }

    private static func apply(
        _ setting: OutputSetting, _ read: ReadOptions, _ output: inout OutputOptions
    ) throws(UsageError) {
        if setting.placeholder == nil {
            output[setting] = read.isSet(setting.optionName) ? 1 : nil
        } else {
            output[setting] = try read.parsed(setting.optionName) { (text) throws(UsageError) in
                guard let value = setting.value(ofWritten: text), setting.permits(value) else {
                    throw UsageError(
                        "'\(text)' is not \(setting.expected)"
                            + SpellingSuggestion.question(text, setting.words))
                }
                return value
            }
        }
    }

    /// Checks the output options; for instance, some formats have no lossless form or don't support
    /// a setting.
    package static func checkLossless(_ request: ImageRequest) throws(UsageError) {
        try Result(catching: request.output.check).mapError { UsageError($0.message) }.get()
        guard request.output.lossless, let format = request.output.format,
            format.traits.output?.loss == .always
        else { return }
        let others = ImageFormat.encodable.filter { $0.traits.output?.loss != .always }
        throw UsageError(
            "--lossless is not supported by \(format.name): use "
                + others.map(\.name).joined(separator: " or ") + ", or leave out --lossless")
    }

    /// Returns the requested tags. Throws for an invalid tag and for too many tags.
    package static func tags(_ read: ReadOptions) throws(UsageError) -> [String] {
        let tags = try read.parsedAll("tag", tag)
        guard tags.count <= CacheTag.countMax else {
            throw UsageError("at most \(CacheTag.countMax) tags are allowed")
        }
        return tags
    }

    package static func tag(_ text: String) throws(UsageError) -> String {
        let tag = CacheTag.isTag(text) ? text : nil
        return try OptionValue.expect(tag, "a valid tag: use \(CacheTag.expected)", text)
    }

    private static func header(_ text: String) throws(UsageError) -> HTTPHeader {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let value = parts.count == 2 ? parts[1] : ""
        let header = HTTPHeader(name: String(parts[0]), value: trimmed(value))
        return try OptionValue.expect(
            parts.count == 2 && header.isValid ? header : nil,
            "a header, such as 'Accept: image/webp'", text)
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
                        + "cannot be combined")
            }
            options.insert(.transformAnimatedImage)
        }
        switch try read.word("priority", Priority.allCases.map { ($0.name, $0) }) {
        case .high: options.insert(.highPriority)
        case .low: options.insert(.lowPriority)
        case .normal, nil: break
        }
        return options
    }

    private static func option(_ name: String) throws(UsageError) -> RequestOptions {
        guard let known = RequestOptions.names.first(where: { $0.name == name }) else {
            throw UsageError(
                "'\(name)' is not a load option"
                    + SpellingSuggestion.hint(name, RequestOptions.offeredNames))
        }
        return known.option
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
            let given = try Result { () throws(UsageError) in
                try setting(String(parts[0]), value, of: &request)
            }.mapError { UsageError("\(entry.label) \(parts[0]): \($0.message)") }.get()
            if let given { settings.append(given) }
        }
        ContextSetting.apply(settings, to: &request)
    }

    private static func name(_ text: String) throws(UsageError) -> String {
        let name = RequestContext.isName(text) ? text : nil
        return try OptionValue.expect(name, "a name of \(RequestContext.nameRule)", text)
    }

    /// Returns the setting for a context option, or `nil` if it was applied to the output options.
    private static func setting(
        _ name: String, _ value: String, of request: inout ImageRequest
    ) throws(UsageError) -> ContextSetting? {
        if name == "png-compression" {
            request.output.compression = try OptionValue.integer(
                value, in: OutputOptions.compressionRange)
            return nil
        }
        if name == shortPreserve, request.thumbnail == nil {
            throw UsageError("requires --thumbnail")
        }
        let key = name == shortPreserve ? .imagePreserveAspectRatio : ContextKey(rawValue: name)
        guard let key else {
            throw UsageError(
                "unknown context option" + SpellingSuggestion.hint(name, offeredContextNames))
        }
        return try Result { () throws(ContextSettingError) in try ContextSetting(key, value) }
            .mapError { UsageError($0.reason) }.get()
    }

    /// The names accepted before the `=` in `--context`.
    private static let contextNames =
        ContextKey.allCases.map(\.rawValue) + [shortPreserve, "png-compression"]

    /// Excludes settings that can't be used on a command line.
    static let offeredContextNames = contextNames.filter { name in
        ![ContextKey.setImageOperationKey, .callbackQueue].contains { $0.rawValue == name }
    }

    private static let shortPreserve = "preserve-aspect-ratio"
}

/// Builds the list of steps from the options, in order.
struct StepReader {
    private enum Step {
        case resize(PixelSize, ResizeOptions)
        case other(TransformStep)
    }

    /// The resize options specified so far.
    private struct ResizeOptions {
        var mode: ResizeMode?
        var enlarges: Bool?

        /// The names of options that have no resize to apply to.
        var names: [String] {
            (mode == nil ? [] : ["mode"])
                + (enlarges.map { [$0 ? "enlarge" : "no-enlarge"] } ?? [])
        }

        func step(_ box: PixelSize, _ usual: ResizeOptions) -> TransformStep {
            let mode = mode ?? usual.mode ?? .fit
            return .resize(box, mode, enlarges: enlarges ?? usual.enlarges ?? mode.enlarges)
        }
    }

    private var steps: [Step] = []
    /// Options that preceded their `--resize`.
    private var pending = ResizeOptions()
    /// Options from the environment, used by every resize that doesn't specify them.
    private var usual = ResizeOptions()

    /// Reads all options that are steps and ignores others.
    static func steps(_ read: ReadOptions) throws(UsageError) -> [TransformStep] {
        var reader = StepReader()
        for entry in read.entries {
            try entry.parsed { (_) throws(UsageError) in try reader.apply(entry) }
        }
        if let name = reader.pending.names.first {
            throw UsageError("--\(name) requires --resize")
        }
        return reader.steps.map { step in
            switch step {
            case .resize(let box, let options): options.step(box, reader.usual)
            case .other(let step): step
            }
        }
    }

    private mutating func apply(_ entry: ReadOptions.Entry) throws(UsageError) {
        switch entry.name {
        case "resize":
            steps.append(.resize(try OptionValue.box(entry.value), pending))
            pending = ResizeOptions()
        case "mode": give(try OptionValue.resizeMode(entry.value), to: \.mode, entry)
        case "enlarge": give(true, to: \.enlarges, entry)
        case "no-enlarge": give(false, to: \.enlarges, entry)
        default:
            let syntaxes = TransformStep.syntaxes
            guard let syntax = syntaxes.first(where: { $0.name == entry.name }) else { return }
            steps.append(.other(try OptionValue.step(syntax, entry.value)))
        }
    }

    /// Assigns an option to the last resize if it doesn't have one yet, otherwise to the next.
    private mutating func give<Value>(
        _ value: Value, to path: WritableKeyPath<ResizeOptions, Value?>, _ entry: ReadOptions.Entry
    ) {
        guard entry.origin != .environment else {
            usual[keyPath: path] = value
            return
        }
        let last = steps.lastIndex { if case .resize = $0 { true } else { false } }
        if let last, case .resize(let box, var options) = steps[last],
            options[keyPath: path] == nil
        {
            options[keyPath: path] = value
            steps[last] = .resize(box, options)
        } else {
            pending[keyPath: path] = value
        }
    }
}

// Options that specify what is loaded, and how.
extension Command {
    /// The format and quality of the result.
    package static let outputOptions = [
        OptionDefinition(
            "format", value: "F", of: .words(ImageFormat.encodable.map(\.name)),
            ImageFormat.encodable.map(\.name).joined(separator: ", ")
                + ", or a format provided by a plug-in (that of the source)"),
        OptionDefinition("quality", value: "0..100", "quality of lossy formats (80)"),
        OptionDefinition("lossless", "encode \(optionallyLossless) losslessly"),
        OptionDefinition("frame", value: "N", "use frame N of an animation, counted from 0"),
        OptionDefinition("first-frame", "use only the first frame of an animation"),
        OptionDefinition(
            "animated",
            "process all frames; gif, png and webp output keeps them "
                + "(same as --option transform-animated-image)"),
        OptionDefinition("original", "return the source bytes unchanged; no steps or format"),
        OptionDefinition("info", "return only format and size of the source; no steps or format"),
        OptionDefinition(
            "properties", value: "WORDS", of: .list(FactKinds.names),
            "like --info, with \(FactKinds.names.joined(separator: ", ")), such as "
                + "exif,blurhash:5x4 (4x3)"
        ).formerly(["facts"], values: FactKinds.formerNames),
    ]

    private static let optionallyLossless = ImageFormat.encodable
        .filter { $0.traits.output?.loss == .optional }.map(\.name).joined(separator: ", ")

    /// Encoder settings that only some formats support.
    package static let settingOptions = OutputSetting.allCases.map { setting in
        OptionDefinition(
            setting.optionName, value: setting.placeholder, of: choice(setting), setting.help
        ).formerly(setting.formerNames)
    }

    private static func choice(_ setting: OutputSetting) -> ValueChoice? {
        switch setting.row.values {
        case .word(let words, _): .words(words)
        case .formats(let formats): .list(formats.map(\.name))
        case .flag, .number, .color: nil
        }
    }

    /// Image processing steps.
    package static let stepOptions = resizeOptions + otherSteps + [thumbnail, pixelRatio]

    private static let resizeOptions = [
        OptionDefinition(
            "resize", value: "WxH",
            "resize to a box in pixels; 300x, x200: by one side (repeatable)"),
        OptionDefinition(
            "mode", value: "MODE", of: .words(ResizeMode.named.map(\.name)),
            "how images are resized (fit):\n"
                + "fit: inside the box, never enlarged;\n"
                + "fill: cover the box and crop;\n"
                + "stretch: to the box, ignoring the aspect ratio;\n"
                + "letterbox: inside the box, with transparent margins;\n"
                + "cover: cover the box without cropping;\n"
                + "auto: cover if image and box have the same orientation, else fit;\n"
                + "fit-turned: fit, with the box turned to the image's orientation;\n"
                + "cover-turned: cover, with the box turned in the same way;\n"
                + "reshape: crop to the aspect ratio of the box, never enlarged"),
        OptionDefinition("enlarge", "let the preceding resize enlarge images, in fit mode too"),
        OptionDefinition("no-enlarge", "never let the preceding resize enlarge images"),
    ]

    private static let otherSteps = TransformStep.syntaxes.map { syntax in
        var definition = OptionDefinition(syntax.name, value: syntax.value, syntax.help)
        definition.hasUsualValue = syntax.value != nil && syntax.parse("") != nil
        return definition
    }

    private static let thumbnail = OptionDefinition(
        "thumbnail", value: "WxH", "reduce while decoding, before all steps (none)")

    private static let pixelRatio = OptionDefinition(
        "dpr", value: "RATIO",
        "scale of the sizes in --thumbnail and in steps from the first "
            + "--resize on, 0.1 to 10 (1)"
    )

    /// How the image is loaded.
    package static let loadOptions = [
        OptionDefinition(
            "option", value: "NAME", of: .words(RequestOptions.offeredNames),
            separators: [",", " "],
            "(repeatable) " + RequestOptions.effective.names.joined(separator: ",\n")
                + "\naccepted for compatibility with SDWebImage, without effect:\n"
                + RequestOptions.withoutEffect.names.joined(separator: ",\n")),
        OptionDefinition(
            "respect-cache-control",
            "revalidate cached images once they expire according to their origin "
                + "(same as --option respect-cache-control)"),
        OptionDefinition(
            "context", value: "NAME=VALUE",
            of: .words(RequestReader.offeredContextNames.map { "\($0)=" }), separators: [",", " "],
            "SDWebImage context options: image-cache = NAME, "
                + "image-transformer = PRESET or none, image-scale-factor = 2, "
                + "image-thumbnail-pixel-size = WxH, "
                + "cache-key-filter = NAME or text:KEY, "
                + "query-cache-type, store-cache-type, original-query-cache-type, "
                + "original-store-cache-type = none, disk, memory or all;\n"
                + "cache-serializer = as-is or transcode:FORMAT[:QUALITY];\n"
                + "image-scale-down-limit-bytes = BYTES, "
                + "image-decode-options, image-encode-options = WORD=VALUE,…;\n"
                + "animated-image-class = animated or still;\n"
                + "preserve-aspect-ratio = true or false (requires --thumbnail);\n"
                + "png-compression = 1 (fast) to 12 (small)"),
        OptionDefinition("profile", value: "NAME", "profile of the configuration (default)"),
        OptionDefinition(
            "preset", value: "NAME",
            "preset of the configuration with steps and output settings, used if "
                + "none are given; the extension of -o counts as an output setting"),
        OptionDefinition(
            "header", value: "'K: V'", separators: ["\n"], "header for the origin (repeatable)"),
        OptionDefinition(
            "tag", value: "TAG", separators: [",", " "],
            "tag of the cache entries, for cache remove --tag (repeatable)"),
        OptionDefinition(
            "damaged", value: "WORD", of: .words(DamagedImages.allCases.map(\.name)),
            "damaged images: refuse them, or show the decodable pixels (setting of "
                + "the profile, or refuse)"),
        OptionDefinition(
            "priority", value: "P", of: .words(Priority.allCases.map(\.name)),
            "priority: high, normal or low (normal)"),
        OptionDefinition(
            "timeout", value: "TIME",
            "timeout such as 500ms, 10s or 2m; a plain number is seconds (30s)"),
    ]

    /// Options reserved for later versions.
    package static let laterOptions = [
        OptionDefinition("filter", value: "NAME[=V]", visibility: .later)
    ]
}
