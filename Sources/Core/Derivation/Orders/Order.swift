package import ImageModel
package import Messages

/// What was ordered, as it was admitted: fixed from then on, and one object for the request and
/// all work that is done for it, so that passing it on costs nothing.
package final class Order: Sendable {
    package let image: ImageRequest
    package let terms: LoadTerms
    package let names: RequestNames
    package let key: ResultKey
    package let plan: JobPlan
    /// What logs say of the request, and of the work that it begins.
    package let logContext: LogContext
    /// Where its source lies, if it came along with the request.
    package let upload: Upload?
    /// What is painted instead of loading anything.
    package let canvas: Canvas?
    /// The copy in memory turned out stale (SEMANTICS §5.11).
    package let distrustsMemory: Bool
    /// What is written under its keys; no name of one.
    package var serializer: Serializer { terms.serializer }
    /// Whether it is answered only once everything is stored.
    package var waitsForStores: Bool { image.options.contains(.waitStoreCache) }

    package init(
        _ image: ImageRequest, _ terms: LoadTerms = LoadTerms(), _ names: RequestNames,
        plan: JobPlan? = nil, upload: Upload? = nil, canvas: Canvas? = nil, distrustsMemory: Bool,
        logContext: LogContext = LogContext()
    ) {
        self.image = image
        self.terms = terms
        self.names = names
        self.upload = upload
        self.canvas = canvas
        self.distrustsMemory = distrustsMemory
        self.logContext = logContext
        key = ResultKey(
            image, of: names.source, overlays: terms.overlays.map { SourceKey($0.request) },
            limits: terms.limits, coders: terms.coders, showsDamaged: terms.showsDamaged)
        self.plan = plan ?? JobPlan(image, terms, names, distrustsMemory: distrustsMemory)
    }
}

// The sources that its bytes may come from.
extension Order {
    /// Its URL, on its terms.
    package var network: ByteSource { .network(FetchTerms(terms)) }

    /// The cache's copy of the original, staged for a decoder. A hit enters the memory tier only
    /// where originals are to be kept there.
    package var cachedOriginal: ByteSource {
        .cache(
            QueryWork(
                key: names.original, tiers: plan.originalQueryTiers, destination: .staging,
                promotes: image.originalStoreCacheTypes.contains(.memory)))
    }

    /// Its URL, for a request that has an image already. The mark of the image does not say whether
    /// an overlay has changed.
    package func refresh(of mark: BodyMark) -> ByteSource {
        .revalidation(terms.overlays.isEmpty ? mark : .none, FetchTerms(terms))
    }

    /// The result that is made of such bytes.
    func result(of origin: ByteSource) -> ResultName {
        ResultName(key: key, text: names.result, origin: origin)
    }
}
