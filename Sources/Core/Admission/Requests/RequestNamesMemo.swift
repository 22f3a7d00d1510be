import Derivation
import ImageModel
import Messages

/// Names that were derived before, so that a hit costs a look-up and derives no texts.
struct RequestNamesMemo: Sendable {
    /// What is asked, hashed once. An object: a look-up compares several keys, and would copy each.
    private final class Question: Hashable, Sendable {
        let parts: Parts
        /// Of all that a client chooses.
        private let digest: Int

        init(_ parts: consuming Parts) {
            digest = parts.digest
            self.parts = parts
        }

        static func == (left: Question, right: Question) -> Bool {
            left.digest == right.digest && left.parts == right.parts
        }

        /// The digest stands for all of it.
        func hash(into hasher: inout Hasher) { hasher.combine(digest) }
    }

    /// What the names depend on: the image and the identity of the client, but no wish.
    private struct Parts: Equatable, Sendable {
        let url: String
        let headers: [HTTPHeader]
        let frame: Int?
        let animates: Bool
        let leavesOutFrames: Bool
        let thumbnail: Thumbnail?
        let steps: [TransformStep]
        let output: OutputOptions
        let infoOnly: Bool
        let facts: WantedFacts
        let identity: String?
        let isUnverified: Bool
        let base: KeyBase
        /// Where the transfer goes, if not to the URL.
        let transferURL: String?
        let cache: String
        let originalCache: String
        let overlays: [OverlayName]
        let limits: LimitSettings
        let isUpload: Bool

        /// What names the original of an overlay.
        struct OverlayName: Hashable, Sendable {
            let url: String
            let identity: String?
            let isUnverified: Bool
            let base: KeyBase
            let originalCache: String

            init(_ load: Resolution) {
                url = load.request.url
                identity = load.terms.identity
                isUnverified = load.terms.transfer.isUnverified
                base = load.terms.base
                originalCache = load.terms.originalCache
            }
        }

        init(
            _ request: borrowing ImageRequest, _ terms: borrowing LoadTerms, isUpload: Bool
        ) {
            url = request.url
            headers = request.headers
            (frame, thumbnail) = (request.frame, request.thumbnail)
            animates = request.animates
            leavesOutFrames = request.leavesOutFrames
            steps = request.steps
            output = request.output
            infoOnly = request.infoOnly
            facts = request.facts
            identity = terms.identity
            isUnverified = terms.transfer.isUnverified
            base = terms.base
            transferURL = terms.askedURL
            cache = terms.cache
            originalCache = terms.originalCache
            overlays = terms.overlays.map(OverlayName.init)
            limits = terms.limits
            self.isUpload = isUpload
        }

        var digest: Int {
            var hasher = Hasher()
            hasher.combine(url)
            hasher.combine(headers)
            hasher.combine(frame)
            hasher.combine(animates)
            hasher.combine(leavesOutFrames)
            hasher.combine(thumbnail)
            hasher.combine(steps)
            hasher.combine(output)
            hasher.combine(identity)
            hasher.combine(base)
            hasher.combine(cache)
            hasher.combine(originalCache)
            hasher.combine(overlays)
            return hasher.finalize()
        }
    }

    private let namesMax: Int
    private var known: [Question: RequestNames] = [:]

    init(namesMax: Int) { self.namesMax = namesMax }

    /// Questions with a known answer.
    var count: Int { known.count }

    /// Names are derived anew from now on.
    mutating func removeAll() { known.removeAll(keepingCapacity: true) }

    /// The names of a request; throws what is wrong with its image. Forgets all when full: the
    /// names that are in use come back at once.
    mutating func names(
        of request: ImageRequest, _ terms: LoadTerms, isUpload: Bool = false, limits: ImageLimits,
        layout: CacheLayout = CacheLayout()
    ) throws(ImageError) -> RequestNames {
        let question = Question(Parts(request, terms, isUpload: isUpload))
        if let names = known[question] { return names }
        let names = try RequestNames(
            checking: request, terms, isUpload: isUpload,
            limits: limits.narrowed(by: terms.limits))
        if !layout.isEmpty { try names.check(layout) }
        if known.count >= namesMax { known.removeAll(keepingCapacity: true) }
        known[question] = names
        return names
    }
}
