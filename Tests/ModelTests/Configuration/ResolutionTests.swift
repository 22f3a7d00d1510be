import Testing

@testable import Model

/// How a request is resolved (SEMANTICS §13).
@Suite struct ResolutionTests {
    private let url = "https://img.example.com/avatars/1.png?utm_source=x&v=2"

    private func configuration(_ change: (inout Configuration) -> Void = { _ in }) -> Configuration
    {
        var configuration = Configuration()
        configuration.caches = ["products", "avatars"]
        var card = Preset()
        card.steps = [.resize(PixelSize(width: 5, height: 5), .fill)]
        card.output = OutputOptions(format: .webp, quality: 75)
        var small = Preset()
        small.steps = [.resize(PixelSize(width: 2, height: 2), .fit)]
        configuration.presets = ["card": card, "small": small]
        var filter = KeyFilter()
        filter.dropQuery = ["utm_*"]
        filter.replaceHost = "cdn.example.com"
        configuration.keyFilters = ["no-tracking": filter]
        configuration.serializers = ["small": .transcode(.webp, quality: 70)]
        configuration.profiles["default"] = Profile()
        configuration.profiles["thumbs"] = Profile()
        change(&configuration)
        return configuration
    }

    private func rule(
        _ pattern: String = "https://img.example.com/*", _ change: (inout Rule) throws -> Void
    ) throws -> Rule {
        try Rule(matching: pattern, change)
    }

    private func refusal(
        _ configuration: Configuration, _ change: (inout ImageRequest) -> Void
    ) -> ImageError? {
        var request = ImageRequest(url: url)
        change(&request)
        return configuration.error(request) ?? (try? configuration.resolve(request))?.terms.refusal
    }

    @Test func aSilentConfigurationChangesNothing() throws {
        var request = ImageRequest(url: url)
        request.options = .retryFailed
        request.steps = [.flip(horizontal: true, vertical: false)]
        #expect(try Configuration().resolve(request) == Resolution(request))
        #expect(try configuration().resolve(request) == Resolution(request))
    }

    @Test func theProfileSaysWhatTheRequestDoesNot() throws {
        let configuration = configuration {
            $0.usual.cache = "products"
            $0.usual.transformer = "card"
            $0.usual.keyFilter = "no-tracking"
            $0.usual.serializer = .named("small")
            $0.usual.fallback = .color(Color(argb: 7))
        }
        let plain = try configuration.resolve(ImageRequest(url: url))
        #expect(plain.terms.cache == "products")
        #expect(plain.terms.originalCache == "products")
        #expect(plain.request.steps == configuration.presets["card"]?.steps)
        #expect(plain.request.output.quality == 75)
        #expect(plain.terms.base == .filtered("https://cdn.example.com/avatars/1.png?v=2"))
        #expect(plain.terms.serializer == .transcode(.webp, quality: 70))
        #expect(plain.terms.fallback == .color(Color(argb: 7)))
        #expect(plain.request.context.isEmpty)

        var own = ImageRequest(url: url)
        own.steps = [.flip(horizontal: true, vertical: false)]
        own.context.cache = "default"
        own.context.originalCache = "avatars"
        own.context.key = .text("mine")
        own.context.serializer = .asIs
        own.context.fallback = Fallback.none
        let asked = try configuration.resolve(own)
        #expect(asked.request.steps == own.steps)
        #expect(asked.request.output.isDefault)
        #expect(asked.terms.cache == "")
        #expect(asked.terms.originalCache == "avatars")
        #expect(asked.terms.base == .own("mine"))
        #expect(asked.terms.serializer == .asIs)
        #expect(asked.terms.fallback == .none)
    }

    /// Precedence: a rule, the request, its profile, the file as a whole.
    @Test func whatBecomesOfDamagedImagesIsSaidInOrder() throws {
        let words: [DamagedImages?] = [nil, .refuse, .show]
        for ruled in words {
            for asked in words {
                for profiled in words {
                    for filed in words {
                        let rule = try rule { $0.damaged = ruled }
                        let configuration = configuration {
                            ($0.usual.rules, $0.usual.damaged, $0.damaged) =
                                ([rule], profiled, filed)
                        }
                        var request = ImageRequest(url: url)
                        request.context.damaged = asked
                        let terms = try configuration.resolve(request).terms
                        let wanted = ruled ?? asked ?? profiled ?? filed ?? .refuse
                        #expect(terms.showsDamaged == (wanted == .show))
                    }
                }
            }
        }
    }

    @Test func aFallbackIsResolvedWhenItIsNeeded() throws {
        let other = "https://other.example.com/b.png"
        let rule = try rule("https://other.example.com/*") {
            $0.headers = [RuleHeader(name: "X-A", value: .text("1"))]
        }
        let configuration = configuration {
            ($0.usual.rules, $0.usual.transformer, $0.usual.fallback) =
                ([rule], "card", .url(other))
        }
        let terms = try configuration.resolve(ImageRequest(url: url)).terms
        let asked = try #require(terms.fallbackRequest)
        #expect(asked.url == other)
        #expect(asked.headers.isEmpty, "no rule was looked at yet")
        let resolution = try configuration.resolve(fallback: asked)
        #expect(resolution.request.headers == [HTTPHeader(name: "X-A", value: "1")])
        #expect(resolution.request.steps == configuration.presets["card"]?.steps)
    }

    /// Tags of the request, its profile and all matching rules are combined; for origins and limits
    /// the last value wins. None of them is part of a key.
    @Test func whatAnEntryCarriesComesFromAllThatMatch() throws {
        let rules = [
            try rule { ($0.tags, $0.takesOriginTags) = (["r1", "mine"], false) },
            try rule("https://other/*") { $0.tags = ["other"] },
            try rule {
                $0.tags = ["r2"]
                $0.staleLimits.ifError = 5
            },
        ]
        let configuration = configuration {
            $0.usual.tags = ["house"]
            $0.usual.takesOriginTags = true
            $0.usual.staleLimits.ifError = 3
            $0.usual.staleLimits.whileRevalidate = 4
            $0.usual.rules = rules
        }
        var request = ImageRequest(url: url)
        request.context.tags = ["mine"]
        let resolution = try configuration.resolve(request)
        #expect(resolution.terms.tags == ["mine", "house", "r1", "r2"])
        #expect(!resolution.terms.takesOriginTags)
        #expect(resolution.terms.staleLimits.ifError == 5)
        #expect(resolution.terms.staleLimits.whileRevalidate == 4)
        let plain = try self.configuration().resolve(ImageRequest(url: url))
        let source = try SourceURL(url)
        #expect(
            CacheKey.result(resolution.request, url: source, terms: resolution.terms)
                == CacheKey.result(plain.request, url: source, terms: plain.terms))
        #expect(refusal(configuration) { $0.context.tags = ["a b"] }?.code == .invalidRequest)
        let many = (0..<17).map { "t\($0)" }
        #expect(refusal(configuration) { $0.context.tags = many }?.code == .invalidRequest)
        let extended = refusal(configuration) { $0.context.extendedData = ExtendedData([1]) }
        #expect(extended?.code == .invalidRequest, "nothing is put")
    }

    @Test func aRequestMayRefuseTheTransformerOfItsProfile() throws {
        let configuration = configuration { $0.usual.transformer = "card" }
        var request = ImageRequest(url: url)
        request.context.withoutTransformer = true
        #expect(try configuration.resolve(request).request.wantsOriginal)
        request.context = RequestContext()
        request.infoOnly = true
        #expect(try configuration.resolve(request).request.wantsOriginal)
        request.infoOnly = false
        request.context.preset = "small"
        let steps = try configuration.resolve(request).request.steps
        #expect(steps == configuration.presets["small"]?.steps)
    }

    @Test func rulesReplaceInTheirOrder() throws {
        let rules = [
            try rule {
                $0.sets = [.fromCacheOnly, .retryFailed]
                $0.transformer = .name("card")
                $0.blocks = [.httpStatus(404): true, .error(.badImageData): false]
                $0.context = [try ContextSetting(.imageCache, "products")]
                $0.headers = [RuleHeader(name: "Accept", value: .text("image/webp"))]
            },
            try rule("https://elsewhere.example.com/*") { $0.download = false },
            try rule {
                $0.clears = .fromCacheOnly
                $0.transformer = .name("small")
                $0.serializer = .transcode(.png, quality: nil)
                $0.blocks = [.httpStatus(404): false]
                $0.context = [
                    try ContextSetting(.imageScaleFactor, "3"),
                    try ContextSetting(.imageCache, "avatars"),
                ]
                $0.headers = [RuleHeader(name: "ACCEPT", value: .text("image/png"))]
                $0.identity = "partner-7"
                $0.download = false
                $0.ignoresCacheControl = true
            },
        ]
        let configuration = configuration { $0.usual.rules = rules }
        var request = ImageRequest(url: url)
        request.steps = [.flip(horizontal: true, vertical: false)]
        request.headers = [
            HTTPHeader(name: "accept", value: "*/*"), HTTPHeader(name: "X-A", value: "1"),
        ]
        request.options = .highPriority
        request.context.cache = "products"
        let resolution = try configuration.resolve(request)
        #expect(resolution.request.options == [.highPriority, .retryFailed])
        #expect(resolution.request.steps == configuration.presets["small"]?.steps)
        #expect(resolution.terms.blocks == [.httpStatus(404): false, .error(.badImageData): false])
        #expect(resolution.terms.cache == "avatars")
        #expect(resolution.terms.serializer == .transcode(.png, quality: nil))
        #expect(resolution.request.context.scaleFactor == 3)
        #expect(
            resolution.request.headers == [
                HTTPHeader(name: "X-A", value: "1"), HTTPHeader(name: "ACCEPT", value: "image/png"),
            ])
        #expect(resolution.identityName == "partner-7")
        #expect(!resolution.terms.mayDownload)
        #expect(resolution.terms.ignoresCacheControl)
    }

    @Test func statusesCountBeforeErrorsInWhatBlocks() {
        var terms = LoadTerms()
        terms.blocks = [.httpStatus(404): true, .error(.invalidDownloadStatusCode): false]
        let missing = ImageError(
            .invalidDownloadStatusCode, "", details: ["httpStatus": "404"])
        let gone = ImageError(.invalidDownloadStatusCode, "", details: ["httpStatus": "410"])
        #expect(terms.blocks(missing) == true)
        #expect(terms.blocks(gone) == false)
        #expect(terms.blocks(ImageError(.badImageData, "")) == nil)
    }

    @Test func onlyTheSourcesOfTheListAreAsked() throws {
        let pattern = try #require(URLPattern("https://*.example.com/*"))
        let configuration = configuration { $0.sources = [pattern] }
        #expect(refusal(configuration) { _ in } == nil)
        for url in [
            "https://evil.org/", "https://evil.org/.example.com/", "http://img.example.com/",
            "https://a%2f.example.com/",
        ] {
            #expect(refusal(configuration) { $0.url = url }?.code == .sourceForbidden, "\(url)")
        }
        let odd = "https://a\\.example.com/"
        #expect(refusal(configuration) { $0.url = odd }?.code == .invalidURL)
        let upload = ImageRequest(url: "upload:abc")
        #expect(try configuration.resolve(upload, isUpload: true).request.url == "upload:abc")
    }

    /// Otherwise a URL could evade a rule, or get its secret headers, by another spelling of its
    /// path.
    @Test(arguments: [("https://h/a/..%2fb", true), ("https://h/a/b%2fc", false)])
    func aPathThatMatchesARuleInSomeReadingsOnlyIsRefused(url: String, isRefused: Bool) throws {
        let rules = [
            try rule { $0.tags = ["images"] }, try rule("https://h/a/*") { $0.tags = ["ruled"] },
        ]
        let configuration = configuration { $0.usual.rules = rules }
        var request = ImageRequest(url: url)
        let ruled = try configuration.resolve(request).terms.refusal
        #expect(ruled == (isRefused ? ImageError.ambiguousPath : nil))
        request.context.profile = "thumbs"
        let unruled = try configuration.resolve(request).terms.refusal
        #expect(unruled == nil, "the other profile has no rules")
    }

    @Test func anOverlayOrAFallbackWithAnAmbiguousPathIsRefusedAndItsImageIsNot() throws {
        let ambiguous = "https://h/a/..%2fb"
        let rule = try rule("https://h/a/*") { $0.tags = ["ruled"] }
        let configuration = configuration { $0.usual.rules = [rule] }
        var request = ImageRequest(url: url)
        request.steps = [.overlay(Overlay(url: ambiguous))]
        request.context.fallback = .url(ambiguous)
        let terms = try configuration.resolve(request).terms
        #expect(terms.refusal == nil)
        #expect(terms.overlays.first?.terms.refusal == ImageError.ambiguousPath)
        let asked = try #require(terms.fallbackRequest)
        let fallback = try configuration.resolve(fallback: asked).terms
        #expect(fallback.refusal == ImageError.ambiguousPath)
    }

    @Test func theTextsOfTheSourcesGoAlongWithEveryRequest() throws {
        let texts = ["https://*.example.com/*", "http://h/"]
        let patterns = try texts.map { try #require(URLPattern($0)) }
        var configuration = configuration { $0.sources = patterns }
        #expect(configuration.sourceTexts == texts)
        #expect(try configuration.resolve(ImageRequest(url: url)).terms.sources == texts)
        configuration.sources = nil
        #expect(try configuration.resolve(ImageRequest(url: url)).terms.sources == [])
    }

    @Test func aSummaryCountsAndShowsNothing() throws {
        let rule = try rule { $0.download = false }
        let configuration = configuration { $0.usual.rules = [rule] }
        #expect(
            configuration.summary
                == "0 sources, 2 caches, 2 presets, 1 key filter, 1 serializer, 2 profiles, 1 rule")
    }

    @Test func unknownNamesAreRefusedWithThoseThatAreThere() {
        let cases: [((inout ImageRequest) -> Void, String)] = [
            ({ $0.context.profile = "x" }, "default, thumbs"),
            ({ $0.context.cache = "x" }, "avatars, default, products"),
            ({ $0.context.originalCache = "x" }, "avatars, default, products"),
            ({ $0.context.preset = "x" }, "card, small"),
            ({ $0.context.key = .filter("x") }, "no-tracking"),
            ({ $0.context.serializer = .named("x") }, "as-is, small"),
            ({ $0.context.loader = "x" }, "http"),
        ]
        for (change, names) in cases {
            let error = refusal(configuration(), change)
            #expect(error?.code == .invalidRequest)
            #expect(error?.message.hasSuffix(names) == true, "\(error?.message ?? "")")
        }
    }

    @Test func profilesHaveABlacklistOfTheirOwn() throws {
        var request = ImageRequest(url: url)
        #expect(try configuration().resolve(request).terms.scope == "")
        request.context.profile = "thumbs"
        #expect(try configuration().resolve(request).terms.scope == "thumbs")
        request.context.profile = "default"
        #expect(try configuration().resolve(request).terms.scope == "")
    }

    @Test func secretsTravelInHeadersAndNowhereElse() throws {
        let rule = try rule {
            $0.headers = [RuleHeader(name: "X-Api-Key", value: .file("/run/secrets/key"))]
        }
        var configuration = configuration { $0.usual.rules = [rule] }
        #expect(configuration.secretFiles == ["/run/secrets/key"])
        configuration.secretErrors = ["/run/secrets/key": "the secret is not there"]
        let fault = refusal(configuration) { _ in }
        #expect(fault?.code == .invalidDownloadOperation)
        #expect(fault?.message.contains("/run/secrets/key") == true)
        #expect(fault?.message.contains("the secret is not there") == true)
        configuration.secrets = ["/run/secrets/key": "s3cret"]
        let resolution = try configuration.resolve(ImageRequest(url: url))
        #expect(resolution.request.headers == [HTTPHeader(name: "X-Api-Key", value: "s3cret")])
        #expect(resolution.secretHeaders == ["x-api-key"])
        #expect(!"\(resolution.terms)".contains("s3cret"))
    }

    @Test(arguments: [
        ("https://h/a.png?utm_source=1&v=2#x", "https://cdn.example.com/a.png?v=2#x"),
        ("https://h/a.png?utm_source=1", "https://cdn.example.com/a.png"),
        ("https://u:p@h:8443/a", "https://cdn.example.com/a"),
        ("https://h?utm_x&a", "https://cdn.example.com?a"),
    ])
    func filtersMakeTheTextOfAURL(url: String, text: String) throws {
        let filter = try #require(configuration().keyFilters["no-tracking"])
        #expect(filter.apply(to: try SourceURL(url)) == text)
    }

    @Test func whatIsWrongWithAContextIsSaidBeforeAnythingElse() {
        let error = refusal(configuration()) { $0.context.others["download-decryptor"] = "x" }
        #expect(error?.code == .notSupported)
        #expect(refusal(configuration()) { $0.context.key = .text("a\u{1F}b") } != nil)
    }

    @Test func aRuleReplacesTheLimitsOfItsProfile() throws {
        let rules = [
            try rule { $0.limits[.pixels] = 50 }, try rule { $0.limits[.body] = 7 },
            try rule("https://other.example.com/*") { $0.limits[.pages] = 1 },
        ]
        let configuration = configuration {
            $0.usual.limits[.pixels] = 100
            $0.usual.limits[.pages] = 5
            $0.usual.rules = rules
        }
        var expected = LimitSettings()
        (expected[.pixels], expected[.pages], expected[.body]) = (50, 5, 7)
        #expect(try configuration.resolve(ImageRequest(url: url)).terms.limits == expected)
    }
}
