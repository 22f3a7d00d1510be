import Synchronization

/// A request for an image: the source, the steps, the output, and how to load it.
public struct ImageRequest: Hashable, Sendable {
    /// The absolute URL, up to `RequestLimits.urlBytesMax` bytes. Non-ASCII characters are
    /// percent-encoded because Swift compares strings by canonical equivalence and origins compare
    /// bytes.
    public var url: String {
        @inlinable get { shared.fields.url }
        set { fields.url = SourceURL.percentEncodingNonASCII(newValue) }
    }
    /// Request headers for the origin, in order.
    public var headers: [HTTPHeader] {
        @inlinable get { shared.fields.headers }
        @inlinable _modify { yield &fields.headers }
    }
    /// The frame of an animation, counted from 0 in display order; `nil` for the frame that a still
    /// image decoder shows. A still image has only frame 0.
    public var frame: Int? {
        @inlinable get { shared.fields.frame }
        @inlinable _modify { yield &fields.frame }
    }
    /// The thumbnail size, applied while decoding.
    public var thumbnail: Thumbnail? {
        @inlinable get { shared.fields.thumbnail }
        @inlinable _modify { yield &fields.thumbnail }
    }
    /// The steps, in execution order.
    public var steps: [TransformStep] {
        @inlinable get { shared.fields.steps }
        @inlinable _modify { yield &fields.steps }
    }
    /// The scale of the thumbnail and of the steps from the first resize on: 2 for a display with
    /// two pixels per point. From 0.1 to 10.
    public var pixelRatio: Double {
        @inlinable get { shared.fields.pixelRatio }
        @inlinable _modify { yield &fields.pixelRatio }
    }
    /// The encoding of the result.
    public var output: OutputOptions {
        @inlinable get { shared.fields.output }
        @inlinable _modify { yield &fields.output }
    }
    /// Whether only header properties are wanted, no pixels and no bytes.
    public var infoOnly: Bool {
        @inlinable get { shared.fields.infoOnly }
        @inlinable _modify { yield &fields.infoOnly }
    }
    /// Additional properties besides those of `ImageInfo`; requires `infoOnly`.
    public var properties: RequestedProperties {
        @inlinable get { shared.fields.properties }
        @inlinable _modify { yield &fields.properties }
    }
    /// Whether the response explains how the image was produced. Doesn't affect keys or work.
    public var wantsExplanation: Bool {
        @inlinable get { shared.fields.wantsExplanation }
        @inlinable _modify { yield &fields.wantsExplanation }
    }
    /// The lifetime of a response whose origin states none; used only with
    /// `RequestOptions.respectCacheControl`.
    public var assumedLifetime: AssumedLifetime {
        @inlinable get { shared.fields.assumedLifetime }
        @inlinable _modify { yield &fields.assumedLifetime }
    }
    /// For how long a previous failure of its source rejects this request; `nil` for as long as the
    /// stack remembers the failure.
    public var earlierFailureMilliseconds: Int? {
        @inlinable get { shared.fields.earlierFailureMilliseconds }
        @inlinable _modify { yield &fields.earlierFailureMilliseconds }
    }
    /// SDWebImage's option bits.
    public var options: RequestOptions {
        @inlinable get { shared.fields.options }
        @inlinable _modify { yield &fields.options }
    }
    /// Tiers queried for the result. SDWebImage's default is all.
    public var queryCacheTypes: CacheTypes {
        @inlinable get { shared.fields.queryCacheTypes }
        @inlinable _modify { yield &fields.queryCacheTypes }
    }
    /// Tiers the result is stored in. SDWebImage's default is all.
    public var storeCacheTypes: CacheTypes {
        @inlinable get { shared.fields.storeCacheTypes }
        @inlinable _modify { yield &fields.storeCacheTypes }
    }
    /// Tiers queried for the original. SDWebImage's default is disk.
    public var originalQueryCacheTypes: CacheTypes {
        @inlinable get { shared.fields.originalQueryCacheTypes }
        @inlinable _modify { yield &fields.originalQueryCacheTypes }
    }
    /// Tiers the original is stored in. SDWebImage's default is disk.
    public var originalStoreCacheTypes: CacheTypes {
        @inlinable get { shared.fields.originalStoreCacheTypes }
        @inlinable _modify { yield &fields.originalStoreCacheTypes }
    }
    /// Milliseconds until the request fails with `deadlineExceeded`.
    public var timeoutMilliseconds: Int {
        @inlinable get { shared.fields.timeoutMilliseconds }
        @inlinable _modify { yield &fields.timeoutMilliseconds }
    }
    /// Other settings for manager, caches, keys and replies.
    public var context: RequestContext {
        get { shared.fields.statedContext?.context ?? RequestContext() }
        set { fields.statedContext = newValue.isEmpty ? nil : StatedContext(newValue) }
    }
    /// The fields in one shared object (copy on write), because requests are copied often and
    /// changed rarely.
    @usableFromInline var shared: RequestFields.Shared

    /// Creates a plain load: the source bytes, with their header validated, using all tiers.
    public init(url: String) {
        shared = RequestFields.Shared(
            RequestFields(url: SourceURL.percentEncodingNonASCII(url)))
    }

    /// The fields, made unique before a change.
    @usableFromInline var fields: RequestFields {
        @inlinable get { shared.fields }
        @inlinable _modify {
            if isKnownUniquelyReferenced(&shared) {
                shared.forgetDigest()
            } else {
                shared = RequestFields.Shared(shared.fields)
            }
            yield &shared.fields
        }
    }

    /// Copies that share their fields are equal without a comparison.
    @inlinable
    public static func == (one: ImageRequest, other: ImageRequest) -> Bool {
        one.shared === other.shared || one.shared.fields == other.shared.fields
    }

    /// Hashes all fields.
    public func hash(into hasher: inout Hasher) { shared.fields.hash(into: &hasher) }

    /// Whether the result is the source bytes as received, whatever the source is.
    public var wantsOriginal: Bool {
        isPlain && (infoOnly || !options.contains(.decodeFirstFrameOnly))
    }

    /// Whether no frame, steps or output are requested.
    package var isPlain: Bool {
        frame == nil && thumbnail == nil && steps.isEmpty && output.isDefault
    }

    /// Whether pixels must be decoded because the source's header is not sufficient.
    package var needsPixels: Bool { infoOnly ? properties.needPixels : !wantsOriginal }

    /// Whether the image may be loaded although its source has failed before.
    package var mayFollowAFailure: Bool {
        options.contains(.retryFailed) || earlierFailureMilliseconds != nil
    }

    /// Whether properties are requested that caches don't store, so that the bytes must be read.
    package var wantsProperties: Bool { infoOnly && !properties.kinds.isEmpty }

    /// The assumed lifetime that takes effect; none if freshness is ignored.
    package var countedLifetime: AssumedLifetime {
        options.contains(.respectCacheControl) ? assumedLifetime : .none
    }

    /// All steps that change pixels, including the thumbnail as the first.
    public var allSteps: [TransformStep] { (thumbnail.map { [$0.step] } ?? []) + steps }

    /// Whether plug-ins perform some steps. Workers then exchange only pixels in display form.
    package var hasCustomSteps: Bool { steps.contains(where: \.isCustom) }

    /// The priority class in all queues; high takes precedence over low (SEMANTICS §13.3).
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
    /// The fields, for debuggers and `dump`.
    public var customMirror: Mirror {
        Mirror(
            self, children: Mirror(reflecting: shared.fields).children, displayStyle: .struct)
    }
}

/// The fields of an `ImageRequest`, which documents them.
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
    @usableFromInline var properties = RequestedProperties()
    @usableFromInline var wantsExplanation = false
    @usableFromInline var assumedLifetime: AssumedLifetime = .none
    @usableFromInline var earlierFailureMilliseconds: Int?
    @usableFromInline var options: RequestOptions = []
    @usableFromInline var queryCacheTypes: CacheTypes = .all
    @usableFromInline var storeCacheTypes: CacheTypes = .all
    @usableFromInline var originalQueryCacheTypes: CacheTypes = .disk
    @usableFromInline var originalStoreCacheTypes: CacheTypes = .disk
    @usableFromInline var timeoutMilliseconds = 30_000
    /// `nil` for most requests.
    var statedContext: StatedContext?

    init(url: String) { self.url = url }

    /// The fields of a request, shared by its copies.
    ///
    /// Unchecked: `ImageRequest` writes only while it holds the sole reference. Exclusivity is
    /// checked for each request, so its fields need no check of their own.
    @usableFromInline
    final class Shared: @unchecked Sendable {
        @exclusivity(unchecked) @usableFromInline var fields: RequestFields
        /// The digest of the current fields; 0 if not computed.
        private let digest = Atomic(0)

        @usableFromInline
        init(_ fields: RequestFields) { self.fields = fields }

        /// Invalidates the digest before the fields change.
        @usableFromInline
        func forgetDigest() { digest.store(0, ordering: .relaxed) }

        /// Concurrent computations produce the same value.
        func digest(_ make: (RequestFields) -> Int) -> Int {
            let known = digest.load(ordering: .relaxed)
            guard known == 0 else { return known }
            let computed = make(fields)
            digest.store(computed, ordering: .relaxed)
            return computed
        }
    }
}

/// A nonempty context, shared by all copies of its request.
final class StatedContext: Hashable, Sendable {
    let context: RequestContext

    init(_ context: RequestContext) { self.context = context }

    static func == (one: StatedContext, other: StatedContext) -> Bool {
        one === other || one.context == other.context
    }

    func hash(into hasher: inout Hasher) { hasher.combine(context) }
}

extension ImageRequest {
    /// A hash of the fields that usually differ between requests, for tables in this process.
    ///
    /// Computed once for a request and its copies, until one is changed. Excludes priority class
    /// and timeout: they don't affect the image, and requests that differ only in these may share a
    /// load.
    package var digest: Int { shared.digest { $0.computedDigest } }

    /// Returns whether the request differs from another one in that part only.
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
    /// Skips fields that most requests leave at their defaults.
    fileprivate var computedDigest: Int {
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
        if let statedContext { hasher.combine(statedContext) }
        return hasher.finalize()
    }
}
