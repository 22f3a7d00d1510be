/// The work of a stage, independent of the requests that need it.
public indirect enum JobWork: Hashable, Sendable {
    /// Download: fetch a URL.
    case fetch(FetchWork)
    /// Cache: look up a key.
    case query(QueryWork)
    /// Cache: copy bytes under a key, or only for delivery.
    case store(StoreWork)
    /// Cache: query or remove entries.
    case entry(EntryWork)
    /// Decode: bytes to pixels, or to header properties.
    case decode(DecodeWork)
    /// Transform: pixels to encoded bytes.
    case transform(TransformWork)
    /// Transform: a single color to encoded bytes.
    case paint(PaintWork)

    /// The kind of worker that performs the work.
    public var kind: WorkerKind { stage.kind }

    /// The name of its stage in logs.
    public var name: String { stage.name }

    /// The block that the work reads, the first of several; `nil` if it reads none.
    public var input: BlockReference? {
        switch self {
        case .fetch, .query, .entry, .paint: nil
        case .store(let work): work.source
        case .decode(let work): work.source
        case .transform(let work): work.source
        }
    }

    /// All blocks that the work reads.
    public var inputs: [BlockReference] {
        let first = input.map { [$0] } ?? []
        guard case .transform(let work) = self else { return first }
        return first + work.overlays.map(\.source)
    }
}

/// A transfer of a URL.
public struct FetchWork: Hashable, Sendable {
    /// The absolute URL including user info.
    public var url: String
    /// The headers of the request.
    public var headers: [HTTPHeader]
    /// The maximum number of bytes of a body.
    public var bodyBytesMax: UInt64
    /// The validators of the cached body; if it is unchanged, the job fails with `cacheNotModified`
    /// (RFC 9110 §13.1).
    public var validators: Validators?
    /// URL patterns, one of which every redirect must match; empty for no restriction.
    public var sources: [String]
    /// The loader of the bytes.
    public var loader: FetchLoader
    /// The operator's settings for the transfer, except for the URL above; the cookie jar name
    /// includes the identity.
    public var terms: TransferTerms

    /// Creates a transfer.
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

/// The validators of a body; at least one of them.
public struct Validators: Hashable, Sendable {
    /// For `If-None-Match`.
    public var etag: String?
    /// For `If-Modified-Since`, if there is no entity tag.
    public var lastModified: String?

    /// Returns `nil` if the origin sent neither.
    public init?(etag: String?, lastModified: String?) {
        guard etag != nil || lastModified != nil else { return nil }
        self.etag = etag
        self.lastModified = lastModified
    }
}

/// A lookup of a key.
public struct QueryWork: Hashable, Sendable {
    /// Where the bytes of a hit are placed.
    public enum Destination: UInt8, Hashable, Sendable {
        /// `results/`, for a client; also kept in the memory tier if `promotes` is set.
        case results = 0
        /// The cache's own arena, for a decoder; freed when the coordinator releases it.
        case staging = 1
    }

    /// The stored text of the cache key.
    public var key: String
    /// The tiers to query.
    public var tiers: CacheTypes
    /// Where a hit is placed.
    public var destination: Destination
    /// Whether a disk hit enters the memory tier (SEMANTICS §5.3).
    public var promotes: Bool
    /// Further caches to query for the same key, in order, if the cache of the key misses; named as
    /// in stored texts.
    public var caches: [String] = []
    /// Whether a memory hit in any of them takes precedence over a disk hit in another.
    public var memoryFirst = false
    /// The maximum size of a hit in bytes; 0 for no limit.
    public var bytesMax: UInt64 = 0

    /// Creates a query.
    public init(key: String, tiers: CacheTypes, destination: Destination, promotes: Bool) {
        self.key = key
        self.tiers = tiers
        self.destination = destination
        self.promotes = promotes
    }
}

/// An operation on one or several entries, without their bytes (SEMANTICS §5.7).
public struct EntryWork: Hashable, Sendable {
    /// The action.
    public var action: EntryAction
    /// The stored text of the cache key; empty for a selection of entries.
    public var key: String
    /// The tiers to act on.
    public var tiers: CacheTypes
    /// Further caches with the same key, named as in stored texts; for `contains` the first one
    /// that has the entry determines the answer.
    public var caches: [String] = []
    /// Whether an entry in memory in any of them takes precedence over one on disk.
    public var memoryFirst = false
    /// The selected entries, if there is no key.
    public var selection: EntrySelection
    /// Where to continue a list: `EntryPage.next` of the previous page; 0 for the beginning.
    public var after: UInt64
    /// The maximum number of entries per page of a list, from 1 to `EntryPage.entriesMax`.
    public var limit: UInt32
    /// For `renew`: the new expiry, and what identifies the bytes.
    public var renewal: Validity?
    /// For `renew`: whether only our own caches are updated because an external one already knows.
    package var staysOwn = false
    /// For `contains`: whether an external cache that has the entry answers with its freshness.
    public var wantsValidity = false
    /// For `removeSelected`: whether the answer may be that of a first step, whose `EntryPage.next`
    /// is the `after` of the next one. Only external caches remove in steps.
    public var inSteps = false

    /// Creates an operation.
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

/// An action on cache entries.
public enum EntryAction: UInt8, Hashable, Sendable, CaseIterable {
    /// Report which tiers contain the entry; doesn't count as use.
    case contains = 0
    /// Remove the entry from the tiers; pending stores for that key are discarded.
    case remove = 1
    /// Remove every entry of every cache in the same way; there is no key.
    case clear = 2
    /// Remove the entries of a selection in the same way.
    case removeSelected = 3
    /// List the entries of a selection page by page.
    case list = 4
    /// Count the entries of a selection and their bytes.
    case count = 5
    /// Evict down to the low-water mark of each tier, and remove expired entries from disk.
    case trim = 6
    /// Update the caching information of an entry that the origin has confirmed, if the entry still
    /// has the same bytes. Sent only by coordinators.
    case renew = 7

    /// Whether the action affects several entries, so that the answer is a page.
    public var affectsSeveral: Bool {
        switch self {
        case .contains, .remove, .clear, .renew: false
        case .removeSelected, .list, .count, .trim: true
        }
    }

    /// Whether the action removes entries although nothing required their eviction.
    public var removes: Bool {
        switch self {
        case .remove, .clear, .removeSelected: true
        case .contains, .list, .count, .trim, .renew: false
        }
    }
}

/// A copy of bytes into the cache.
public struct StoreWork: Hashable, Sendable {
    /// The stored text of the cache key; `nil` if policy forbids storing and only delivery is
    /// requested.
    public var key: String?
    /// The bytes in the segment of another process, read with `pread`.
    public var source: BlockReference
    /// The tiers to store in.
    public var tiers: CacheTypes
    /// Further caches that store the bytes under the same key, named as in stored texts.
    public var caches: [String] = []
    /// Whether the copy is placed in `results/` and referenced by the outcome.
    public var delivers: Bool
    /// Whether the outcome waits for the disk.
    public var waitsForDisk: Bool
    /// Whether the bytes are a hit of an external cache (SEMANTICS §5.26): they are stored only if
    /// nothing newer is known under the key, and the outcome doesn't wait for the disk.
    public var isPromotion = false
    /// The metadata stored with the bytes.
    public var metadata: StoredMetadata
    /// The expiry for an external cache in milliseconds since 1970, from which the origin must be
    /// asked. `nil` if the origin states none.
    public var expires: Int64?
    /// A block in the cache's own arena. If the store neither stores nor delivers, the outcome
    /// reports whether the source has the same bytes.
    public var comparedWith: BlockID?

    /// Creates a store.
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

/// Metadata stored with the bytes of a cache entry.
public struct StoredMetadata: Hashable, Sendable {
    /// The properties of the bytes.
    public var info: ImageInfo
    /// The content type sent by the origin, for originals.
    public var contentType: String?
    /// The origin's entity tag, or a placeholder that is not a validator; for a result, that of its
    /// original.
    public var etag: String?
    /// The origin's `Last-Modified`; for a result, that of its original.
    public var lastModified: String?
    /// The names of request headers on which the origin's response depends, for originals.
    public var vary: String?
    /// The caching information of the origin; for a result, that of its original. `nil` if no
    /// origin was asked or it is unknown.
    public var caching: OriginCaching?
    /// The tags, at most `CacheTag.entryMax`; for a result, including those of its original.
    public var tags: [String] = []
    /// Extended data supplied by the client.
    public var extendedData: ExtendedData?
    /// The digest of the stored bytes, computed by the cache.
    public var digest: ContentDigest?
    /// The pipeline revision that produced the bytes; 0 for versions before revisions.
    public var revision = PipelineRevision.current

    /// Creates metadata; for a result only the validators and `caching` come from the origin.
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

    /// Returns whether bytes under that text are a result of another revision, which is
    /// regenerated.
    package func isOutdated(under text: String) -> Bool {
        revision != PipelineRevision.current && CacheKey.mayBeDerived(text)
    }
}

/// A decode of encoded bytes.
public struct DecodeWork: Hashable, Sendable {
    /// The encoded bytes.
    public var source: BlockReference
    /// The frame of an animation, counted from 0; `nil` for a still image.
    public var frame: Int?
    /// Whether all frames of an animation are decoded into one block (`PixelLayout.animation`).
    public var wantsAllFrames = false
    /// The need of the result.
    public var need: DecodeNeed
    /// The metadata to return along with the pixels if present.
    public var keeps: KeptParts
    /// The additional properties to determine.
    public var properties: RequestedProperties
    /// The files that are returned instead of pixels because they are the result; `nil` for none.
    public var passThrough: PassThrough?
    /// The limits, checked on the header before any pixel is decoded.
    public var limits: ImageLimits
    /// The maximum number of frames in the outcome for a source with several.
    public var framesMax: Int
    /// Whether the bytes are the beginning of a file that is still arriving: its header and the
    /// displayable part are decoded. Not combined with all frames or additional properties.
    public var isPartial: Bool
    /// Whether damaged pixels are decoded as far as possible.
    public var showsDamaged = false

    /// Creates a decode.
    public init(
        source: BlockReference, frame: Int? = nil, need: DecodeNeed, keeps: KeptParts = [],
        properties: RequestedProperties = RequestedProperties(), limits: ImageLimits,
        framesMax: Int = 1,
        isPartial: Bool = false
    ) {
        self.isPartial = isPartial
        self.frame = frame
        self.keeps = keeps
        self.framesMax = framesMax
        self.source = source
        self.need = need
        self.properties = properties
        self.limits = limits
    }

    /// Whether the combination of options is valid.
    package var isPossible: Bool { !isPartial || (!wantsAllFrames && properties.kinds.isEmpty) }

    /// Whether an SVG is handled without rendering: as a file, or from its root element alone. Any
    /// of the built-in decoders can do that.
    package var canSkipRendering: Bool {
        guard !isPartial else { return false }
        return passThrough?.appliesToDrawings(for: need)
            ?? (need == .header && properties.kinds.isEmpty)
    }

    /// The maximum size in bytes of a file that is passed through: the source with rewritten
    /// metadata, or decompressed.
    package var passThroughBytesMax: UInt64 {
        max(source.length + Self.keptBytesMax, Self.inflatedBytesMax)
    }

    /// The maximum number of bytes that rewritten metadata adds to a file.
    package static let keptBytesMax: UInt64 = 256 << 10
    /// The maximum size in bytes of a decompressed SVG.
    package static let inflatedBytesMax: UInt64 = 16 << 20
}

/// A transformation of pixels, followed by encoding.
public struct TransformWork: Hashable, Sendable {
    /// The pixels.
    public var source: BlockReference
    /// The memory layout of the pixels.
    public var layout: PixelLayout
    /// The properties of the source: its format is the default of the output, its size (displayed,
    /// before downscaling) is the reference of all geometry.
    public var sourceInfo: ImageInfo
    /// The steps, in order.
    public var steps: [TransformStep]
    /// The encoding of the result.
    public var output: OutputOptions
    /// The limits of the image at every step.
    public var limits: ImageLimits
    /// The overlays in step order; the steps themselves have no URL.
    public var overlays: [OverlayInput]

    /// Creates a transformation.
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

/// The pixels of an overlay.
public struct OverlayInput: Hashable, Sendable {
    /// The pixels.
    public var source: BlockReference
    /// The memory layout of the pixels.
    public var layout: PixelLayout
    /// The properties of the source of the overlay, with its displayed size.
    public var info: ImageInfo

    /// Creates an overlay input.
    public init(source: BlockReference, layout: PixelLayout, info: ImageInfo) {
        self.source = source
        self.layout = layout
        self.info = info
    }
}

/// An encoding of an image of one color.
public struct PaintWork: Hashable, Sendable {
    /// The color of every pixel.
    public var color: Color
    /// The size of the image.
    public var size: PixelSize
    /// The encoding; PNG by default.
    public var output: OutputOptions
    /// The limits of the image.
    public var limits: ImageLimits

    /// Creates a painted image.
    public init(color: Color, size: PixelSize, output: OutputOptions, limits: ImageLimits) {
        self.color = color
        self.size = size
        self.output = output
        self.limits = limits
    }
}

// The properties of a result are known before the transformation: any deviation is an error.
extension TransformWork {
    /// The size of the result; `nil` if a step fails for the size before it.
    public var resultSize: PixelSize? {
        var size = sourceInfo.size
        for step in steps {
            guard let next = step.size(after: size) else { return nil }
            size = next
        }
        return size
    }

    /// Returns the maximum number of frames of the result: all if its format can hold them,
    /// otherwise one.
    package func framesMax(in format: ImageFormat) -> Int {
        format.holdsFrames ? layout.frames : 1
    }

    /// Returns whether a result may have that size: `resultSize`, or, if a step determines the size
    /// from the pixels, any size within the limits.
    package func mayBecome(_ size: PixelSize) -> Bool {
        guard let known = resultSize else { return false }
        guard steps.contains(where: \.form.looksForItsSize) else { return size == known }
        guard size.isPositive, let area = size.area else { return false }
        return max(size.width, size.height) <= limits.sideMax && area <= limits.pixelsMax
    }

    /// Returns the requested format, otherwise the first accepted one that supports the size of the
    /// result, otherwise the source's if images remain in it, otherwise PNG with alpha and JPEG
    /// without.
    ///
    /// An animation uses the first accepted format that can hold frames, otherwise the source's,
    /// otherwise WebP. A still of an animation remains in the source's format, whatever is
    /// accepted, so that the client can tell that it is one of several.
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
    /// The requested or accepted format; PNG by default, because it preserves the color exactly.
    public var resultFormat: ImageFormat {
        output.format ?? output.acceptedFormat(for: size) ?? .png
    }
}
