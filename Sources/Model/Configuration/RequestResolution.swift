extension Configuration {
    /// Resolves a request: the profile fills in values that the request doesn't set, all rules that
    /// match the URL override values in order, and finally names are replaced by their definitions.
    ///
    /// `isUpload` means that the image was sent along and the URL is derived from its digest. An
    /// invalid or forbidden URL doesn't throw; it becomes the `refusal` of the terms, because there
    /// may be a fallback. Throws for unknown names.
    public func resolve(
        _ request: ImageRequest, isUpload: Bool = false
    ) throws(ImageError) -> Resolution {
        try resolve(request, isUpload: isUpload, as: .image)
    }

    /// The role in which a request is loaded.
    private enum Part {
        case image, fallback, overlay
    }

    /// Resolves the fallback of another request (`PreparedFallback`). A fallback has no fallback
    /// itself.
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
            for rule in profile.rules where rule.pattern.matches(target) { draft.apply(rule) }
        }
        draft.leaveFreshness()
        switch part {
        case .image: break
        case .fallback: draft.leaveFallback()
        case .overlay: draft.leaveImage()
        }
        var resolution = try finish(draft, url, isUpload: isUpload, as: part)
        // The operator's own watermark is exempt from the allow-list of sources.
        let isOwn = part == .overlay && url.scheme == FileRoot.watermarkScheme
        if !isUpload, !isOwn, let target, let sources, !URLPattern.permits(target, sources) {
            resolution.terms.refusal = ImageError(
                .sourceForbidden,
                "the configuration does not allow this URL as a source: add it to 'sources' in the "
                    + "configuration (serve --config)")
        }
        if let target, profile.rules.contains(where: { $0.pattern.isAmbiguous(target) }) {
            resolution.terms.refusal = .ambiguousPath
        }
        if let refusal { resolution.terms.refusal = refusal }
        return resolution
    }

    /// An invalid URL is replaced by a placeholder so that the fallback can still be resolved.
    private static func url(of request: ImageRequest) -> (SourceURL, refusal: ImageError?) {
        do throws(ImageError) {
            return (try SourceURL(request.url), nil)
        } catch {
            return (anyURL, error)
        }
    }

    private static let anyURL: SourceURL = {
        guard let url = try? SourceURL("http://host/") else {
            preconditionFailure("the placeholder URL is valid")
        }
        return url
    }()

    /// Throws for errors that don't depend on the URL, such as unknown names.
    public func check(_ request: ImageRequest) throws(ImageError) {
        var request = request
        request.url = "http://host/"
        _ = try resolve(request, isUpload: true)
    }

    private func profile(_ name: String?) throws(ImageError) -> Profile {
        guard let name, name != Self.defaultName else {
            return profiles[Self.defaultName] ?? Profile()
        }
        return try Self.value(named: name, in: profiles, "profile", besides: Self.defaultName)
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

    /// Returns the output options that take precedence over encoder options in the context: those
    /// of a preset that a rule substituted, else the request's own. Values that a preset merely
    /// filled in are defaults and don't take precedence.
    private func own(_ draft: ResolutionDraft, _ request: ImageRequest) -> OutputOptions {
        if case .name = draft.transformer { request.output } else { draft.request.output }
    }

    private func preset(_ name: String) throws(ImageError) -> Preset {
        try Self.value(named: name, in: presets, "preset")
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

    /// A URL fallback is a separate request under the same rules, with the steps of the image and
    /// without a fallback of its own.
    private static func prepared(
        _ fallback: Fallback?, of request: ImageRequest
    ) -> PreparedFallback {
        guard case .url(let url) = fallback else {
            return PreparedFallback(fallback, of: request)
        }
        return .load(following(request.loading(fallback: url)))
    }

    /// Returns a derived request that keeps the settings of the image except for those that apply
    /// to it alone.
    private static func following(_ request: ImageRequest) -> ImageRequest {
        var image = request
        image.context.loader = nil
        image.context.preset = nil
        image.context.withoutTransformer = true
        return image
    }

    /// Returns the resolved load of an overlay. An error becomes the refusal of its terms.
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

    /// Returns the name of a cache in stored texts (`CacheKey.stored`), which is empty for the
    /// default cache. Throws if no cache has that name.
    public func cacheText(of name: String?) throws(ImageError) -> String {
        guard let name, name != Self.defaultName else { return "" }
        guard caches.contains(name) else {
            throw Self.unknown("cache", caches.union([Self.defaultName]))
        }
        return name
    }

    /// The composite and external caches, under their names in stored texts.
    public var cacheLayout: CacheLayout {
        CacheLayout(
            composites.mapValues { composite in
                var composite = composite
                composite.caches = composite.caches.map { $0 == Self.defaultName ? "" : $0 }
                return composite
            }, external: externalCaches)
    }

    private func base(_ key: BaseKey?, _ url: SourceURL) throws(ImageError) -> KeyBase {
        switch key {
        case nil, .filter("none"): return .url
        case .text(let text): return .own(SourceURL.percentEncodingNonASCII(text))
        case .filter(let name):
            let filter = try Self.value(named: name, in: keyFilters, "key filter")
            return .filtered(filter.apply(to: url))
        }
    }

    private func serializer(_ serializer: Serializer?) throws(ImageError) -> Serializer {
        guard case .named(let name) = serializer else { return serializer ?? .asIs }
        return try Self.value(named: name, in: serializers, "serializer", besides: "as-is")
    }

    private static func value<Value>(
        named name: String, in values: [String: Value], _ what: String, besides other: String? = nil
    ) throws(ImageError) -> Value {
        guard let value = values[name] else {
            throw unknown(what, Set(values.keys).union(other.map { [$0] } ?? []))
        }
        return value
    }

    static func unknown(_ what: String, _ names: Set<String>) -> ImageError {
        let known = names.sorted().prefix(reportedNamesMax).joined(separator: ", ")
        let list = known.isEmpty ? "none is defined" : "defined: \(known)"
        return ImageError(
            .invalidRequest, "the configuration has no \(what) with that name; \(list)")
    }

    /// Keeps the message within the size limit of error messages.
    private static let reportedNamesMax = 6

    // MARK: - Headers

    /// Returns the contents of a secret file.
    func secret(_ path: String) throws(ImageError) -> String {
        guard let secret = secrets[path] else { throw missingSecret(path) }
        return secret
    }

    /// Returns the error for a transfer that requires an unavailable secret.
    func missingSecret(_ path: String) -> ImageError {
        let reason = secretErrors[path] ?? "it has not been read"
        return ImageError(
            .invalidDownloadOperation,
            "the configuration requires the file \(path) for this URL, but \(reason): correct the "
                + "file; it is reloaded within a second")
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

/// A partially resolved request, in which names are not yet replaced by definitions.
struct ResolutionDraft {
    /// The request, overridden by its profile and then by rules.
    private(set) var request: ImageRequest
    /// The preset of the profile, which applies to requests without steps.
    private(set) var defaultTransformer: String?
    /// A rule's replacement for the steps.
    private(set) var transformer: NameOrNone?
    private(set) var mayDownload = true
    private(set) var ignoresCacheControl = false
    /// The combined tags of the request, its profile and rules.
    private(set) var tags: [String]
    private(set) var takesOriginTags: Bool
    private(set) var staleLimits: StaleLimits
    private(set) var limits: LimitSettings
    private(set) var blocks: [BlockCause: Bool] = [:]
    private(set) var headers: [RuleHeader] = []
    private(set) var identity: String?
    /// Decoder pools to use if the context doesn't name a coder.
    let coders: [String]
    /// Transfer settings from rules; `nil` if no rule has any.
    private(set) var transfer: TransferRule?
    /// The part of the context that is still needed: values for the reply, and options that are
    /// rejected by name.
    private(set) var remainder = RequestContext()

    /// Applies the profile's values that the request's context doesn't set (SEMANTICS §13.1).
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

    /// Applies a rule (SDWebImage: options processor and delegate, SEMANTICS §13.2).
    mutating func apply(_ rule: Rule) {
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

    /// Removes settings that a fallback can't have, whatever rules say: a fallback of its own and
    /// options that apply to the image only.
    mutating func leaveFallback() {
        request.context.fallback = nil
        request.options.subtract(.ofImageOnly)
    }

    /// Resets settings that an overlay can't have, whatever rules say. An overlay is the undamaged
    /// original of its URL, and is reloaded together with the image.
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

    /// Without `Cache-Control`, freshness information is not respected either.
    mutating func leaveFreshness() {
        if ignoresCacheControl { request.options.remove(.respectCacheControl) }
    }

    /// Requests for image properties describe the source and therefore have no steps.
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
