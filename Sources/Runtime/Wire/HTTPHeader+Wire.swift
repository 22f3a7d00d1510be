import CMessages
import ImageModel
import Messages

extension FieldMap {
    /// Headers of a request: `headersMax` at most, `headerBytesMax` in all.
    func headers(
        _ value: inout [HTTPHeader], _ count: inout Int,
        _ member: inout CList<Imagebus__V1__Header>?, _ field: String
    ) throws(WireError) {
        try list(&value, &count, &member, field, limit: RequestLimits.headersMax)
        let bytes = value.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        guard bytes <= RequestLimits.headerBytesMax else {
            throw .field(field, .tooLong(limit: RequestLimits.headerBytesMax))
        }
    }
}

extension HTTPHeader: WireMessage {
    typealias Form = Imagebus__V1__Header
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__header__init }
    static var blank: Self { Self(name: "", value: "") }

    /// Faults name the list: its limit is one of all headers together.
    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        let limit = RequestLimits.headerBytesMax
        try map.text(&name, &wire.pointee.name, map.container, limit: limit)
        try map.text(&value, &wire.pointee.value, map.container, limit: limit)
    }
}
