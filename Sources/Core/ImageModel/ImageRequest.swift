/// What a caller wants: a source, what is to be done to it, and how.
public struct ImageRequest: Hashable, Sendable {
    /// The absolute URL, up to `RequestLimits.urlBytesMax` bytes. What is not ASCII in it is
    /// percent-encoded: Swift compares text by meaning, origins by bytes.
    public var url: String {
        @inlinable get { shared.fields.url }
        set {
            unshare()
            shared.fields.url = SourceURL.percentEncodingNonASCII(newValue)
        }
    }
    /// Headers for the origin, in order.
    public var headers: [HTTPHeader] {
        @inlinable get { shared.fields.headers }
        @inlinable _modify {
            unshare()
            yield &shared.fields.headers
        }
    }
    /// Which frame of an animation is meant, from 0 on, as it is shown; `nil`: the first one that
    /// any reader of still images sees. A still image has frame 0.
    public var frame: Int? {
        @inlinable get { shared.fields.frame }
        @inlinable _modify {
            unshare()
            yield &shared.fields.frame
        }
    }
    /// Reduce while decoding.
    public var thumbnail: Thumbnail? {
        @inlinable get { shared.fields.thumbnail }
        @inlinable _modify {
            unshare()
            yield &shared.fields.thumbnail
        }
    }
    /// Steps in the order in which they run.
    public var steps: [TransformStep] {
        @inlinable get { shared.fields.steps }
        @inlinable _modify {
            unshare()
            yield &shared.fields.steps
        }
    }
    /// Pixels for each pixel of the thumbnail and of the steps from the first resize on: 2 for a
    /// display with two pixels a point. From 0.1 to 10.
    public var pixelRatio: Double {
        @inlinable get { shared.fields.pixelRatio }
        @inlinable _modify {
            unshare()
            yield &shared.fields.pixelRatio
        }
    }
    /// How the result is encoded.
    public var output: OutputOptions {
        @inlinable get { shared.fields.output }
        @inlinable _modify {
            unshare()
            yield &shared.fields.output
        }
    }
    /// Only header facts, no pixels and no bytes.
    public var infoOnly: Bool {
        @inlinable get { shared.fields.infoOnly }
        @inlinable _modify {
            unshare()
            yield &shared.fields.infoOnly
        }
    }
    /// Which facts come beside those of `ImageInfo`; needs `infoOnly`.
    public var facts: WantedFacts {
        @inlinable get { shared.fields.facts }
        @inlinable _modify {
            unshare()
            yield &shared.fields.facts
        }
    }
    /// Whether the response says how the image came about. It changes no key, and no work.
    public var wantsExplanation: Bool {
        @inlinable get { shared.fields.wantsExplanation }
        @inlinable _modify {
            unshare()
            yield &shared.fields.wantsExplanation
        }
    }
    /// How long the image may be used where its origin does not say; counts under
    /// `RequestOptions.respectCacheControl`.
    public var assumedLifetime: AssumedLifetime {
        @inlinable get { shared.fields.assumedLifetime }
        @inlinable _modify {
            unshare()
            yield &shared.fields.assumedLifetime
        }
    }
    /// For how long it is refused because its source failed before; `nil`: as long as the stack
    /// remembers that.
    public var earlierFailureMilliseconds: Int? {
        @inlinable get { shared.fields.earlierFailureMilliseconds }
        @inlinable _modify {
            unshare()
            yield &shared.fields.earlierFailureMilliseconds
        }
    }
    /// SDWebImage's option bits.
    public var options: RequestOptions {
        @inlinable get { shared.fields.options }
        @inlinable _modify {
            unshare()
            yield &shared.fields.options
        }
    }
    /// Tiers asked for the result. Upstream's default is all.
    public var queryCacheTypes: CacheTypes {
        @inlinable get { shared.fields.queryCacheTypes }
        @inlinable _modify {
            unshare()
            yield &shared.fields.queryCacheTypes
        }
    }
    /// Tiers the result is stored in. Upstream's default is all.
    public var storeCacheTypes: CacheTypes {
        @inlinable get { shared.fields.storeCacheTypes }
        @inlinable _modify {
            unshare()
            yield &shared.fields.storeCacheTypes
        }
    }
    /// Tiers asked for the original. Upstream's default is disk.
    public var originalQueryCacheTypes: CacheTypes {
        @inlinable get { shared.fields.originalQueryCacheTypes }
        @inlinable _modify {
            unshare()
            yield &shared.fields.originalQueryCacheTypes
        }
    }
    /// Tiers the original is stored in. Upstream's default is disk.
    public var originalStoreCacheTypes: CacheTypes {
        @inlinable get { shared.fields.originalStoreCacheTypes }
        @inlinable _modify {
            unshare()
            yield &shared.fields.originalStoreCacheTypes
        }
    }
    /// Milliseconds until the request ends with `deadlineExceeded`.
    public var timeoutMilliseconds: Int {
        @inlinable get { shared.fields.timeoutMilliseconds }
        @inlinable _modify {
            unshare()
            yield &shared.fields.timeoutMilliseconds
        }
    }
    /// What else it says about manager, caches, keys and replies.
    public var context: RequestContext {
        get { shared.fields.said?.context ?? RequestContext() }
        set {
            unshare()
            shared.fields.said = newValue.isEmpty ? nil : SaidContext(newValue)
        }
    }
    /// Whether it says anything there.
    package var hasContext: Bool { shared.fields.said != nil }
    /// What it says, in one object: a request is copied at each station, and changed at few.
    @usableFromInline var shared: RequestFields.Shared

    /// A plain load: the source bytes, once their header was read, from and into all tiers.
    public init(url: String) {
        shared = RequestFields.Shared(
            RequestFields(url: SourceURL.percentEncodingNonASCII(url)))
    }

    /// Before a change: what a copy of it has stays as it is.
    @inlinable
    mutating func unshare() {
        if isKnownUniquelyReferenced(&shared) {
            shared.forgetDigest()
        } else {
            shared = RequestFields.Shared(shared.fields)
        }
    }

    /// Copies that were not changed are equal without being looked at.
    @inlinable
    public static func == (one: ImageRequest, other: ImageRequest) -> Bool {
        one.shared === other.shared || one.shared.fields == other.shared.fields
    }

    /// Hashes all that it says.
    public func hash(into hasher: inout Hasher) { shared.fields.hash(into: &hasher) }

    /// The result is the source's bytes as they came, whatever the source is.
    public var wantsOriginal: Bool {
        isPlain && (infoOnly || !options.contains(.decodeFirstFrameOnly))
    }

    /// Whether it asks for no frame, no steps and no output.
    package var isPlain: Bool {
        frame == nil && thumbnail == nil && steps.isEmpty && output.isDefault
    }

    /// Whether the source's header is not enough: its pixels are decoded.
    package var needsPixels: Bool { infoOnly ? facts.needPixels : !wantsOriginal }

    /// Whether it may be loaded although its source has failed before.
    package var mayFollowAFailure: Bool {
        options.contains(.retryFailed) || earlierFailureMilliseconds != nil
    }

    /// Whether facts are wanted that no cache keeps: the bytes are read for them.
    package var wantsFacts: Bool { infoOnly && !facts.kinds.isEmpty }

    /// What is assumed of its origin's answers; nothing where freshness does not count.
    package var countedLifetime: AssumedLifetime {
        options.contains(.respectCacheControl) ? assumedLifetime : .none
    }

    /// All steps that change pixels, the thumbnail first.
    public var allSteps: [TransformStep] { (thumbnail.map { [$0.step] } ?? []) + steps }

    /// Whether workers of somebody else do some of them. Nothing but pixels as they are shown goes
    /// from one worker to another then.
    package var hasCustomSteps: Bool { steps.contains(where: \.isCustom) }

    /// The class in all queues; high wins (SEMANTICS §13.3).
    public var priority: Priority {
        get {
            if options.contains(.highPriority) { return .high }
            return options.contains(.lowPriority) ? .low : .normal
        }
        set {
            options.subtract([.lowPriority, .highPriority])
            if newValue != .normal {
                options.insert(newValue == .high ? .highPriority : .lowPriority)
            }
        }
    }
}

extension ImageRequest: CustomReflectable {
    /// What it says, as debuggers and `dump` show it.
    public var customMirror: Mirror {
        Mirror(
            self, children: Mirror(reflecting: shared.fields).children, displayStyle: .struct)
    }
}
