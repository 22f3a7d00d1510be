import Model

/// An admitted request. It is immutable and shared by reference between the request and all work
/// for it, so that passing it on is free.
final class AdmittedRequest: Sendable {
    /// What the client asks for, with the changes of the operator's configuration.
    let image: ImageRequest
    /// What the configuration and the request's context determine about loading it.
    let terms: LoadTerms
    /// The texts under which the cache process keeps the result and the original.
    let names: RequestNames
    /// Identifies the result: requests with equal keys share the work.
    let key: ResultKey
    let plan: LoadPlan
    /// Log context of the request and the work that it starts.
    let logContext: LogContext
    /// The uploaded source, if any.
    let upload: Upload?
    /// The solid color to paint instead of loading a source.
    let canvas: Canvas?
    /// Whether the copy in memory has proven stale (SEMANTICS §5.11).
    let distrustsMemory: Bool
    /// Fetches the request's URL.
    let network: ByteSource
    /// Reads the original from the cache, staged for a decoder. A hit is promoted to the memory
    /// tier only if originals are to be kept there.
    let cachedOriginal: ByteSource
    /// The resolved serializer for entries under its keys.
    var serializer: Serializer { terms.serializer }
    /// Whether the reply waits for all stores.
    var waitsForStores: Bool { image.options.contains(.waitStoreCache) }

    init(
        _ image: ImageRequest, _ terms: LoadTerms = LoadTerms(), _ names: RequestNames,
        plan: LoadPlan? = nil, upload: Upload? = nil, canvas: Canvas? = nil, distrustsMemory: Bool,
        logContext: LogContext = LogContext()
    ) {
        self.image = image
        self.terms = terms
        self.names = names
        self.upload = upload
        self.canvas = canvas
        self.distrustsMemory = distrustsMemory
        self.logContext = logContext
        key = ResultKey(
            image, of: names.source, overlays: terms.overlays.map { SourceKey($0.request) },
            limits: terms.limits, coders: terms.coders, showsDamaged: terms.showsDamaged)
        let plan = plan ?? LoadPlan(image, terms, names, distrustsMemory: distrustsMemory)
        self.plan = plan
        network = .network(FetchTerms(terms))
        cachedOriginal = .cache(
            QueryWork(
                key: names.original, tiers: plan.originalQueryTiers, destination: .staging,
                promotes: image.originalStoreCacheTypes.contains(.memory)))
    }
}

// The possible sources of the request's bytes.
extension AdmittedRequest {
    /// Fetches the URL for a request that already has an image. The mark identifies that image's
    /// original and makes the download conditional; it is omitted if there are overlays, because it
    /// doesn't cover changes to them.
    func refresh(of mark: BodyMark) -> ByteSource {
        .revalidation(terms.overlays.isEmpty ? mark : .none, FetchTerms(terms))
    }

    /// The result made from these bytes.
    func result(of origin: ByteSource) -> ResultName {
        ResultName(
            key: key, text: names.result, decode: DecodeName(key: key.decode, origin: origin))
    }
}

/// The texts under which the cache process keeps the result and the original of a request. Such a
/// text is the cache key with the names of the cache and the entry's owner (`CacheKey.stored`).
struct RequestNames: Hashable, Sendable {
    /// The text of the result.
    private(set) var result: String
    /// The text of the original, the source's bytes.
    private(set) var original: String
    /// The texts without a variant.
    let plainResult: String
    let plainOriginal: String
    /// The cache key of the result, as shown in replies.
    private(set) var shownResultKey: String
    /// The scale factor (pixels per point) to use if the request has none.
    let scaleFactor: Double
    /// The host of the transfer.
    let host: HostName?
    /// The source to fetch.
    let source: SourceKey

    init(
        _ request: borrowing ImageRequest, _ url: SourceURL, _ terms: borrowing LoadTerms
    ) {
        shownResultKey = CacheKey.result(request, url: url, terms: terms)
        plainResult = CacheKey.stored(shownResultKey, in: terms.cache, terms)
        plainOriginal = CacheKey.stored(
            CacheKey.original(url: url, terms: terms), in: terms.originalCache, terms)
        (result, original) = (plainResult, plainOriginal)
        scaleFactor = ScaleFactor.of(key: CacheKey.base(url, terms))
        host = HostName(Self.urlToFetch(url, terms))
        source = SourceKey(request)
    }

    /// The URL to fetch: that of the request, unless a rule substitutes another one.
    private static func urlToFetch(_ url: SourceURL, _ terms: LoadTerms) -> SourceURL {
        terms.urlToFetch.flatMap { try? SourceURL($0) } ?? url
    }

    /// The names for an operator's `cache put` or `cache get`; `key` is the cache key as shown in
    /// replies.
    init(putting key: String, in cache: String, _ request: ImageRequest) {
        plainResult = CacheKey.stored(shown: key, in: cache)
        shownResultKey = CacheKey.key(inStored: plainResult)
        plainOriginal = plainResult
        (result, original) = (plainResult, plainResult)
        scaleFactor = ScaleFactor.of(key: key)
        host = nil
        source = SourceKey(request)
    }

    /// Returns the names of a variant; `nil` means a response that doesn't vary.
    func varied(by variant: String?) -> RequestNames {
        var names = self
        names.result = CacheKey.varied(plainResult, by: variant)
        names.original = CacheKey.varied(plainOriginal, by: variant)
        names.shownResultKey = CacheKey.key(inStored: names.result)
        return names
    }
}

/// The stages of a load in order, without those that the request skips (SEMANTICS §2.2).
struct LoadPlan: Hashable, Sendable {
    /// The stages of a load. The first three are alternative sources of the image, tried in order
    /// until one succeeds; the others follow.
    enum Stage: UInt8, Hashable, Sendable {
        case queryResult, queryOriginal, fetch
        case decode, transform, storeOriginal, deliver
    }

    /// Request properties that cause stages to be skipped.
    fileprivate struct Trait: OptionSet, Hashable, Sendable {
        let rawValue: UInt16

        static let fromLoaderOnly = Trait(rawValue: 1 << 0)
        static let fromCacheOnly = Trait(rawValue: 1 << 1)
        /// No tier is queried for the result, or for the original.
        static let skipsResultQuery = Trait(rawValue: 1 << 2)
        static let skipsOriginalQuery = Trait(rawValue: 1 << 3)
        /// The result consists of the original's bytes.
        static let wantsOriginal = Trait(rawValue: 1 << 4)
        /// The original and the result share one cache entry.
        static let sharesEntry = Trait(rawValue: 1 << 5)
        /// Only image properties are requested, no bytes.
        static let propertiesOnly = Trait(rawValue: 1 << 6)
        /// Image properties are requested that no entry contains: a decoder must read the bytes.
        static let needsDecoderForProperties = Trait(rawValue: 1 << 7)
        /// The original isn't stored; if the result is the original, `deliver` stores it.
        static let keepsNoOriginal = Trait(rawValue: 1 << 8)
        /// The loader must not be used for this URL.
        static let downloadForbidden = Trait(rawValue: 1 << 9)
    }

    private static let order: [(stage: Stage, name: String, skippedBy: Trait)] = [
        (
            .queryResult, "query-result",
            [.fromLoaderOnly, .skipsResultQuery, .needsDecoderForProperties]
        ),
        (.queryOriginal, "query-original", [.fromLoaderOnly, .skipsOriginalQuery, .sharesEntry]),
        (.fetch, "fetch", [.fromCacheOnly, .downloadForbidden]),
        (.decode, "decode", []),
        (.transform, "transform", [.wantsOriginal]),
        (.storeOriginal, "store-original", [.keepsNoOriginal]),
        (.deliver, "deliver", [.propertiesOnly]),
    ]

    /// The source stages that remain to be tried.
    struct RemainingStages: Hashable, Sendable {
        fileprivate var bits: UInt8

        /// Removes and returns the next source stage.
        mutating func next() -> Stage? {
            guard bits != 0 else { return nil }
            let stage = Stage(rawValue: UInt8(bits.trailingZeroBitCount))
            bits &= bits - 1
            return stage
        }

        /// Removes all source stages up to and including this one.
        mutating func skip(past stage: Stage) { bits &= ~((2 << stage.rawValue) - 1) }
    }

    private let bits: UInt8
    private let isRefreshing: Bool
    private let isRespectingCacheControl: Bool
    /// Whether the request needs more than the index of the memory tier provides, or checks the
    /// image before delivery.
    private let needsMoreThanIndex: Bool
    /// Tiers to query for the result.
    let queryTiers: CacheTypes
    /// Tiers to query for the original.
    let originalQueryTiers: CacheTypes
    /// Tiers in which `deliver` stores the result.
    let storeTiers: CacheTypes
    /// Tiers in which `storeOriginal` stores the original.
    let originalStoreTiers: CacheTypes

    /// `keepsOriginalApart` means that a result consisting of the original's bytes is a separate
    /// entry, such as in another cache. `distrustsMemory` means that the copy in memory has proven
    /// stale (SEMANTICS §5.11).
    init(
        _ request: borrowing ImageRequest, mayDownload: Bool = true,
        keepsOriginalApart: Bool = false, distrustsMemory: Bool
    ) {
        let sharesEntry = request.wantsOriginal && !keepsOriginalApart
        // Result and original have the same key, so the entry is stored once, in the tiers of both.
        // SDWebImage would write it twice.
        let union = request.storeCacheTypes.union(request.originalStoreCacheTypes)
        queryTiers =
            distrustsMemory
            ? request.queryCacheTypes.subtracting(.memory) : request.queryCacheTypes
        let asksForBytes = request.wantsProperties && sharesEntry
        originalQueryTiers =
            asksForBytes
            ? queryTiers.union(request.originalQueryCacheTypes) : request.originalQueryCacheTypes
        storeTiers = request.infoOnly ? .none : sharesEntry ? union : request.storeCacheTypes
        originalStoreTiers =
            request.infoOnly && sharesEntry
            ? union : sharesEntry ? .none : request.originalStoreCacheTypes

        isRefreshing = request.options.contains(.refreshCached)
        isRespectingCacheControl = request.options.contains(.respectCacheControl)
        needsMoreThanIndex =
            request.context.wantsExtendedData
            || request.options.contains(.matchAnimatedImageClass)
        var traits = Self.traits(of: request)
        if sharesEntry, !asksForBytes { traits.insert(.sharesEntry) }
        if !mayDownload { traits.insert(.downloadForbidden) }
        if queryTiers.isEmpty { traits.insert(.skipsResultQuery) }
        if originalQueryTiers.isEmpty { traits.insert(.skipsOriginalQuery) }
        if originalStoreTiers.isEmpty { traits.insert(.keepsNoOriginal) }
        bits = Self.order.reduce(0) { bits, step in
            step.skippedBy.isDisjoint(with: traits) ? bits | (1 << step.stage.rawValue) : bits
        }
    }

    /// Traits that follow from the request itself.
    private static func traits(of request: ImageRequest) -> Trait {
        var traits: Trait = []
        if request.options.contains(.fromLoaderOnly) { traits.insert(.fromLoaderOnly) }
        if request.options.contains(.fromCacheOnly) { traits.insert(.fromCacheOnly) }
        if request.wantsOriginal { traits.insert(.wantsOriginal) }
        if request.infoOnly { traits.insert(.propertiesOnly) }
        if request.wantsProperties { traits.insert(.needsDecoderForProperties) }
        return traits
    }

    func includes(_ stage: Stage) -> Bool { bits & (1 << stage.rawValue) != 0 }

    /// The names of the stages in explanations, in order.
    var stageNames: [String] { Self.order.filter { includes($0.stage) }.map(\.name) }

    /// All source stages of the plan.
    var remainingStages: RemainingStages {
        RemainingStages(bits: bits & ((2 << Stage.fetch.rawValue) - 1))
    }

    /// Whether the index of the memory tier may answer: the memory tier is queried for the result
    /// and a hit completes the request. A refresh needs more information about the image than the
    /// index has.
    var mayComeFromMemory: Bool {
        includes(.queryResult) && queryTiers.contains(.memory) && !refreshes
            && !needsMoreThanIndex
    }

    /// Whether delivery of a cached image is followed by a revalidation.
    var refreshes: Bool { isRefreshing && includes(.fetch) }

    /// Whether a cached image is delivered only while it is fresh (SEMANTICS §6.5).
    var respectsCacheControl: Bool {
        isRespectingCacheControl && !isRefreshing && includes(.fetch)
    }

    /// The source stages of a request that already has its cached image.
    var refreshStages: RemainingStages { RemainingStages(bits: 1 << Stage.fetch.rawValue) }
}

extension LoadPlan {
    init(
        _ request: borrowing ImageRequest, _ terms: borrowing LoadTerms,
        _ names: borrowing RequestNames, distrustsMemory: Bool
    ) {
        self.init(
            request, mayDownload: terms.mayDownload,
            keepsOriginalApart: names.original != names.result, distrustsMemory: distrustsMemory)
    }
}

/// How a result is stored. The policies of subscribers that share a result are merged.
struct StorePolicy: Hashable, Sendable {
    var tiers: CacheTypes
    var waitsForDisk: Bool
    /// The serializer of the first subscriber that stores to disk; those of later ones are ignored.
    var serializer = Serializer.asIs
    /// Tags of the stored entry, in addition to those of its source bytes.
    var tags: [String] = []

    mutating func unite(_ other: StorePolicy) {
        if !tiers.contains(.disk) { serializer = other.serializer }
        tiers.formUnion(other.tiers)
        waitsForDisk = waitsForDisk || other.waitsForDisk
        CacheTag.unite(&tags, with: other.tags)
    }

    /// The encoding for the disk tier; `nil` if the bytes are stored as they are or not on disk.
    var output: OutputOptions? { tiers.contains(.disk) ? serializer.output : nil }

    /// The tiers that store the bytes as they are.
    var plainTiers: CacheTypes { output == nil ? tiers : tiers.subtracting(.disk) }

    /// Whether a store with this policy satisfies the other one. Their serializers and tags are not
    /// compared: an entry that already exists isn't stored again for other ones either.
    func covers(_ other: StorePolicy) -> Bool {
        other.tiers.isSubset(of: tiers) && (waitsForDisk || !other.waitsForDisk)
    }
}

/// Bytes uploaded by a client instead of a URL (PROTOCOL §10.1).
struct Upload: Sendable {
    let block: BlockHandle
    let reference: BlockReference
    /// The key under which an operator puts the bytes; `nil` if they only serve as the source of a
    /// result.
    var key: String?
    /// Operator-supplied data stored alongside.
    var extendedData: ExtendedData?
}

extension LoadTerms {
    /// The transfer terms that a built-in download worker receives. Cookie jar names include the
    /// identity so that no two identities share a jar. External workers receive no terms, so a rule
    /// that needs some is an error (`checkTransferOfPool`).
    var downloadWorkerTransfer: TransferTerms {
        guard loader.kind != .pool else { return TransferTerms() }
        var transfer = transfer
        transfer.cookieJar = transfer.cookieJar.map { "\(identity ?? "")/\($0)" }
        return transfer
    }
}
