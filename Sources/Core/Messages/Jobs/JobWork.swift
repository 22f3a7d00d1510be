public import ImageModel

/// The work of one stage: what is to be done, without who asked.
public indirect enum JobWork: Hashable, Sendable {
    /// Download: URL to bytes.
    case fetch(FetchWork)
    /// Cache: key to bytes.
    case query(QueryWork)
    /// Cache: take a copy of bytes under a key, or only for delivery.
    case store(StoreWork)
    /// Cache: look for an entry, or remove it.
    case entry(EntryWork)
    /// Decode: bytes to pixels, or to header facts.
    case decode(DecodeWork)
    /// Transform: pixels to encoded bytes.
    case transform(TransformWork)
    /// Transform: a colour to encoded bytes.
    case paint(PaintWork)

    /// Who does it.
    public var kind: WorkerKind {
        switch self {
        case .fetch: .download
        case .query, .store, .entry: .cache
        case .decode: .decode
        case .transform, .paint: .transform
        }
    }

    /// The word of its stage in logs.
    public var name: String {
        switch self {
        case .fetch: "fetch"
        case .query, .entry: "query"
        case .store: "store"
        case .decode: "decode"
        case .transform, .paint: "transform"
        }
    }

    /// The block that it reads, the first one of several; `nil` where it reads none.
    public var input: BlockReference? {
        switch self {
        case .fetch, .query, .entry, .paint: nil
        case .store(let work): work.source
        case .decode(let work): work.source
        case .transform(let work): work.source
        }
    }

    /// All blocks that it reads.
    public var inputs: [BlockReference] {
        let first = input.map { [$0] } ?? []
        guard case .transform(let work) = self else { return first }
        return first + work.overlays.map(\.source)
    }
}

/// Fetch a URL.
public struct FetchWork: Hashable, Sendable {
    /// Absolute URL with user info, if it had any.
    public var url: String
    /// Headers of the request.
    public var headers: [HTTPHeader]
    /// Bytes of a body at most.
    public var bodyBytesMax: UInt64
    /// What the cached body was said to be: the origin answers `cacheNotModified` where it still
    /// is (RFC 9110 §13.1).
    public var validators: Validators?
    /// Patterns, one of which the URL of every redirect has to match; empty: it need not.
    public var sources: [String]
    /// Who obtains the bytes.
    public var loader: FetchLoader
    /// What rules say of it, but for the URL, which is said above; the cookie jar is named after
    /// the identity as well.
    public var terms: TransferTerms

    /// Describes a transfer.
    public init(
        url: String, headers: [HTTPHeader], bodyBytesMax: UInt64, validators: Validators? = nil,
        sources: [String] = [], loader: FetchLoader = .http,
        terms: TransferTerms = TransferTerms()
    ) {
        self.loader = loader
        self.terms = terms
        self.url = url
        self.headers = headers
        self.bodyBytesMax = bodyBytesMax
        self.validators = validators
        self.sources = sources
    }
}

/// By what an origin knows a body again; at least one of them.
public struct Validators: Hashable, Sendable {
    /// For `If-None-Match`.
    public var etag: String?
    /// For `If-Modified-Since`, where there is no entity tag.
    public var lastModified: String?

    /// `nil` where the origin gave neither.
    public init?(etag: String?, lastModified: String?) {
        guard etag != nil || lastModified != nil else { return nil }
        self.etag = etag
        self.lastModified = lastModified
    }
}

/// Look a key up.
public struct QueryWork: Hashable, Sendable {
    /// Where the bytes of a hit are put.
    public enum Destination: UInt8, Hashable, Sendable {
        /// `results/`, for a client, kept in the memory tier where `promotes` says so.
        case results = 0
        /// The cache's own arena, for a decoder; freed when the coordinator releases it.
        case staging = 1
    }

    /// The text of the cache key.
    public var key: String
    /// Tiers to ask.
    public var tiers: CacheTypes
    /// Where a hit goes.
    public var destination: Destination
    /// Whether a disk hit enters the memory tier (SEMANTICS §5.3).
    public var promotes: Bool
    /// Caches that are asked for the same key, one after the other, where the one of the key does
    /// not have it; as stored texts call them.
    public var caches: [String] = []
    /// Whether what any of them has in memory comes before what another has on the disk.
    public var memoryFirst = false
    /// Bytes of a hit at most; 0: as many as there are.
    public var bytesMax: UInt64 = 0

    /// Describes a query.
    public init(key: String, tiers: CacheTypes, destination: Destination, promotes: Bool) {
        self.key = key
        self.tiers = tiers
        self.destination = destination
        self.promotes = promotes
    }
}

/// Something about one entry, or about some of them, without their bytes (SEMANTICS §5.7).
public struct EntryWork: Hashable, Sendable {
    /// What is done.
    public var action: EntryAction
    /// The text of the cache key; empty where several entries are meant.
    public var key: String
    /// The tiers concerned.
    public var tiers: CacheTypes
    /// Further caches whose entry of the same key is meant, as stored texts call them; the first
    /// one that has it is the answer to `contains`.
    public var caches: [String] = []
    /// Whether one of them that has it in memory comes before one that has it on the disk.
    public var memoryFirst = false
    /// Which entries are meant, where no key is named.
    public var selection: EntrySelection
    /// Where a list goes on: `EntryPage.next` of the page before; 0 is the beginning.
    public var after: UInt64
    /// Entries of one page of a list, from 1 to `EntryPage.entriesMax`.
    public var limit: UInt32
    /// Of `renew`: until when the entry may be used, and by what its bytes are known.
    public var renewal: Validity?
    /// Of `renew`: whether only our own caches are told, since an external one already knows.
    package var staysOwn = false
    /// Of `contains`: whether an external cache that has the entry answers with what it knows of
    /// its freshness.
    public var wantsValidity = false
    /// Of `removeSelected`: whether the answer may be that of a first step, with `EntryPage.next`
    /// as the `after` of the next one. Only external caches remove in steps.
    public var inSteps = false

    /// Describes it.
    public init(
        action: EntryAction, key: String, tiers: CacheTypes,
        selection: EntrySelection = EntrySelection(), after: UInt64 = 0, limit: UInt32 = 0
    ) {
        self.action = action
        self.key = key
        self.tiers = tiers
        self.selection = selection
        self.after = after
        self.limit = limit
    }
}

/// What is done with an entry.
public enum EntryAction: UInt8, Hashable, Sendable, CaseIterable {
    /// Which of the tiers have it; does not count as use.
    case contains = 0
    /// It goes from the tiers; what is on its way to them for that key is not kept.
    case remove = 1
    /// Every entry of every cache goes from the tiers, in the same way; there is no key.
    case clear = 2
    /// The entries of a selection go from the tiers, in the same way.
    case removeSelected = 3
    /// The entries of a selection are listed, page after page.
    case list = 4
    /// The entries of a selection are counted, with their bytes.
    case count = 5
    /// The tiers go down to their low-water mark, and the disk lets go of what is over age.
    case trim = 6
    /// The origin has confirmed the entry: what it says of caching holds from now on, where the
    /// entry is still of the same bytes. Coordinators alone want this.
    case renew = 7

    /// Whether it is about several entries, so that its answer is a page.
    public var isOfSeveral: Bool {
        switch self {
        case .contains, .remove, .clear, .renew: false
        case .removeSelected, .list, .count, .trim: true
        }
    }

    /// Whether entries leave that were not to be let go of by themselves.
    public var removes: Bool {
        switch self {
        case .remove, .clear, .removeSelected: true
        case .contains, .list, .count, .trim, .renew: false
        }
    }
}

/// Take a copy of bytes.
public struct StoreWork: Hashable, Sendable {
    /// The text of the cache key; `nil` where policy forbids storing and only delivery is wanted.
    public var key: String?
    /// The bytes, in another process' segment: read with `pread`.
    public var source: BlockReference
    /// Tiers that keep it.
    public var tiers: CacheTypes
    /// Further caches that keep it under the same key, as stored texts call them.
    public var caches: [String] = []
    /// Whether the copy is put into `results/` and named in the outcome.
    public var delivers: Bool
    /// Whether the outcome waits for the disk.
    public var waitsForDisk: Bool
    /// Whether the bytes were found in an external cache (SEMANTICS §5.26): they are kept only if
    /// nothing newer is known under the key, and the outcome does not wait for the disk.
    public var isPromotion = false
    /// Facts stored with the bytes.
    public var metadata: StoredMetadata
    /// Until when an external cache may keep it, in milliseconds since 1970: the origin has to be
    /// asked from then on. `nil` if the origin does not say.
    public var expires: Int64?
    /// Bytes in the cache's own arena; where the store keeps and delivers nothing, the outcome says
    /// whether the source has the same.
    public var comparedWith: BlockID?

    /// Describes a store.
    public init(
        key: String?, source: BlockReference, tiers: CacheTypes, delivers: Bool,
        waitsForDisk: Bool, metadata: StoredMetadata, comparedWith: BlockID? = nil
    ) {
        self.comparedWith = comparedWith
        self.key = key
        self.source = source
        self.tiers = tiers
        self.delivers = delivers
        self.waitsForDisk = waitsForDisk
        self.metadata = metadata
        expires = metadata.caching?.lastUse
    }
}

/// Facts that the cache keeps beside the bytes.
public struct StoredMetadata: Hashable, Sendable {
    /// Of the bytes.
    public var info: ImageInfo
    /// As the origin said, for originals.
    public var contentType: String?
    /// Validator of the origin, or a mark in its place that is none; of a result, that of the
    /// original of which it was made.
    public var etag: String?
    /// Validator of the origin; of a result, that of the original of which it was made.
    public var lastModified: String?
    /// Names of request headers on which the origin's answer depends, for originals.
    public var vary: String?
    /// What the origin says of caching; of a result, that of its original. `nil` where no origin
    /// was asked, or that is not known.
    public var caching: OriginCaching?
    /// Words by which it is found, `CacheTag.entryMax` at most; of a result, those of its original
    /// as well.
    public var tags: [String] = []
    /// Bytes of who put it.
    public var extendedData: ExtendedData?
    /// Of the bytes that are kept; the cache computes it as it stores them.
    public var digest: ContentDigest?
    /// Of the pipeline by which they came to be; 0: of one before these were counted.
    public var revision = PipelineRevision.current

    /// Facts; a result has no more of the origin's words than its validators and `caching`.
    public init(
        info: ImageInfo, contentType: String? = nil, etag: String? = nil,
        lastModified: String? = nil, vary: String? = nil, caching: OriginCaching? = nil
    ) {
        self.caching = caching
        self.info = info
        self.vary = vary
        self.contentType = contentType
        self.etag = etag
        self.lastModified = lastModified
    }

    /// Whether bytes under that text are a result of another revision, which is regenerated.
    package func isOutdated(under text: String) -> Bool {
        revision != PipelineRevision.current && CacheKey.mayBeDerived(text)
    }
}

/// Decode bytes.
public struct DecodeWork: Hashable, Sendable {
    /// The encoded bytes.
    public var source: BlockReference
    /// Which frame of an animation is wanted, from 0 on; `nil`: as a still image.
    public var frame: Int?
    /// Whether all frames of an animation are wanted, in one block (`PixelLayout.animation`).
    public var wantsAllFrames = false
    /// What is needed of them.
    public var need: DecodeNeed
    /// What is wanted beside the pixels, where there is such.
    public var keeps: KeptParts
    /// Facts that are wanted as well.
    public var facts: WantedFacts
    /// Which files are handed over instead of pixels, since they are the result; `nil`: none.
    public var passing: Passing?
    /// Limits, checked on the header before any pixel.
    public var limits: ImageLimits
    /// Frames that the outcome may have, of a source with several of them.
    public var framesMax: Int
    /// Whether the bytes are the first ones of a file that still arrives: its header is wanted, and
    /// what can be shown of it. Not with all frames, nor with facts.
    public var isPartial: Bool
    /// Whether what there is of damaged pixels is decoded.
    public var showsDamaged = false

    /// Describes a decode.
    public init(
        source: BlockReference, frame: Int? = nil, need: DecodeNeed, keeps: KeptParts = [],
        facts: WantedFacts = WantedFacts(), limits: ImageLimits, framesMax: Int = 1,
        isPartial: Bool = false
    ) {
        self.isPartial = isPartial
        self.frame = frame
        self.keeps = keeps
        self.framesMax = framesMax
        self.source = source
        self.need = need
        self.facts = facts
        self.limits = limits
    }

    /// Whether all that it asks for can be had together.
    package var isPossible: Bool { !isPartial || (!wantsAllFrames && facts.kinds.isEmpty) }

    /// Whether an SVG is answered without drawing it: as a file, or by what its first element
    /// says. Any decoder of ours can do so.
    package var takesDrawingsUndrawn: Bool {
        guard !isPartial else { return false }
        return passing?.passesDrawings(for: need) ?? (need == .header && facts.kinds.isEmpty)
    }

    /// Bytes of a file at most that is handed over: that of the source, with what was kept of its
    /// metadata rewritten, or inflated.
    package var passedBytesMax: UInt64 {
        max(source.length + Self.keptBytesMax, Self.inflatedBytesMax)
    }

    /// Bytes at most that a file grows by its rewritten metadata.
    package static let keptBytesMax: UInt64 = 256 << 10
    /// Bytes at most of an SVG that came compressed.
    package static let inflatedBytesMax: UInt64 = 16 << 20
}

/// Transform pixels and encode them.
public struct TransformWork: Hashable, Sendable {
    /// The pixels.
    public var source: BlockReference
    /// How they lie.
    public var layout: PixelLayout
    /// What the source was: its format is the default of the output, its size (displayed, before
    /// any reduction) is what geometry counts in.
    public var sourceInfo: ImageInfo
    /// Steps in order.
    public var steps: [TransformStep]
    /// How the result is encoded.
    public var output: OutputOptions
    /// Limits of every step's image.
    public var limits: ImageLimits
    /// What is laid over it, in the order of the steps that do so; those have no URL.
    public var overlays: [OverlayInput]

    /// Describes a transformation.
    public init(
        source: BlockReference, layout: PixelLayout, sourceInfo: ImageInfo,
        steps: [TransformStep], output: OutputOptions, limits: ImageLimits,
        overlays: [OverlayInput] = []
    ) {
        self.overlays = overlays
        self.source = source
        self.layout = layout
        self.sourceInfo = sourceInfo
        self.steps = steps
        self.output = output
        self.limits = limits
    }
}

/// The pixels of an image that is laid over another one.
public struct OverlayInput: Hashable, Sendable {
    /// The pixels.
    public var source: BlockReference
    /// How they lie.
    public var layout: PixelLayout
    /// What they were made of; the size is the displayed one.
    public var info: ImageInfo

    /// Describes them.
    public init(source: BlockReference, layout: PixelLayout, info: ImageInfo) {
        self.source = source
        self.layout = layout
        self.info = info
    }
}

/// Encode an image of one colour.
public struct PaintWork: Hashable, Sendable {
    /// Of every pixel.
    public var colour: Colour
    /// Of the image.
    public var size: PixelSize
    /// How it is encoded; PNG where no format is named.
    public var output: OutputOptions
    /// Limits of the image.
    public var limits: ImageLimits

    /// Describes an image.
    public init(colour: Colour, size: PixelSize, output: OutputOptions, limits: ImageLimits) {
        self.colour = colour
        self.size = size
        self.output = output
        self.limits = limits
    }
}

// What a transformation makes is known before it is made: a result that is anything else is none.
extension TransformWork {
    /// The size of the result; `nil` where a step makes nothing of what the steps before it made.
    public var resultSize: PixelSize? {
        var size = sourceInfo.size
        for step in steps {
            guard let next = step.size(after: size) else { return nil }
            size = next
        }
        return size
    }

    /// Frames that the result has at most: all, where its format holds them, else the first one.
    package func framesMax(in format: ImageFormat) -> Int {
        format.holdsFrames ? layout.frames : 1
    }

    /// Whether a result may have that size: `resultSize`, or, where a step looks for it in the
    /// pixels, any within the limits.
    package func mayBecome(_ size: PixelSize) -> Bool {
        guard let known = resultSize else { return false }
        guard steps.contains(where: \.form.looksForItsSize) else { return size == known }
        guard size.isPositive, let area = size.area else { return false }
        return max(size.width, size.height) <= limits.sideMax && area <= limits.pixelsMax
    }

    /// The format asked for, else the first of those accepted that has room for the result, else
    /// the source's where images stay in it, else PNG with alpha and JPEG without.
    ///
    /// An animation is of the first accepted one that holds frames, else of the source's, else
    /// WebP. A still of an animation stays in the source's format, whatever is accepted: who gets
    /// it sees that it is one of many.
    public func resultFormat(hasAlpha: Bool) -> ImageFormat {
        if let format = output.format { return format }
        if layout.animation != nil {
            let accepted = output.accepted.first(where: \.holdsFrames)
            return accepted ?? (sourceInfo.format.holdsFrames ? sourceInfo.format : .webp)
        }
        if sourceInfo.isOfAnimation, sourceInfo.format.holdsFrames { return sourceInfo.format }
        if let format = output.acceptedFormat(for: resultSize ?? sourceInfo.size) { return format }
        if sourceInfo.format.traits.output?.isKept == true { return sourceInfo.format }
        return hasAlpha ? .png : .jpeg
    }
}

extension PaintWork {
    /// PNG, which keeps the colour as it is, where no format is asked for or accepted.
    public var resultFormat: ImageFormat {
        output.format ?? output.acceptedFormat(for: size) ?? .png
    }
}
