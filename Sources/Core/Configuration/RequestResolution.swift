public import ImageModel
public import Messages

extension Configuration {
    /// What a request becomes: what it does not say its profile says, then all rules that match its
    /// URL replace what they name, in order, and at last names become what they stand for.
    ///
    /// `isUpload`: the image came along, and the URL is the name of its digest. What is wrong
    /// with the URL, or with asking for it, is the refusal of the terms: there may be a fallback.
    /// Throws for a name that is not there.
    public func resolve(
        _ request: ImageRequest, isUpload: Bool = false
    ) throws(ImageError) -> Resolution {
        try resolve(request, isUpload: isUpload, as: .image)
    }

    /// What a request is loaded for.
    private enum Part {
        case image, fallback, overlay
    }

    /// The same of the fallback of another request (`PreparedFallback`): one that has none itself.
    public func resolve(fallback request: ImageRequest) throws(ImageError) -> Resolution {
        try resolve(request, isUpload: false, as: .fallback)
    }

    private func resolve(
        _ request: ImageRequest, isUpload: Bool, as part: Part
    ) throws(ImageError) -> Resolution {
        try request.context.check()
        if !isUpload, request.context.extendedData != nil { throw .extendedDataOfNothing }
        let (url, refusal) = Self.url(of: request)
        let profile = try profile(request.context.profile)
        let isCompared = !profile.rules.isEmpty || sources != nil
        let target = isCompared ? URLTarget(url) : nil
        var draft = ResolutionDraft(request, profile, damaged: damaged)
        if let target {
            for rule in profile.rules where rule.pattern.matches(target) { draft.obey(rule) }
        }
        draft.leaveFreshness()
        switch part {
        case .image: break
        case .fallback: draft.leaveFallback()
        case .overlay: draft.leaveImage()
        }
        var resolution = try finish(draft, url, isUpload: isUpload, as: part)
        // The operator's own watermark needs no permission of his.
        let isOwn = part == .overlay && url.scheme == FileRoot.watermarkScheme
        if !isUpload, !isOwn, let target, let sources, !URLPattern.permits(target, sources) {
            resolution.terms.refusal = ImageError(
                .sourceForbidden,
                "the sources of the configuration do not have this URL: an operator adds them to "
                    + "'sources' in the file of serve --config")
        }
        if let target, profile.rules.contains(where: { $0.pattern.isInDoubt(target) }) {
            resolution.terms.refusal = .ambiguousPath
        }
        if let refusal { resolution.terms.refusal = refusal }
        return resolution
    }

    /// What is no URL is resolved like any, so that its fallback is known.
    private static func url(of request: ImageRequest) -> (SourceURL, refusal: ImageError?) {
        do throws(ImageError) {
            return (try SourceURL(request.url), nil)
        } catch {
            return (anyURL, error)
        }
    }

    private static let anyURL: SourceURL = {
        guard let url = try? SourceURL("http://host/") else { preconditionFailure("it is a URL") }
        return url
    }()

    /// Throws what is wrong with a request whatever its URL is: names that are not there.
    public func check(_ request: ImageRequest) throws(ImageError) {
        var request = request
        request.url = "http://host/"
        _ = try resolve(request, isUpload: true)
    }

    private func profile(_ name: String?) throws(ImageError) -> Profile {
        guard let name, name != Self.defaultName else {
            return profiles[Self.defaultName] ?? Profile()
        }
        guard let profile = profiles[name] else {
            throw Self.unknown("profile", Set(profiles.keys).union([Self.defaultName]))
        }
        return profile
    }

    // MARK: - Names

    private func finish(
        _ draft: ResolutionDraft, _ url: SourceURL, isUpload: Bool, as part: Part
    ) throws(ImageError) -> Resolution {
        var resolution = Resolution(draft.request)
        if part != .overlay {
            try transform(&resolution.request, draft)
            resolution.request.applyScaleDownLimit()
        }
        resolution.request.applyPixelRatio()
        resolution.request.applyEncodeOptions(besides: own(draft, resolution.request))
        resolution.request.applyDecodeToHDR()
        resolution.terms = try terms(draft, url, isUpload: isUpload)
        if !isUpload {
            switch try loader(draft.request.context.loader, for: url) {
            case .success(let loader): resolution.terms.loader = loader
            case .failure(let refusal): resolution.terms.refusal = refusal
            }
        }
        resolution.terms.fallback = Self.prepared(
            draft.request.context.fallback, of: resolution.request)
        let request = resolution.request
        resolution.terms.overlays = request.overlays.map { overlay($0, of: request) }
        if !isUpload {
            try add(draft.headers, to: &resolution)
            if let rule = draft.transfer { try addTransfer(rule, url, to: &resolution) }
            try resolution.terms.checkTransferOfPool()
            try addSecretHeaders(to: &resolution)
            try checkUnverified(resolution)
        }
        resolution.identityName = draft.identity
        resolution.request.context = draft.remainder
        return resolution
    }

    private func transform(
        _ request: inout ImageRequest, _ draft: ResolutionDraft
    ) throws(ImageError) {
        if let name = request.context.preset { try preset(name).complete(&request) }
        if let name = draft.defaultTransformer { try preset(name).complete(&request) }
        switch draft.transformer {
        case .name(let name): try preset(name).replace(&request)
        case .some(.none): request.steps = []
        case nil: break
        }
    }

    /// The output that words for the encoder do not change: that of a rule's preset, which took the
    /// place of the request's, else the request's own. What a preset only completes is a default.
    private func own(_ draft: ResolutionDraft, _ request: ImageRequest) -> OutputOptions {
        if case .name = draft.transformer { request.output } else { draft.request.output }
    }

    private func preset(_ name: String) throws(ImageError) -> Preset {
        guard let preset = presets[name] else {
            throw Self.unknown("preset", Set(presets.keys))
        }
        return preset
    }

    private func terms(
        _ draft: ResolutionDraft, _ url: SourceURL, isUpload: Bool
    ) throws(ImageError) -> LoadTerms {
        let context = draft.request.context
        var terms = LoadTerms()
        terms.cache = try cacheText(of: context.cache)
        terms.originalCache = try cacheText(of: context.originalCache ?? context.cache)
        if !isUpload { terms.base = try base(context.key, url) }
        terms.coders = try coders(context.coder.map { [$0] } ?? draft.coders)
        terms.mayDownload = isUpload || draft.mayDownload
        terms.ignoresCacheControl = draft.ignoresCacheControl
        terms.sources = sourceTexts
        (terms.tags, terms.takesOriginTags) = (draft.tags, draft.takesOriginTags)
        (terms.limits, terms.staleLimits) = (draft.limits, draft.staleLimits)
        terms.assumedLifetime = draft.request.countedLifetime
        terms.blocks = draft.blocks
        terms.showsDamaged = context.damaged == .show
        terms.serializer = try serializer(context.serializer)
        terms.scope = context.profile.map { $0 == Self.defaultName ? "" : $0 } ?? ""
        return terms
    }

    /// A fallback is a request of its own, by the same rules and without a fallback itself; the
    /// steps are those of the image.
    private static func prepared(
        _ fallback: Fallback?, of request: ImageRequest
    ) -> PreparedFallback {
        guard case .url(let url) = fallback else {
            return PreparedFallback(fallback, of: request)
        }
        return .load(following(request.loading(fallback: url)))
    }

    /// A load that follows from another one: as its image, but for what was said of that alone.
    private static func following(_ request: ImageRequest) -> ImageRequest {
        var image = request
        image.context.loader = nil
        image.context.preset = nil
        image.context.withoutTransformer = true
        return image
    }

    /// The load of what is laid over an image; what is wrong with it is the refusal of its terms.
    private func overlay(_ overlay: Overlay, of request: ImageRequest) -> Resolution {
        let image = Self.following(request.loading(overlay: overlay))
        do throws(ImageError) {
            return try resolve(image, isUpload: false, as: .overlay)
        } catch {
            var refused = Resolution(image)
            refused.terms.refusal = error
            return refused
        }
    }

    /// What a cache is called in stored texts (`CacheKey.stored`): empty for the default one.
    /// Throws where there is no cache of that name.
    public func cacheText(of name: String?) throws(ImageError) -> String {
        guard let name, name != Self.defaultName else { return "" }
        guard caches.contains(name) else {
            throw Self.unknown("cache", caches.union([Self.defaultName]))
        }
        return name
    }

    /// Which names of caches stand for several, as stored texts call them.
    public var cacheLayout: CacheLayout {
        CacheLayout(
            composites.mapValues { composite in
                var composite = composite
                composite.caches = composite.caches.map { $0 == Self.defaultName ? "" : $0 }
                return composite
            }, foreign: foreignCaches)
    }

    private func base(_ key: BaseKey?, _ url: SourceURL) throws(ImageError) -> KeyBase {
        switch key {
        case nil, .filter("none"): return .url
        case .text(let text): return .own(SourceURL.percentEncodingNonASCII(text))
        case .filter(let name):
            guard let filter = keyFilters[name] else {
                throw Self.unknown("key filter", Set(keyFilters.keys))
            }
            return .filtered(filter.apply(to: url))
        }
    }

    private func serializer(_ serializer: Serializer?) throws(ImageError) -> Serializer {
        guard case .named(let name) = serializer else { return serializer ?? .asIs }
        guard let found = serializers[name] else {
            throw Self.unknown("serializer", Set(serializers.keys).union(["as-is"]))
        }
        return found
    }

    static func unknown(_ what: String, _ names: Set<String>) -> ImageError {
        let known = names.sorted().prefix(namesToldMax).joined(separator: ", ")
        let list = known.isEmpty ? "there is none" : "there are: \(known)"
        return ImageError(.invalidRequest, "the configuration has no \(what) of that name; \(list)")
    }

    /// So that the sentence stays within what a message carries.
    private static let namesToldMax = 6

    // MARK: - Headers

    /// The content of a secret file.
    func secret(_ path: String) throws(ImageError) -> String {
        guard let secret = secrets[path] else { throw missingSecret(path) }
        return secret
    }

    /// Without it the transfer cannot be made.
    func missingSecret(_ path: String) -> ImageError {
        let reason = secretFaults[path] ?? "it was not read"
        return ImageError(
            .invalidDownloadOperation,
            "the configuration needs \(path) for this URL, and \(reason): put it right, it is read "
                + "again within a second")
    }

    private func add(
        _ headers: [RuleHeader], to resolution: inout Resolution
    ) throws(ImageError) {
        for header in headers {
            let name = header.name.lowercased()
            resolution.request.headers.removeAll { $0.name.lowercased() == name }
            resolution.secretHeaders.remove(name)
            switch header.value {
            case .text(let text):
                resolution.request.headers.append(HTTPHeader(name: header.name, value: text))
            case .file(let path):
                resolution.request.headers.append(
                    HTTPHeader(name: header.name, value: try secret(path)))
                resolution.secretHeaders.insert(name)
            }
        }
    }
}

/// A request on its way to a resolution: names are still names.
struct ResolutionDraft {
    /// What the request says, then what its profile says, then what rules say.
    private(set) var request: ImageRequest
    /// The preset of the profile, for a request without steps.
    private(set) var defaultTransformer: String?
    /// What a rule puts in place of the steps.
    private(set) var transformer: NameOrNone?
    private(set) var mayDownload = true
    private(set) var ignoresCacheControl = false
    /// Tags of the request, of its profile, and of rules.
    private(set) var tags: [String]
    private(set) var takesOriginTags: Bool
    private(set) var staleLimits: StaleLimits
    private(set) var limits: LimitSettings
    private(set) var blocks: [BlockCause: Bool] = [:]
    private(set) var headers: [RuleHeader] = []
    private(set) var identity: String?
    /// Who decodes where the context names nobody.
    let coders: [String]
    /// What rules say of the transfer; `nil`: nothing.
    private(set) var transfer: TransferRule?
    /// What is left of the context: what the reply needs, and what is refused by name.
    private(set) var remainder = RequestContext()

    /// The manager's values, each only where the context of the request has none
    /// (SEMANTICS §13.1).
    init(_ request: ImageRequest, _ profile: Profile, damaged: DamagedImages?) {
        self.request = request
        (limits, staleLimits) = (profile.limits, profile.staleLimits)
        let asked = request.context
        tags = CacheTag.union(CacheTag.union([], asked.tags), profile.tags)
        takesOriginTags = profile.takesOriginTags ?? false
        self.request.context.cache = asked.cache ?? profile.cache
        self.request.context.originalCache = asked.originalCache ?? profile.originalCache
        self.request.context.loader = asked.loader ?? profile.loader
        self.request.context.key = asked.key ?? profile.keyFilter.map { .filter($0) }
        self.request.context.serializer = asked.serializer ?? profile.serializer
        self.request.context.fallback = asked.fallback ?? profile.fallback
        self.request.context.damaged = asked.damaged ?? profile.damaged ?? damaged
        remainder.scaleFactor = asked.scaleFactor
        remainder.wantsExtendedData = asked.wantsExtendedData
        let hasOwn = !request.steps.isEmpty || asked.preset != nil || asked.withoutTransformer
        coders = profile.coders
        if !hasOwn, !request.infoOnly { defaultTransformer = profile.transformer }
    }

    /// What the options processor and the delegate say (SEMANTICS §13.2).
    mutating func obey(_ rule: Rule) {
        request.options = request.options.union(rule.sets).subtracting(rule.clears)
        apply(rule.context)
        if let filter = rule.keyFilter {
            switch filter {
            case .none: request.context.key = nil
            case .name(let name): request.context.key = .filter(name)
            }
        }
        if let serializer = rule.serializer { request.context.serializer = serializer }
        if let fallback = rule.fallback { request.context.fallback = fallback }
        if let damaged = rule.damaged { request.context.damaged = damaged }
        if let transformer = rule.transformer { set(transformer) }
        if let download = rule.download { mayDownload = download }
        if let respects = rule.respectsCacheControl { respect(respects) }
        if let ignores = rule.ignoresCacheControl { ignoresCacheControl = ignores }
        CacheTag.unite(&tags, with: rule.tags)
        if let takes = rule.takesOriginTags { takesOriginTags = takes }
        limits.merge(rule.limits)
        staleLimits.merge(rule.staleLimits)
        blocks.merge(rule.blocks) { $1 }
        headers += rule.headers
        if rule.transfer != TransferRule() {
            var merged = transfer ?? TransferRule()
            merged.merge(rule.transfer)
            transfer = merged
        }
        if let identity = rule.identity { self.identity = identity }
    }

    /// What is a fallback itself has none, and is not wished for as its image is, whatever rules
    /// say.
    mutating func leaveFallback() {
        request.context.fallback = nil
        request.options.subtract(.ofImageOnly)
    }

    /// What is laid over an image is the original of its URL, undamaged, whatever rules say, and is
    /// loaded anew where the image is.
    mutating func leaveImage() {
        (request.context.fallback, request.context.damaged) = (nil, nil)
        request.options.subtract([.refreshCached, .respectCacheControl])
        request.thumbnail = nil
        request.steps = []
        request.output = OutputOptions()
    }

    private mutating func respect(_ respects: Bool) {
        if respects {
            request.options.insert(.respectCacheControl)
        } else {
            request.options.remove(.respectCacheControl)
        }
    }

    /// Where `Cache-Control` is not looked at, nothing of it counts.
    mutating func leaveFreshness() {
        if ignoresCacheControl { request.options.remove(.respectCacheControl) }
    }

    /// Facts are those of the source: no steps.
    private mutating func set(_ transformer: NameOrNone) {
        defaultTransformer = nil
        if !request.infoOnly { self.transformer = transformer }
    }

    private mutating func apply(_ settings: [ContextSetting]) {
        let before = request.context
        request.context.preset = nil
        request.context.withoutTransformer = false
        ContextSetting.apply(settings, to: &request)
        remainder.scaleFactor = request.context.scaleFactor
        let (preset, without) = (request.context.preset, request.context.withoutTransformer)
        (request.context.preset, request.context.withoutTransformer) =
            (before.preset, before.withoutTransformer)
        if without { set(.none) } else if let preset { set(.name(preset)) }
    }
}
