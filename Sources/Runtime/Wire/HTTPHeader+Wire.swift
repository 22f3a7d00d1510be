import CMessages
import ImageModel
import Messages

extension HTTPHeader {
    /// Headers of a request: `headersMax` at most, `headerBytesMax` in all.
    static func list(
        _ count: Int, _ headers: UnsafeMutablePointer<UnsafeMutablePointer<Imagebus__V1__Header>?>?,
        _ field: String, _ read: FieldReader
    ) throws(WireError) -> [HTTPHeader] {
        let limit = RequestLimits.headerBytesMax
        let list = try read.list(count, headers, field, limit: RequestLimits.headersMax) {
            part throws(WireError) in
            HTTPHeader(
                name: try read.text(part.name, field, limit: limit),
                value: try read.text(part.value, field, limit: limit))
        }
        try check(list, field)
        return list
    }

    static func wire(_ headers: [HTTPHeader], _ field: String, _ write: FieldWriter)
        throws(WireError) -> UnsafeMutablePointer<UnsafeMutablePointer<Imagebus__V1__Header>?>
    {
        try check(headers, field)
        return try write.list(headers, field, limit: RequestLimits.headersMax) {
            header throws(WireError) in
            let wire = try write.make(imagebus__v1__header__init)
            let limit = RequestLimits.headerBytesMax
            wire.pointee.name = try write.text(header.name, field, limit: limit)
            wire.pointee.value = try write.text(header.value, field, limit: limit)
            return wire
        }
    }

    private static func check(_ headers: [HTTPHeader], _ field: String) throws(WireError) {
        let bytes = headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        guard bytes <= RequestLimits.headerBytesMax else {
            throw .field(field, .tooLong(limit: RequestLimits.headerBytesMax))
        }
    }
}
