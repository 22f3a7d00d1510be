package import Dispatching
package import ImageModel
import Messages

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
