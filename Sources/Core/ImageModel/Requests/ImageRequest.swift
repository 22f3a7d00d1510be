import Synchronization

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

/// What an image request says; `ImageRequest` has what each part means.
@usableFromInline
struct RequestFields: Hashable, Sendable {
    @usableFromInline var url: String
    @usableFromInline var headers: [HTTPHeader] = []
    @usableFromInline var frame: Int?
    @usableFromInline var thumbnail: Thumbnail?
    @usableFromInline var steps: [TransformStep] = []
    @usableFromInline var pixelRatio = 1.0
    @usableFromInline var output = OutputOptions()
    @usableFromInline var infoOnly = false
    @usableFromInline var facts = WantedFacts()
    @usableFromInline var wantsExplanation = false
    @usableFromInline var assumedLifetime: AssumedLifetime = .none
    @usableFromInline var earlierFailureMilliseconds: Int?
    @usableFromInline var options: RequestOptions = []
    @usableFromInline var queryCacheTypes: CacheTypes = .all
    @usableFromInline var storeCacheTypes: CacheTypes = .all
    @usableFromInline var originalQueryCacheTypes: CacheTypes = .disk
    @usableFromInline var originalStoreCacheTypes: CacheTypes = .disk
    @usableFromInline var timeoutMilliseconds = 30_000
    /// Most requests say nothing there.
    var said: SaidContext?

    init(url: String) { self.url = url }

    /// The fields of a request and of its copies.
    ///
    /// Unchecked: `ImageRequest` writes only where nobody else has it. Accesses of one request are
    /// checked against each other, so those of its fields need not be.
    @usableFromInline
    final class Shared: @unchecked Sendable {
        @exclusivity(unchecked) @usableFromInline var fields: RequestFields
        /// Of the fields as they are; 0 where nobody has asked.
        private let digest = Atomic(0)

        @usableFromInline
        init(_ fields: RequestFields) { self.fields = fields }

        /// The fields are about to change.
        @usableFromInline
        func forgetDigest() { digest.store(0, ordering: .relaxed) }

        /// Two threads that make it at the same time make the same.
        func digest(_ make: (RequestFields) -> Int) -> Int {
            let known = digest.load(ordering: .relaxed)
            guard known == 0 else { return known }
            let made = make(fields)
            digest.store(made, ordering: .relaxed)
            return made
        }
    }
}

/// A context that says something, shared by all copies of its request.
final class SaidContext: Hashable, Sendable {
    let context: RequestContext

    init(_ context: RequestContext) { self.context = context }

    static func == (one: SaidContext, other: SaidContext) -> Bool {
        one === other || one.context == other.context
    }

    func hash(into hasher: inout Hasher) { hasher.combine(context) }
}

extension ImageRequest {
    /// A hash of what usually differs between requests, for tables of this process.
    ///
    /// Made once for a request and its copies, until one is changed. Without class and timeout:
    /// neither makes another image, and requests that differ in these alone may share a load.
    package var digest: Int { shared.digest { $0.madeDigest } }

    /// Whether it differs from another one in that part, and in nothing else.
    package func differs<Value: Equatable>(
        from other: ImageRequest, onlyIn part: WritableKeyPath<ImageRequest, Value>
    ) -> Bool {
        guard self[keyPath: part] != other[keyPath: part] else { return false }
        var equal = other
        equal[keyPath: part] = self[keyPath: part]
        return self == equal
    }
}

extension RequestFields {
    /// What most requests do not say costs nothing.
    fileprivate var madeDigest: Int {
        var hasher = Hasher()
        hasher.combine(url)
        let format = UInt64(UInt16(bitPattern: output.format?.rawValue ?? -1))
        let quality = UInt64(UInt8(truncatingIfNeeded: output.quality ?? -1))
        let isInfo: UInt64 = infoOnly ? 1 : 0
        hasher.combine(format | quality << 16 | isInfo << 24)
        hasher.combine(options.subtracting([.lowPriority, .highPriority]))
        if pixelRatio != 1 { hasher.combine(pixelRatio) }
        if !steps.isEmpty { hasher.combine(steps) }
        if thumbnail != nil { hasher.combine(thumbnail) }
        if frame != nil { hasher.combine(frame) }
        if !headers.isEmpty { hasher.combine(headers) }
        if let said { hasher.combine(said) }
        return hasher.finalize()
    }
}
