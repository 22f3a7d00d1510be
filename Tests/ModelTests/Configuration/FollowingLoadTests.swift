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

    /// One option and which follow-up loads inherit it; `nil` if the option doesn't affect them.
    private struct Row: Sendable {
        let field: String
        let overlay: Bool?
        let fallback: Bool?
        let read: @Sendable (Resolution) -> AnyHashable
        let apply: @Sendable (inout ImageRequest, inout Configuration) throws -> Void
    }

    /// The option is set by the request.
    private static func asked<Value: Hashable & Sendable>(
        _ field: String, overlay: Bool?, fallback: Bool?,
        _ read: @escaping @Sendable (Resolution) -> Value,
        _ apply: @escaping @Sendable (inout ImageRequest) -> Void
    ) -> Row {
        Row(
            field: field, overlay: overlay, fallback: fallback, read: { AnyHashable(read($0)) },
            apply: { request, _ in apply(&request) })
    }

    /// The option is set by a rule for the URLs of the follow-up loads.
    private static func ruled<Value: Hashable & Sendable>(
        _ field: String, overlay: Bool?, fallback: Bool?,
        _ read: @escaping @Sendable (Resolution) -> Value,
        _ apply: @escaping @Sendable (inout Rule) throws -> Void
    ) -> Row {
        Row(
            field: field, overlay: overlay, fallback: fallback, read: { AnyHashable(read($0)) },
            apply: { _, configuration in
                for host in ["marks.example", "fallback.example"] {
                    var rule = Rule(try #require(URLPattern("http://\(host)/*")))
                    try apply(&rule)
                    configuration.profiles["default"]?.rules.append(rule)
                }
            })
    }

    /// The option is set by the profile.
    private static func profiled<Value: Hashable & Sendable>(
        _ field: String, overlay: Bool?, fallback: Bool?,
        _ read: @escaping @Sendable (Resolution) -> Value,
        _ apply: @escaping @Sendable (inout Profile) -> Void
    ) -> Row {
        Row(
            field: field, overlay: overlay, fallback: fallback, read: { AnyHashable(read($0)) },
            apply: { _, configuration in
                var profile = Profile()
                apply(&profile)
                configuration.profiles["default"] = profile
            })
    }

    /// The value in a plain load of the URL, with or without the option.
    private func plain(_ url: String, _ row: Row, isStated: Bool) throws -> AnyHashable {
        var (request, configuration) = (ImageRequest(url: url), Self.configuration())
        if isStated { try row.apply(&request, &configuration) }
        return row.read(try configuration.resolve(request))
    }

    private func check(_ row: Row) throws {
        var (request, configuration) = (Self.request(), Self.configuration())
        try row.apply(&request, &configuration)
        let image = try configuration.resolve(request)
        let overlay = try #require(image.terms.overlays.first)
        guard case .load(let asked) = image.terms.fallback else {
            Issue.record("\(row.field): the fallback is another URL")
            return
        }
        let fallback = try configuration.resolve(fallback: asked)
        for (load, url, isInherited) in [
            (overlay, Self.mark, row.overlay), (fallback, Self.other, row.fallback),
        ] {
            let stated = try plain(url, row, isStated: true)
            let unstated = try plain(url, row, isStated: false)
            #expect(stated != unstated, "\(row.field) makes a difference for \(url)")
            guard let isInherited else { continue }
            #expect(row.read(load) == (isInherited ? stated : unstated), "\(row.field) of \(url)")
        }
    }

    /// The names of all stored properties.
    private func fields(of value: Any) -> Set<String> {
        Set(Mirror(reflecting: value).children.compactMap(\.label))
    }

    // MARK: - Without a row

    @Test func aFollowingLoadIsAPlainLoadOfItsURL() throws {
        let configuration = Self.configuration()
        let terms = try configuration.resolve(Self.request()).terms
        let mark = try configuration.resolve(ImageRequest(url: Self.mark))
        #expect(terms.overlays == [mark])
        guard case .load(let asked) = terms.fallback else {
            Issue.record("the fallback is another URL")
            return
        }
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
        guard case .load(let asked) = try configuration.resolve(request).terms.fallback else {
            Issue.record("the fallback is another URL")
            return
        }
        #expect(plain.count == 1)
        #expect(try configuration.resolve(fallback: asked).request.steps == plain)
    }

    // MARK: - The request

    private static let box = Thumbnail(box: PixelSize(width: 10, height: 10))

    private static let requestRows: [Row] = [
        asked("headers", overlay: false, fallback: false, { $0.request.headers }) {
            $0.headers = [HTTPHeader(name: "X-A", value: "1")]
        },
        // An overlay uses the pixels of its first frame.
        asked("frame", overlay: nil, fallback: true, { $0.request.frame }) { $0.frame = 3 },
        asked("thumbnail", overlay: false, fallback: true, { $0.request.thumbnail }) {
            $0.thumbnail = box
        },
        asked("steps", overlay: false, fallback: true, { $0.request.steps }) {
            $0.steps.append(.resize(PixelSize(width: 5, height: 5), .fit))
        },
        // The ratio is applied once.
        asked("pixelRatio", overlay: false, fallback: true, { $0.request.thumbnail }) {
            ($0.thumbnail, $0.pixelRatio) = (box, 2)
        },
        asked("output", overlay: false, fallback: true, { $0.request.output }) {
            $0.output.format = .webp
        },
        asked("infoOnly", overlay: false, fallback: true, { $0.request.infoOnly }) {
            $0.infoOnly = true
        },
        asked("properties", overlay: false, fallback: true, { $0.request.properties }) {
            ($0.infoOnly, $0.properties) = (true, RequestedProperties([.exif]))
        },
        asked("wantsExplanation", overlay: nil, fallback: true, { $0.request.wantsExplanation }) {
            $0.wantsExplanation = true
        },
        asked("assumedLifetime", overlay: false, fallback: false, { $0.terms.assumedLifetime }) {
            $0.options.insert(.respectCacheControl)
            $0.assumedLifetime = AssumedLifetime(fresh: 60)
        },
        asked(
            "earlierFailureMilliseconds", overlay: true, fallback: nil,
            { $0.request.earlierFailureMilliseconds }
        ) { $0.earlierFailureMilliseconds = 5 },
        asked("queryCacheTypes", overlay: true, fallback: true, { $0.request.queryCacheTypes }) {
            $0.queryCacheTypes = .memory
        },
        asked("storeCacheTypes", overlay: true, fallback: true, { $0.request.storeCacheTypes }) {
            $0.storeCacheTypes = .memory
        },
        asked(
            "originalQueryCacheTypes", overlay: true, fallback: true,
            { $0.request.originalQueryCacheTypes }
        ) { $0.originalQueryCacheTypes = .memory },
        asked(
            "originalStoreCacheTypes", overlay: true, fallback: true,
            { $0.request.originalStoreCacheTypes }
        ) { $0.originalStoreCacheTypes = .memory },
        asked(
            "timeoutMilliseconds", overlay: true, fallback: true,
            { $0.request.timeoutMilliseconds }
        ) { $0.timeoutMilliseconds = 7 },
    ]

    @Test(arguments: requestRows.indices) func fieldsOfARequest(row: Int) throws {
        try check(Self.requestRows[row])
    }

    @Test func eachFieldOfARequestHasARow() {
        let rows = Set(Self.requestRows.map(\.field))
        let apart: Set = ["url", "options", "statedContext"]
        #expect(rows.union(apart) == fields(of: ImageRequest(url: Self.mark)))
    }

    @Test(arguments: RequestOptions.names.indices) func optionsOfARequest(index: Int) throws {
        let (name, option) = RequestOptions.names[index]
        let ofImage: RequestOptions = [
            .refreshCached, .respectCacheControl, .decodeFirstFrameOnly,
        ]
        try check(
            Self.asked(
                name, overlay: !ofImage.contains(option),
                fallback: !RequestOptions.ofImageOnly.contains(option),
                { $0.request.options.contains(option) }
            ) { $0.options.insert(option) })
    }

    // MARK: - The request context

    private static let contextRows: [Row] = [
        asked("profile", overlay: true, fallback: true, { $0.terms.scope }) {
            $0.context.profile = "thumbs"
        },
        asked("cache", overlay: true, fallback: true, { $0.terms.cache }) {
            $0.context.cache = "products"
        },
        asked("originalCache", overlay: true, fallback: true, { $0.terms.originalCache }) {
            $0.context.originalCache = "originals"
        },
        asked("loader", overlay: false, fallback: false, { $0.terms.loader }) {
            $0.context.loader = "mine"
        },
        asked("key", overlay: false, fallback: false, { $0.terms.base }) {
            $0.context.key = .text("k")
        },
        asked("serializer", overlay: false, fallback: true, { $0.terms.serializer }) {
            $0.context.serializer = .transcode(.jpeg, quality: 50)
        },
        asked("scaleFactor", overlay: nil, fallback: true, { $0.request.context.scaleFactor }) {
            $0.context.scaleFactor = 2
        },
        asked("scaleDownLimit", overlay: false, fallback: true, { $0.request.steps }) {
            $0.context.scaleDownLimit = 1_000
        },
        asked("decodesToHDR", overlay: false, fallback: true, { $0.request.output.keepsHDR }) {
            ($0.thumbnail, $0.context.decodesToHDR) = (box, true)
        },
        asked("encodeOptions", overlay: false, fallback: true, { $0.request.output.quality }) {
            var words = EncodeOptions()
            words.quality = 30
            ($0.thumbnail, $0.context.encodeOptions) = (box, words)
        },
        asked("preset", overlay: false, fallback: true, { $0.request.output.quality }) {
            $0.context.preset = "small"
        },
        asked("damaged", overlay: false, fallback: true, { $0.terms.showsDamaged }) {
            $0.context.damaged = .show
        },
        asked("tags", overlay: true, fallback: true, { $0.terms.tags }) {
            $0.context.tags = ["t"]
        },
        asked(
            "wantsExtendedData", overlay: nil, fallback: true,
            { $0.request.context.wantsExtendedData }
        ) { $0.context.wantsExtendedData = true },
        asked("others", overlay: true, fallback: true, { $0.terms.coders }) {
            $0.context.coder = "vector"
        },
    ]

    @Test(arguments: contextRows.indices) func fieldsOfAContext(row: Int) throws {
        try check(Self.contextRows[row])
    }

    /// Every row tests the fallback; only uploads have extended data.
    @Test func eachFieldOfAContextHasARow() {
        let rows = Set(Self.contextRows.map(\.field))
        let apart: Set = ["fallback", "withoutTransformer", "extendedData"]
        #expect(rows.union(apart) == fields(of: RequestContext()))
    }

    /// Its steps are those of the image, which has none.
    @Test func theFallbackOfAnImageWithoutTheTransformerHasNoneEither() throws {
        var configuration = Self.configuration()
        configuration.profiles["default"]?.transformer = "small"
        var request = ImageRequest(url: "http://images.example/a.png")
        request.context.fallback = .url(Self.other)
        request.context.withoutTransformer = true
        let image = try configuration.resolve(request)
        #expect(image.request.steps.isEmpty)
        guard case .load(let asked) = image.terms.fallback else {
            Issue.record("the fallback is another URL")
            return
        }
        #expect(try configuration.resolve(fallback: asked).request.isPlain)
    }

    // MARK: - Rules

    private static let ruleRows: [Row] = [
        ruled("context", overlay: false, fallback: true, { $0.request.thumbnail }) {
            $0.context = [try ContextSetting(.imageThumbnailPixelSize, "10x10")]
        },
        ruled("context", overlay: true, fallback: true, { $0.terms.cache }) {
            $0.context = [try ContextSetting(.imageCache, "products")]
        },
        ruled("keyFilter", overlay: true, fallback: true, { $0.terms.base }) {
            $0.keyFilter = .name("short")
        },
        ruled("serializer", overlay: true, fallback: true, { $0.terms.serializer }) {
            $0.serializer = .transcode(.jpeg, quality: 50)
        },
        ruled("fallback", overlay: false, fallback: false, { $0.terms.fallback }) {
            $0.fallback = .color(Color(argb: 7))
        },
        ruled("damaged", overlay: false, fallback: true, { $0.terms.showsDamaged }) {
            $0.damaged = .show
        },
        ruled("transformer", overlay: false, fallback: true, { $0.request.steps }) {
            $0.transformer = .name("small")
        },
        ruled("transformer", overlay: false, fallback: true, { $0.request.output }) {
            $0.transformer = .name("small")
        },
        ruled("download", overlay: true, fallback: true, { $0.terms.mayDownload }) {
            $0.download = false
        },
        ruled(
            "ignoresCacheControl", overlay: true, fallback: true,
            { $0.terms.ignoresCacheControl }
        ) { $0.ignoresCacheControl = true },
        ruled("respectsCacheControl", overlay: false, fallback: false, { $0.request.options }) {
            $0.respectsCacheControl = true
        },
        ruled("staleLimits", overlay: true, fallback: true, { $0.terms.staleLimits }) {
            $0.staleLimits.ifError = 5
        },
        ruled("tags", overlay: true, fallback: true, { $0.terms.tags }) { $0.tags = ["t"] },
        ruled("takesOriginTags", overlay: true, fallback: true, { $0.terms.takesOriginTags }) {
            $0.takesOriginTags = true
        },
        ruled("limits", overlay: true, fallback: true, { $0.terms.limits }) {
            $0.limits[.pixels] = 9
        },
        ruled("blocks", overlay: true, fallback: true, { $0.terms.blocks }) {
            $0.blocks = [.httpStatus(404): true]
        },
        ruled("headers", overlay: true, fallback: true, { $0.request.headers }) {
            $0.headers = [RuleHeader(name: "X-A", value: .text("1"))]
        },
        ruled("transfer", overlay: true, fallback: true, { $0.terms.transfer }) {
            $0.transfer.requiredHeaders = ["X-A"]
        },
        ruled("identity", overlay: true, fallback: true, { $0.identityName }) {
            $0.identity = "i"
        },
    ]

    @Test(arguments: ruleRows.indices) func fieldsOfARule(row: Int) throws {
        try check(Self.ruleRows[row])
    }

    @Test func eachFieldOfARuleHasARow() throws {
        let rows = Set(Self.ruleRows.map(\.field))
        let apart: Set = ["pattern", "sets", "clears"]
        let rule = Rule(try #require(URLPattern("*")))
        #expect(rows.union(apart) == fields(of: rule))
    }

    /// The frame option of a rule doesn't affect overlays.
    @Test(arguments: RequestOptions.names.indices) func optionsOfARule(index: Int) throws {
        let (name, option) = RequestOptions.names[index]
        let ofImage: RequestOptions = [.refreshCached, .respectCacheControl]
        try check(
            Self.ruled(
                name, overlay: option == .decodeFirstFrameOnly ? nil : !ofImage.contains(option),
                fallback: !RequestOptions.ofImageOnly.contains(option),
                { $0.request.options.contains(option) }
            ) { $0.sets = option })
    }

    // MARK: - Profiles

    private static let profileRows: [Row] = [
        profiled("cache", overlay: true, fallback: true, { $0.terms.cache }) {
            $0.cache = "products"
        },
        profiled("originalCache", overlay: true, fallback: true, { $0.terms.originalCache }) {
            $0.originalCache = "originals"
        },
        profiled("loader", overlay: true, fallback: true, { $0.terms.loader }) {
            $0.loader = "mine"
        },
        profiled("coders", overlay: true, fallback: true, { $0.terms.coders }) {
            $0.coders = ["vector"]
        },
        // Follow-up loads aren't transformed again.
        profiled("transformer", overlay: false, fallback: false, { $0.request.steps }) {
            $0.transformer = "small"
        },
        profiled("keyFilter", overlay: true, fallback: true, { $0.terms.base }) {
            $0.keyFilter = "short"
        },
        profiled("serializer", overlay: true, fallback: true, { $0.terms.serializer }) {
            $0.serializer = .transcode(.jpeg, quality: 50)
        },
        profiled("fallback", overlay: false, fallback: false, { $0.terms.fallback }) {
            $0.fallback = .color(Color(argb: 7))
        },
        profiled("damaged", overlay: false, fallback: true, { $0.terms.showsDamaged }) {
            $0.damaged = .show
        },
        profiled("staleLimits", overlay: true, fallback: true, { $0.terms.staleLimits }) {
            $0.staleLimits.ifError = 5
        },
        profiled("tags", overlay: true, fallback: true, { $0.terms.tags }) { $0.tags = ["t"] },
        profiled("takesOriginTags", overlay: true, fallback: true, { $0.terms.takesOriginTags }) {
            $0.takesOriginTags = true
        },
        profiled("limits", overlay: true, fallback: true, { $0.terms.limits }) {
            $0.limits[.pixels] = 9
        },
    ]

    @Test(arguments: profileRows.indices) func fieldsOfAProfile(row: Int) throws {
        try check(Self.profileRows[row])
    }

    @Test func eachFieldOfAProfileHasARow() {
        let rows = Set(Self.profileRows.map(\.field))
        let apart: Set = ["rules", "front"]
        #expect(rows.union(apart) == fields(of: Profile()))
    }
}
