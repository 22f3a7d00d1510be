import ImageModel

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
