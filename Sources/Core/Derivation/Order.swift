package import Dispatching
package import ImageModel
package import Messages

/// What was ordered, as it was admitted: fixed from then on, and one object for the request and
/// all work that is done for it, so that passing it on costs nothing.
package final class Order: Sendable {
    package let image: ImageRequest
    package let terms: LoadTerms
    package let names: RequestNames
    package let key: ResultKey
    package let plan: JobPlan
    /// What logs say of the request, and of the work that it begins.
    package let logContext: LogContext
    /// Where its source lies, if it came along with the request.
    package let upload: Upload?
    /// What is painted instead of loading anything.
    package let canvas: Canvas?
    /// The copy in memory turned out stale (SEMANTICS §5.11).
    package let distrustsMemory: Bool
    /// What is written under its keys; no name of one.
    package var serializer: Serializer { terms.serializer }
    /// Whether it is answered only once everything is stored.
    package var waitsForStores: Bool { image.options.contains(.waitStoreCache) }

    package init(
        _ image: ImageRequest, _ terms: LoadTerms = LoadTerms(), _ names: RequestNames,
        plan: JobPlan? = nil, upload: Upload? = nil, canvas: Canvas? = nil, distrustsMemory: Bool,
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
        self.plan = plan ?? JobPlan(image, terms, names, distrustsMemory: distrustsMemory)
    }
}

// The sources that its bytes may come from.
extension Order {
    /// Its URL, on its terms.
    package var network: ByteSource { .network(FetchTerms(terms)) }

    /// The cache's copy of the original, staged for a decoder. A hit enters the memory tier only
    /// where originals are to be kept there.
    package var cachedOriginal: ByteSource {
        .cache(
            QueryWork(
                key: names.original, tiers: plan.originalQueryTiers, destination: .staging,
                promotes: image.originalStoreCacheTypes.contains(.memory)))
    }

    /// Its URL, for a request that has an image already. The mark of the image does not say whether
    /// an overlay has changed.
    package func refresh(of mark: BodyMark) -> ByteSource {
        .revalidation(terms.overlays.isEmpty ? mark : .none, FetchTerms(terms))
    }

    /// The result that is made of such bytes.
    func result(of origin: ByteSource) -> ResultName {
        ResultName(key: key, text: names.result, origin: origin)
    }
}

/// The texts under which a request's result and original are cached. That they exist proves that
/// the image may be asked for.
package struct RequestNames: Hashable, Sendable {
    /// The text of the result for the cache process (`CacheKey.stored`).
    package let result: String
    /// The text of the source's bytes for the cache process.
    package let original: String
    /// The same whatever the origin's answer depends on.
    let plainResult: String
    package let plainOriginal: String
    /// The key of the result, as replies show it.
    package let resultKey: String
    /// Points per pixel where the request does not say.
    package let scaleFactor: Double
    /// Where its transfer goes.
    package let host: HostName?
    /// What is fetched.
    package let source: SourceKey

    package init(
        _ request: borrowing ImageRequest, _ url: SourceURL, _ terms: borrowing LoadTerms
    ) {
        resultKey = CacheKey.result(request, url: url, terms: terms)
        plainResult = CacheKey.stored(resultKey, in: terms.cache, terms)
        plainOriginal = CacheKey.stored(
            CacheKey.original(url: url, terms: terms), in: terms.originalCache, terms)
        (result, original) = (plainResult, plainOriginal)
        scaleFactor = ScaleFactor.of(key: CacheKey.base(url, terms))
        host = HostName(Self.asked(url, terms))
        source = SourceKey(request)
    }

    /// The host that is asked: that of the URL, unless a rule says another one.
    private static func asked(_ url: SourceURL, _ terms: LoadTerms) -> SourceURL {
        terms.askedURL.flatMap { try? SourceURL($0) } ?? url
    }

    /// What an operator puts under a key, or reads, as replies show that.
    package init(putting key: String, in cache: String, _ request: ImageRequest) {
        plainResult = CacheKey.stored(shown: key, in: cache)
        resultKey = CacheKey.key(inStored: plainResult)
        plainOriginal = plainResult
        (result, original) = (plainResult, plainResult)
        scaleFactor = ScaleFactor.of(key: key)
        host = nil
        source = SourceKey(request)
    }

    private init(_ plain: RequestNames, _ variant: String?) {
        (plainResult, plainOriginal) = (plain.plainResult, plain.plainOriginal)
        result = CacheKey.varied(plainResult, by: variant)
        original = CacheKey.varied(plainOriginal, by: variant)
        resultKey = CacheKey.key(inStored: result)
        (scaleFactor, host, source) = (plain.scaleFactor, plain.host, plain.source)
    }

    /// Those of a variant, `nil`: of an answer that depends on nothing.
    package func varied(by variant: String?) -> RequestNames { RequestNames(self, variant) }
}

/// What a load goes through, in order, and what of it this request skips (SEMANTICS §2.2).
package struct JobPlan: Hashable, Sendable {
    /// The stages of a load. The first three are ways to the image, tried one after another until
    /// one has it; the others follow once it was found.
    package enum Stage: UInt8, Hashable, Sendable {
        case queryResult, queryOriginal, fetch
        case decode, transform, storeOriginal, deliver

        /// The word for it in explanations.
        var name: String {
            switch self {
            case .queryResult: "query-result"
            case .queryOriginal: "query-original"
            case .fetch: "fetch"
            case .decode: "decode"
            case .transform: "transform"
            case .storeOriginal: "store-original"
            case .deliver: "deliver"
            }
        }
    }

    /// What makes a request skip stages.
    fileprivate struct Trait: OptionSet, Hashable, Sendable {
        let rawValue: UInt16

        static let fromLoaderOnly = Trait(rawValue: 1 << 0)
        static let fromCacheOnly = Trait(rawValue: 1 << 1)
        /// No tier may be asked for the result, or for the original.
        static let asksNoTier = Trait(rawValue: 1 << 2)
        static let asksNoOriginalTier = Trait(rawValue: 1 << 3)
        /// The result is the original: the same bytes.
        static let wantsOriginal = Trait(rawValue: 1 << 4)
        /// The original is the result, and lies in the same cache.
        static let isOneEntry = Trait(rawValue: 1 << 8)
        /// Only facts are wanted, no bytes.
        static let infoOnly = Trait(rawValue: 1 << 5)
        /// Facts are wanted that are in no entry: a decoder reads the bytes.
        static let wantsFacts = Trait(rawValue: 1 << 9)
        /// The original is kept nowhere; for a result that is the original, `deliver` keeps it.
        static let keepsNoOriginal = Trait(rawValue: 1 << 6)
        /// The loader may not be asked for this URL.
        static let mayNotDownload = Trait(rawValue: 1 << 7)
    }

    private static let order: [(stage: Stage, skippedBy: Trait)] = [
        (.queryResult, [.fromLoaderOnly, .asksNoTier, .wantsFacts]),
        (.queryOriginal, [.fromLoaderOnly, .asksNoOriginalTier, .isOneEntry]),
        (.fetch, [.fromCacheOnly, .mayNotDownload]),
        (.decode, []),
        (.transform, [.wantsOriginal]),
        (.storeOriginal, [.keepsNoOriginal]),
        (.deliver, [.infoOnly]),
    ]

    /// The ways that are left to try.
    package struct Ways: Hashable, Sendable {
        fileprivate var bits: UInt8

        /// The next way, which is no longer left then.
        package mutating func next() -> Stage? {
            guard bits != 0 else { return nil }
            let stage = Stage(rawValue: UInt8(bits.trailingZeroBitCount))
            bits &= bits - 1
            return stage
        }

        /// Skips all ways up to and including this one.
        package mutating func skip(past stage: Stage) { bits &= ~((2 << stage.rawValue) - 1) }
    }

    private let bits: UInt8
    private let isRefreshing: Bool
    private let heedsFreshness: Bool
    /// Whether more is wanted than the index of the memory tier has, or the image is looked at
    /// before it is delivered.
    private let asksMore: Bool
    /// Tiers that are asked for the result.
    package let queryTiers: CacheTypes
    /// Tiers that are asked for the original.
    package let originalQueryTiers: CacheTypes
    /// Tiers that `deliver` keeps the result in.
    let storeTiers: CacheTypes
    /// Tiers that `storeOriginal` keeps the original in.
    let originalStoreTiers: CacheTypes

    /// `keepsOriginalApart`: a result that is the original is another entry than the original, such
    /// as in another cache. `distrustsMemory`: the copy in memory turned out stale
    /// (SEMANTICS §5.11).
    package init(
        _ request: borrowing ImageRequest, mayDownload: Bool = true,
        keepsOriginalApart: Bool = false, distrustsMemory: Bool
    ) {
        let isOneEntry = request.wantsOriginal && !keepsOriginalApart
        // One key, one entry: what upstream writes twice under it is written once.
        let union = request.storeCacheTypes.union(request.originalStoreCacheTypes)
        queryTiers =
            distrustsMemory
            ? request.queryCacheTypes.subtracting(.memory) : request.queryCacheTypes
        let asksForBytes = request.wantsFacts && isOneEntry
        originalQueryTiers =
            asksForBytes
            ? queryTiers.union(request.originalQueryCacheTypes) : request.originalQueryCacheTypes
        storeTiers = request.infoOnly ? .none : isOneEntry ? union : request.storeCacheTypes
        originalStoreTiers =
            request.infoOnly && isOneEntry
            ? union : isOneEntry ? .none : request.originalStoreCacheTypes

        isRefreshing = request.options.contains(.refreshCached)
        heedsFreshness = request.options.contains(.respectCacheControl)
        asksMore =
            request.context.wantsExtendedData
            || request.options.contains(.matchAnimatedImageClass)
        var traits = Self.traits(of: request)
        if isOneEntry, !asksForBytes { traits.insert(.isOneEntry) }
        if !mayDownload { traits.insert(.mayNotDownload) }
        if queryTiers.isEmpty { traits.insert(.asksNoTier) }
        if originalQueryTiers.isEmpty { traits.insert(.asksNoOriginalTier) }
        if originalStoreTiers.isEmpty { traits.insert(.keepsNoOriginal) }
        bits = Self.order.reduce(0) { bits, step in
            step.skippedBy.isDisjoint(with: traits) ? bits | (1 << step.stage.rawValue) : bits
        }
    }

    /// What the request itself says.
    private static func traits(of request: ImageRequest) -> Trait {
        var traits: Trait = []
        if request.options.contains(.fromLoaderOnly) { traits.insert(.fromLoaderOnly) }
        if request.options.contains(.fromCacheOnly) { traits.insert(.fromCacheOnly) }
        if request.wantsOriginal { traits.insert(.wantsOriginal) }
        if request.infoOnly { traits.insert(.infoOnly) }
        if request.wantsFacts { traits.insert(.wantsFacts) }
        return traits
    }

    package func includes(_ stage: Stage) -> Bool { bits & (1 << stage.rawValue) != 0 }

    /// The words for its stages, in order.
    package var stageNames: [String] {
        Self.order.map(\.stage).filter(includes).map(\.name)
    }

    /// All ways to the image, none of them tried.
    package var ways: Ways { Ways(bits: bits & ((2 << Stage.fetch.rawValue) - 1)) }

    /// Whether the index of the memory tier may answer: the memory tier is asked for the result,
    /// and a hit is the end. A refresh needs to know more of its image than the index does.
    package var mayComeFromMemory: Bool {
        includes(.queryResult) && queryTiers.contains(.memory) && !refreshes
            && !asksMore
    }

    /// Whether a cached image is followed by what the origin says of it.
    package var refreshes: Bool { isRefreshing && includes(.fetch) }

    /// Whether a cached image is only delivered as long as its origin says (SEMANTICS §6.5).
    package var respectsCacheControl: Bool {
        heedsFreshness && !isRefreshing && includes(.fetch)
    }

    /// The ways of a request that has its cached image.
    package var refreshWays: Ways { Ways(bits: 1 << Stage.fetch.rawValue) }
}

extension JobPlan {
    /// That of a load under these names.
    package init(
        _ load: borrowing LoadRequest, _ terms: borrowing LoadTerms, _ names: borrowing RequestNames
    ) {
        self.init(load.image, terms, names, distrustsMemory: load.staleRetries > 0)
    }

    /// That of a request under these names.
    package init(
        _ request: borrowing ImageRequest, _ terms: borrowing LoadTerms,
        _ names: borrowing RequestNames, distrustsMemory: Bool
    ) {
        self.init(
            request, mayDownload: terms.mayDownload,
            keepsOriginalApart: names.original != names.result, distrustsMemory: distrustsMemory)
    }
}

/// What is wanted of a store. The policies of waiters that share a result are united.
struct StorePolicy: Hashable, Sendable {
    var tiers: CacheTypes
    var waitsForDisk: Bool
    /// That of the first waiter that wants the disk. Those of later ones do not count.
    var serializer = Serializer.asIs
    /// Tags of what is stored, besides those of the bytes that it is made of.
    var tags: [String] = []

    mutating func unite(_ other: StorePolicy) {
        if !tiers.contains(.disk) { serializer = other.serializer }
        tiers.formUnion(other.tiers)
        waitsForDisk = waitsForDisk || other.waitsForDisk
        CacheTag.unite(&tags, with: other.tags)
    }

    /// How what goes to the disk is encoded; `nil` where it goes as it is, or not at all.
    var output: OutputOptions? { tiers.contains(.disk) ? serializer.output : nil }

    /// The tiers that take the bytes as they are.
    var plainTiers: CacheTypes { output == nil ? tiers : tiers.subtracting(.disk) }

    /// Whether a store with this policy does for the other one. The serializers and tags may
    /// differ, as they may for an entry that is there.
    func covers(_ other: StorePolicy) -> Bool {
        other.tiers.isSubset(of: tiers) && (waitsForDisk || !other.waitsForDisk)
    }
}

/// Bytes that a client brought along, instead of a URL (PROTOCOL §10.1).
package struct Upload: Sendable {
    package let block: BlockHandle
    package let reference: BlockReference
    /// The key under which an operator puts them; `nil`: they are but the source of a result.
    package var key: String?
    /// Bytes of the operator that are kept beside them.
    package var extendedData: ExtendedData?

    package init(block: BlockHandle, reference: BlockReference) {
        (self.block, self.reference) = (block, reference)
    }
}

extension LoadTerms {
    /// What a download worker is told of the transfer: no two identities have a cookie jar of the
    /// same name. Somebody else's is told nothing (`checkTransferOfPool`).
    var transferOfItsOwn: TransferTerms {
        guard loader.kind != .pool else { return TransferTerms() }
        var transfer = transfer
        transfer.cookieJar = transfer.cookieJar.map { "\(identity ?? "")/\($0)" }
        return transfer
    }
}
