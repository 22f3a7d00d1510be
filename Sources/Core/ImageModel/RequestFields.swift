import Synchronization

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
