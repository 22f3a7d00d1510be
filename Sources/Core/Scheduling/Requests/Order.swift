import ImageModel
import Messages

/// What was ordered, as it was admitted: fixed from then on, and one object for the request and
/// all work that is done for it, so that passing it on costs nothing.
final class Order: Sendable {
    let image: ImageRequest
    let terms: LoadTerms
    let names: RequestNames
    let key: ResultKey
    let plan: JobPlan
    /// The trace of the request, carried on with the work that it begins.
    let trace: TraceContext?
    /// Where its source lies, if it came along with the request.
    let upload: Upload?
    /// What is painted instead of loading anything.
    let canvas: Canvas?
    /// The copy in memory turned out stale (SEMANTICS §5.11).
    let distrustsMemory: Bool
    /// What is written under its keys; no name of one.
    var serializer: Serializer { terms.serializer }
    /// Its URL, on its terms.
    var network: Origin { .network(FetchTerms(terms)) }

    init(
        _ image: ImageRequest, _ terms: LoadTerms = LoadTerms(), _ names: RequestNames,
        plan: JobPlan? = nil, upload: Upload? = nil, canvas: Canvas? = nil, distrustsMemory: Bool,
        trace: TraceContext? = nil
    ) {
        self.image = image
        self.terms = terms
        self.names = names
        self.upload = upload
        self.canvas = canvas
        self.distrustsMemory = distrustsMemory
        self.trace = trace
        key = ResultKey(
            image, of: names.source, overlays: terms.overlays.map { SourceKey($0.request) })
        self.plan = plan ?? JobPlan(image, terms, names, distrustsMemory: distrustsMemory)
    }
}
