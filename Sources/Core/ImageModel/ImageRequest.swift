/// What a caller wants: a source, what is to be done to it, and how.
public struct ImageRequest: Hashable, Sendable {
    /// The absolute URL, up to `RequestLimits.urlBytesMax` bytes. What is not ASCII in it is
    /// percent-encoded: Swift compares text by meaning, origins by bytes.
    public var url: String { didSet { url = SourceURL.percentEncodingNonASCII(url) } }
    /// Headers for the origin, in order.
    public var headers: [HTTPHeader]
    /// Which frame of an animation is meant, from 0 on, as it is shown; `nil`: the first one that
    /// any reader of still images sees. A still image has frame 0.
    public var frame: Int?
    /// Reduce while decoding.
    public var thumbnail: Thumbnail?
    /// Steps in the order in which they run.
    public var steps: [TransformStep]
    /// Pixels for each pixel of the thumbnail and of the steps from the first resize on: 2 for a
    /// display with two pixels a point. From 0.1 to 10.
    public var pixelRatio: Double
    /// How the result is encoded.
    public var output: OutputOptions
    /// Only header facts, no pixels and no bytes.
    public var infoOnly: Bool
    /// Which facts come beside those of `ImageInfo`; needs `infoOnly`.
    public var facts: WantedFacts
    /// Whether the response says how the image came about. It changes no key, and no work.
    public var wantsExplanation: Bool
    /// How long the image may be used where its origin does not say; counts under
    /// `RequestOptions.respectCacheControl`.
    public var assumedLifetime: AssumedLifetime
    /// SDWebImage's option bits.
    public var options: RequestOptions
    /// Tiers asked for the result. Upstream's default is all.
    public var queryCacheTypes: CacheTypes
    /// Tiers the result is stored in. Upstream's default is all.
    public var storeCacheTypes: CacheTypes
    /// Tiers asked for the original. Upstream's default is disk.
    public var originalQueryCacheTypes: CacheTypes
    /// Tiers the original is stored in. Upstream's default is disk.
    public var originalStoreCacheTypes: CacheTypes
    /// Milliseconds until the request ends with `deadlineExceeded`.
    public var timeoutMilliseconds: Int
    /// What else it says about manager, caches, keys and replies.
    public var context: RequestContext {
        get { said?.context ?? RequestContext() }
        set { said = newValue.isEmpty ? nil : SaidContext(newValue) }
    }
    /// Whether it says anything there.
    package var hasContext: Bool { said != nil }
    /// Most requests say nothing there, and are copied often.
    private var said: SaidContext?

    /// A plain load: the source bytes, once their header was read, from and into all tiers.
    public init(url: String) {
        self.url = SourceURL.percentEncodingNonASCII(url)
        headers = []
        thumbnail = nil
        steps = []
        pixelRatio = 1
        output = OutputOptions()
        infoOnly = false
        facts = WantedFacts()
        wantsExplanation = false
        assumedLifetime = .none
        options = []
        queryCacheTypes = .all
        storeCacheTypes = .all
        originalQueryCacheTypes = .disk
        originalStoreCacheTypes = .disk
        timeoutMilliseconds = 30_000
    }

    /// The result is the source's bytes as they came.
    public var wantsOriginal: Bool {
        frame == nil && thumbnail == nil && steps.isEmpty && output.isDefault
    }

    /// Whether the source's header is not enough: its pixels are decoded.
    package var needsPixels: Bool { infoOnly ? facts.needPixels : !wantsOriginal }

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
