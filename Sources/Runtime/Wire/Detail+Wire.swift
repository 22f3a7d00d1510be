import CMessages
import ImageModel
import Messages

/// How long the name and the value of a pair may be.
protocol DetailLimits {
    static var nameMax: Int { get }
    static func valueMax(beside name: String) -> Int
}

/// One pair of a dictionary of texts.
struct Detail<Limits: DetailLimits>: WireMessage {
    var name: String
    var value: String

    typealias Form = Imagebus__V1__Detail
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__detail__init }
    static var blank: Self { Self(name: "", value: "") }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(&name, &wire.pointee.name, "Detail.name", limit: Limits.nameMax)
        try map.text(
            &value, &wire.pointee.value, "Detail.value", limit: Limits.valueMax(beside: name))
    }
}

extension FieldMap {
    /// A dictionary of texts; on the wire in the order of the names.
    func details<Limits: DetailLimits>(
        _ value: inout [String: String], _ limits: Limits.Type, _ count: inout Int,
        _ member: inout CList<Imagebus__V1__Detail>?,
        _ field: String, limit: Int
    ) throws(WireError) {
        var details =
            value.isEmpty
            ? []
            : value.sorted { $0.key < $1.key }.map { Detail<Limits>(name: $0.key, value: $0.value) }
        try list(&details, &count, &member, field, limit: limit)
        if details.isEmpty { return }
        value = Dictionary(details.map { ($0.name, $0.value) }) { first, _ in first }
        guard value.count == details.count else { throw .field(field, .duplicate) }
    }
}
