import Testing

@testable import Model

/// What follow-up loads (the overlays and the fallback of an image) inherit from the load that
/// causes them (SEMANTICS §2.1). Each row of a table sets one option, and states whether the
/// follow-up load resolves like a plain load of its URL with that option, or without it.
///
/// An overlay is the whole, undamaged original of its URL, regardless of the image and of rules. A
/// fallback is loaded like the image that it replaces, but has no fallback of its own and is not
/// refreshed.
@Suite struct FollowingLoadTests {
    private static let mark = "http://marks.example/mark.png"
    private static let other = "http://fallback.example/other.png"

    /// A request with an overlay and a fallback.
    private static func request() -> ImageRequest {
        var request = ImageRequest(url: "http://images.example/a.png")
        request.steps = [.overlay(Overlay(url: mark))]
        request.context.fallback = .url(other)
        return request
    }

    private static func configuration() -> Configuration {
        var configuration = Configuration()
        configuration.caches = ["products", "originals"]
        var small = Preset()
        small.thumbnail = Thumbnail(box: PixelSize(width: 2, height: 2))
        small.steps = [.flip(horizontal: true, vertical: false)]
        small.output = OutputOptions(format: .webp, quality: 33)
        configuration.presets = ["small": small]
        var filter = KeyFilter()
        filter.prefix = "short:"
        configuration.keyFilters = ["short": filter]
        var mine = NamedLoader(name: "mine", means: .pool("mine"))
        mine.schemes = ["http"]
        configuration.loaders = [mine, NamedLoader(name: "usual", means: .http)]
        configuration.profiles = ["default": Profile(), "thumbs": Profile()]
        return configuration
    }

    // MARK: - Rows

    /// What can set an option of a load.
    struct Subject {
        var request: ImageRequest
        /// For the URLs of the follow-up loads.
        var rule: Rule
        var profile = Profile()
    }

    /// Whether an overlay and a fallback inherit an option; `nil` if it doesn't affect them.
    struct Inherited: Sendable {
        var overlay: Bool?
        var fallback: Bool?

        static let both = Inherited(overlay: true, fallback: true)
        static let neither = Inherited(overlay: false, fallback: false)
        static let byFallback = Inherited(overlay: false, fallback: true)
        /// By the fallback; an overlay isn't affected.
        static let noOverlay = Inherited(overlay: nil, fallback: true)
    }

    /// One option and which follow-up loads inherit it.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let inherited: Inherited
        let read: @Sendable (Resolution) -> AnyHashable
        let apply: @Sendable (inout Subject) throws -> Void

        init<Value: Hashable & Sendable>(
            _ field: String, _ inherited: Inherited,
            _ read: @escaping @Sendable (Resolution) -> Value,
            _ apply: @escaping @Sendable (inout Subject) throws -> Void
        ) {
            (testDescription, self.inherited, self.apply) = (field, inherited, apply)
            self.read = { AnyHashable(read($0)) }
        }

        init<Value: Hashable & Sendable, Option: Sendable>(
            _ field: String, _ inherited: Inherited,
            _ read: @escaping @Sendable (Resolution) -> Value,
            _ option: any WritableKeyPath<Subject, Option> & Sendable, _ value: Option
        ) {
            self.init(field, inherited, read) { $0[keyPath: option] = value }
        }
    }

    /// A request with an option, and a configuration with it.
    private func prepared(
        _ request: ImageRequest, _ row: Row?
    ) throws -> (ImageRequest, Configuration) {
        var subject = try Subject(request: request, rule: Rule(matching: "*"))
        try row?.apply(&subject)
        var configuration = Self.configuration()
        configuration.usual = subject.profile
        for host in ["marks.example", "fallback.example"] {
            subject.rule.pattern = try #require(URLPattern("http://\(host)/*"))
            configuration.usual.rules.append(subject.rule)
        }
        return (subject.request, configuration)
    }

    @Test(arguments: requestRows + contextRows + ruleRows + profileRows)
    func anOptionIsInherited(_ row: Row) throws {
        let (request, configuration) = try prepared(Self.request(), row)
        let image = try configuration.resolve(request)
        let overlay = try #require(image.terms.overlays.first)
        let fallback = try configuration.resolve(
            fallback: #require(image.terms.fallbackRequest))
        for (load, url, isInherited) in [
            (overlay, Self.mark, row.inherited.overlay),
            (fallback, Self.other, row.inherited.fallback),
        ] {
            /// The value in a plain load of the URL, with or without the option.
            func plain(_ row: Row?) throws -> Resolution {
                let (request, configuration) = try prepared(ImageRequest(url: url), row)
                return try configuration.resolve(request)
            }
            let (stated, unstated) = (row.read(try plain(row)), row.read(try plain(nil)))
            #expect(stated != unstated, "it makes a difference for \(url)")
            guard let isInherited else { continue }
            #expect(row.read(load) == (isInherited ? stated : unstated), "\(url)")
        }
    }

    /// All stored properties have a row, except those `apart`.
    private func expect(_ rows: [Row], of value: Any, apart: Set<String>) {
        let fields = Mirror(reflecting: value).children.compactMap(\.label)
        #expect(apart.union(rows.map(\.testDescription)) == Set(fields))
    }

    @Test func eachFieldHasARow() throws {
        expect(
            Self.requestRows, of: ImageRequest(url: Self.mark),
            apart: ["url", "options", "statedContext"])
        // Every row tests the fallback; only uploads have extended data.
        expect(
            Self.contextRows, of: RequestContext(),
            apart: ["fallback", "withoutTransformer", "extendedData"])
        expect(Self.ruleRows, of: try Rule(matching: "*"), apart: ["pattern", "sets", "clears"])
        expect(Self.profileRows, of: Profile(), apart: ["rules", "front"])
    }

    // MARK: - Without a row

    @Test func aFollowingLoadIsAPlainLoadOfItsURL() throws {
        let configuration = Self.configuration()
        let terms = try configuration.resolve(Self.request()).terms
        let mark = try configuration.resolve(ImageRequest(url: Self.mark))
        #expect(terms.overlays == [mark])
        let asked = try #require(terms.fallbackRequest)
        #expect(
            try configuration.resolve(fallback: asked)
                == configuration.resolve(ImageRequest(url: Self.other)))
    }

    @Test func aFallbackIsScaledDownOnce() throws {
        let configuration = Self.configuration()
        var request = ImageRequest(url: "http://images.example/a.png")
        request.options = .scaleDownLargeImages
        let plain = try configuration.resolve(request).request.steps
        request.context.fallback = .url(Self.other)
        let asked = try #require(configuration.resolve(request).terms.fallbackRequest)
        #expect(plain.count == 1)
        #expect(try configuration.resolve(fallback: asked).request.steps == plain)
    }

    // MARK: - The request

    private static let box = Thumbnail(box: PixelSize(width: 10, height: 10))

    private static let requestRows: [Row] = [
        Row(
            "headers", .neither, \.request.headers, \.request.headers,
            [HTTPHeader(name: "X-A", value: "1")]),
        // An overlay uses the pixels of its first frame.
        Row("frame", .noOverlay, \.request.frame, \.request.frame, 3),
        Row("thumbnail", .byFallback, \.request.thumbnail, \.request.thumbnail, box),
        Row("steps", .byFallback, \.request.steps) {
            $0.request.steps.append(.resize(PixelSize(width: 5, height: 5), .fit))
        },
        // The ratio is applied once.
        Row("pixelRatio", .byFallback, \.request.thumbnail) {
            ($0.request.thumbnail, $0.request.pixelRatio) = (box, 2)
        },
        Row("output", .byFallback, \.request.output, \.request.output.format, .webp),
        Row("infoOnly", .byFallback, \.request.infoOnly, \.request.infoOnly, true),
        Row("properties", .byFallback, \.request.properties) {
            ($0.request.infoOnly, $0.request.properties) = (true, RequestedProperties([.exif]))
        },
        Row(
            "wantsExplanation", .noOverlay, \.request.wantsExplanation, \.request.wantsExplanation,
            true),
        Row("assumedLifetime", .neither, \.terms.assumedLifetime) {
            $0.request.options.insert(.respectCacheControl)
            $0.request.assumedLifetime = AssumedLifetime(fresh: 60)
        },
        Row(
            "earlierFailureMilliseconds", Inherited(overlay: true, fallback: nil),
            \.request.earlierFailureMilliseconds, \.request.earlierFailureMilliseconds, 5),
        Row(
            "queryCacheTypes", .both, \.request.queryCacheTypes, \.request.queryCacheTypes, .memory),
        Row(
            "storeCacheTypes", .both, \.request.storeCacheTypes, \.request.storeCacheTypes, .memory),
        Row(
            "originalQueryCacheTypes", .both, \.request.originalQueryCacheTypes,
            \.request.originalQueryCacheTypes, .memory),
        Row(
            "originalStoreCacheTypes", .both, \.request.originalStoreCacheTypes,
            \.request.originalStoreCacheTypes, .memory),
        Row(
            "timeoutMilliseconds", .both, \.request.timeoutMilliseconds,
            \.request.timeoutMilliseconds, 7),
    ]

    @Test(arguments: RequestOptions.names.indices) func optionsOfARequest(index: Int) throws {
        let (name, option) = RequestOptions.names[index]
        let ofImage: RequestOptions = [
            .refreshCached, .respectCacheControl, .decodeFirstFrameOnly,
        ]
        let inherited = Inherited(
            overlay: !ofImage.contains(option),
            fallback: !RequestOptions.ofImageOnly.contains(option))
        try anOptionIsInherited(
            Row(name, inherited, { $0.request.options.contains(option) }) {
                $0.request.options.insert(option)
            })
    }

    // MARK: - The request context

    private static let contextRows: [Row] = [
        Row("profile", .both, \.terms.scope, \.request.context.profile, "thumbs"),
        Row("cache", .both, \.terms.cache, \.request.context.cache, "products"),
        Row(
            "originalCache", .both, \.terms.originalCache, \.request.context.originalCache,
            "originals"),
        Row("loader", .neither, \.terms.loader, \.request.context.loader, "mine"),
        Row("key", .neither, \.terms.base, \.request.context.key, .text("k")),
        Row(
            "serializer", .byFallback, \.terms.serializer, \.request.context.serializer,
            .transcode(.jpeg, quality: 50)),
        Row(
            "scaleFactor", .noOverlay, \.request.context.scaleFactor, \.request.context.scaleFactor,
            2),
        Row(
            "scaleDownLimit", .byFallback, \.request.steps, \.request.context.scaleDownLimit, 1_000),
        Row("decodesToHDR", .byFallback, \.request.output.keepsHDR) {
            ($0.request.thumbnail, $0.request.context.decodesToHDR) = (box, true)
        },
        Row("encodeOptions", .byFallback, \.request.output.quality) {
            var words = EncodeOptions()
            words.quality = 30
            ($0.request.thumbnail, $0.request.context.encodeOptions) = (box, words)
        },
        Row("preset", .byFallback, \.request.output.quality, \.request.context.preset, "small"),
        Row("damaged", .byFallback, \.terms.showsDamaged, \.request.context.damaged, .show),
        Row("tags", .both, \.terms.tags, \.request.context.tags, ["t"]),
        Row(
            "wantsExtendedData", .noOverlay, \.request.context.wantsExtendedData,
            \.request.context.wantsExtendedData, true),
        Row("others", .both, \.terms.coders, \.request.context.coder, "vector"),
    ]

    /// Its steps are those of the image, which has none.
    @Test func theFallbackOfAnImageWithoutTheTransformerHasNoneEither() throws {
        var configuration = Self.configuration()
        configuration.usual.transformer = "small"
        var request = ImageRequest(url: "http://images.example/a.png")
        request.context.fallback = .url(Self.other)
        request.context.withoutTransformer = true
        let image = try configuration.resolve(request)
        #expect(image.request.steps.isEmpty)
        let asked = try #require(image.terms.fallbackRequest)
        #expect(try configuration.resolve(fallback: asked).request.isPlain)
    }

    // MARK: - Rules

    private static let ruleRows: [Row] = [
        Row("context", .byFallback, \.request.thumbnail) {
            $0.rule.context = [try ContextSetting(.imageThumbnailPixelSize, "10x10")]
        },
        Row("context", .both, \.terms.cache) {
            $0.rule.context = [try ContextSetting(.imageCache, "products")]
        },
        Row("keyFilter", .both, \.terms.base, \.rule.keyFilter, .name("short")),
        Row(
            "serializer", .both, \.terms.serializer, \.rule.serializer,
            .transcode(.jpeg, quality: 50)),
        Row("fallback", .neither, \.terms.fallback, \.rule.fallback, .color(Color(argb: 7))),
        Row("damaged", .byFallback, \.terms.showsDamaged, \.rule.damaged, .show),
        Row("transformer", .byFallback, \.request.steps, \.rule.transformer, .name("small")),
        Row("transformer", .byFallback, \.request.output, \.rule.transformer, .name("small")),
        Row("download", .both, \.terms.mayDownload, \.rule.download, false),
        Row(
            "ignoresCacheControl", .both, \.terms.ignoresCacheControl, \.rule.ignoresCacheControl,
            true),
        Row("respectsCacheControl", .neither, \.request.options, \.rule.respectsCacheControl, true),
        Row("staleLimits", .both, \.terms.staleLimits, \.rule.staleLimits.ifError, 5),
        Row("tags", .both, \.terms.tags, \.rule.tags, ["t"]),
        Row("takesOriginTags", .both, \.terms.takesOriginTags, \.rule.takesOriginTags, true),
        Row("limits", .both, \.terms.limits) {
            $0.rule.limits[.pixels] = 9
        },
        Row("blocks", .both, \.terms.blocks, \.rule.blocks, [.httpStatus(404): true]),
        Row(
            "headers", .both, \.request.headers, \.rule.headers,
            [RuleHeader(name: "X-A", value: .text("1"))]),
        Row("transfer", .both, \.terms.transfer, \.rule.transfer.requiredHeaders, ["X-A"]),
        Row("identity", .both, \.identityName, \.rule.identity, "i"),
    ]

    /// The frame option of a rule doesn't affect overlays.
    @Test(arguments: RequestOptions.names.indices) func optionsOfARule(index: Int) throws {
        let (name, option) = RequestOptions.names[index]
        let ofImage: RequestOptions = [.refreshCached, .respectCacheControl]
        let inherited = Inherited(
            overlay: option == .decodeFirstFrameOnly ? nil : !ofImage.contains(option),
            fallback: !RequestOptions.ofImageOnly.contains(option))
        try anOptionIsInherited(
            Row(name, inherited, { $0.request.options.contains(option) }) {
                $0.rule.sets = option
            })
    }

    // MARK: - Profiles

    private static let profileRows: [Row] = [
        Row("cache", .both, \.terms.cache, \.profile.cache, "products"),
        Row("originalCache", .both, \.terms.originalCache, \.profile.originalCache, "originals"),
        Row("loader", .both, \.terms.loader, \.profile.loader, "mine"),
        Row("coders", .both, \.terms.coders, \.profile.coders, ["vector"]),
        // Follow-up loads aren't transformed again.
        Row("transformer", .neither, \.request.steps, \.profile.transformer, "small"),
        Row("keyFilter", .both, \.terms.base, \.profile.keyFilter, "short"),
        Row(
            "serializer", .both, \.terms.serializer, \.profile.serializer,
            .transcode(.jpeg, quality: 50)),
        Row("fallback", .neither, \.terms.fallback, \.profile.fallback, .color(Color(argb: 7))),
        Row("damaged", .byFallback, \.terms.showsDamaged, \.profile.damaged, .show),
        Row("staleLimits", .both, \.terms.staleLimits, \.profile.staleLimits.ifError, 5),
        Row("tags", .both, \.terms.tags, \.profile.tags, ["t"]),
        Row("takesOriginTags", .both, \.terms.takesOriginTags, \.profile.takesOriginTags, true),
        Row("limits", .both, \.terms.limits) {
            $0.profile.limits[.pixels] = 9
        },
    ]
}
