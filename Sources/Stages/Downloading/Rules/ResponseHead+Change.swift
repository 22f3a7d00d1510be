import Curl
import ImageModel

extension ResponseHead {
    /// The head as rules want it to be taken (SEMANTICS §10.14).
    func changed(by change: ResponseChange) -> ResponseHead {
        guard !change.isEmpty else { return self }
        let names = Set(
            (change.removedHeaders + change.headers.map(\.name)).map { $0.lowercased() })
        let kept = fields.filter { !names.contains($0.name) }
        return ResponseHead(
            status: change.status(status),
            fields: kept + change.headers.map { Field(name: $0.name, value: $0.value) })
    }
}
