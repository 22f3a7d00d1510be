package import ImageModel
package import Messages

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
