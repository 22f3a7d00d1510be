import Dispatching
import ImageModel
import Messages

/// Under which texts a request's result and original are cached, and proof that its picture is one
/// that may be asked for.
struct RequestNames: Hashable, Sendable {
    /// The text of the result for the cache process (`CacheKey.stored`).
    let result: String
    /// The text of the source's bytes for the cache process.
    let original: String
    /// The same whatever the origin's answer depends on.
    let plainResult: String
    let plainOriginal: String
    /// The key of the result, as replies show it.
    let resultKey: String
    /// Points per pixel where the request does not say.
    let scaleFactor: Double
    /// Where its transfer goes.
    let host: HostName?
    /// What is fetched.
    let source: SourceKey

    init(_ request: ImageRequest, _ url: SourceURL, _ terms: LoadTerms) {
        resultKey = CacheKey.result(request, url: url, terms: terms)
        plainResult = CacheKey.stored(resultKey, in: terms.cache, terms)
        plainOriginal = CacheKey.stored(
            CacheKey.original(url: url, terms: terms), in: terms.originalCache, terms)
        (result, original) = (plainResult, plainOriginal)
        scaleFactor = ScaleFactor.of(key: CacheKey.base(url, terms))
        host = HostName(url)
        source = SourceKey(request)
    }

    /// What an operator puts under a key, as replies show that.
    init(putting key: String, in cache: String, _ request: ImageRequest) {
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
    func varied(by variant: String?) -> RequestNames { RequestNames(self, variant) }
}

/// Names that were derived before, so that a hit costs a look-up and no string surgery.
struct RequestNamesMemo: Sendable {
    /// What the names depend on: the picture and who asks, no wish.
    struct Question: Hashable, Sendable {
        let url: String
        let headers: [HTTPHeader]
        let thumbnail: Thumbnail?
        let steps: [TransformStep]
        let output: OutputOptions
        let infoOnly: Bool
        let identity: String?
        let base: KeyBase
        let cache: String
        let originalCache: String
        let overlays: [OverlayName]
        let isUpload: Bool

        /// What names the original of an overlay.
        struct OverlayName: Hashable, Sendable {
            let url: String
            let identity: String?
            let base: KeyBase
            let originalCache: String

            init(_ load: Resolution) {
                url = load.request.url
                identity = load.terms.identity
                base = load.terms.base
                originalCache = load.terms.originalCache
            }
        }

        init(_ request: ImageRequest, _ terms: LoadTerms, isUpload: Bool) {
            url = request.url
            headers = request.headers
            thumbnail = request.thumbnail
            steps = request.steps
            output = request.output
            infoOnly = request.infoOnly
            identity = terms.identity
            base = terms.base
            cache = terms.cache
            originalCache = terms.originalCache
            overlays = terms.overlays.map(OverlayName.init)
            self.isUpload = isUpload
        }
    }

    private let namesMax: Int
    private var known: [Question: RequestNames] = [:]

    init(namesMax: Int) { self.namesMax = namesMax }

    /// Questions with a known answer.
    var count: Int { known.count }

    /// Names are derived anew from now on.
    mutating func removeAll() { known.removeAll(keepingCapacity: true) }

    /// The names of a request; throws what is wrong with its picture. Forgets all when full: the
    /// names that are in use come back at once.
    mutating func names(
        of request: ImageRequest, _ terms: LoadTerms, isUpload: Bool = false, limits: ImageLimits
    ) throws(ImageError) -> RequestNames {
        let question = Question(request, terms, isUpload: isUpload)
        if let names = known[question] { return names }
        let names = try RequestNames(
            checking: request, terms, isUpload: isUpload, limits: limits)
        if known.count >= namesMax { known.removeAll(keepingCapacity: true) }
        known[question] = names
        return names
    }
}
