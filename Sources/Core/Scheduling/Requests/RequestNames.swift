import ImageModel
import Messages

/// Under which texts a request's result and original are cached, and proof that its picture is one
/// that may be asked for.
struct RequestNames: Hashable, Sendable {
    /// The key of the result.
    let result: String
    /// The key of the source's bytes.
    let original: String
    /// The same whatever the origin's answer depends on.
    let plainResult: String
    let plainOriginal: String

    init(result: String, original: String) {
        (self.result, self.original) = (result, original)
        (plainResult, plainOriginal) = (result, original)
    }

    private init(_ plain: RequestNames, _ variant: String?) {
        (plainResult, plainOriginal) = (plain.plainResult, plain.plainOriginal)
        result = CacheKey.varied(plainResult, by: variant)
        original = CacheKey.varied(plainOriginal, by: variant)
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
        let isUpload: Bool

        init(_ request: ImageRequest, identity: String?, isUpload: Bool) {
            url = request.url
            headers = request.headers
            thumbnail = request.thumbnail
            steps = request.steps
            output = request.output
            infoOnly = request.infoOnly
            self.identity = identity
            self.isUpload = isUpload
        }
    }

    private let namesMax: Int
    private var known: [Question: RequestNames] = [:]

    init(namesMax: Int) { self.namesMax = namesMax }

    /// The names of a request; throws what is wrong with its picture. Forgets all when full: the
    /// names that are in use come back at once.
    mutating func names(
        of request: ImageRequest, identity: String?, isUpload: Bool = false, limits: ImageLimits
    ) throws(ImageError) -> RequestNames {
        let question = Question(request, identity: identity, isUpload: isUpload)
        if let names = known[question] { return names }
        let names = try RequestNames(
            checking: request, identity: identity, isUpload: isUpload, limits: limits)
        if known.count >= namesMax { known.removeAll(keepingCapacity: true) }
        known[question] = names
        return names
    }
}
