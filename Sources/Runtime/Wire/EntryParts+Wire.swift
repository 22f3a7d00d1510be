import CMessages
import ImageModel
import Messages

// What an entry carries besides its bytes.

extension FieldMap {
    /// Tags, `limit` of them at most.
    func tags(
        _ value: inout [String], _ count: inout Int,
        _ member: inout UnsafeMutablePointer<CText?>?, _ field: String, limit: Int
    ) throws(WireError) {
        try texts(
            &value, &count, &member, field, countMax: limit, limit: CacheTag.bytesMax)
        guard value.allSatisfy({ CacheTag.isTag($0) }) else { throw .field(field, .outOfRange) }
    }

    /// Exactly 32 bytes, or none.
    func digest(
        _ value: inout ContentDigest?, _ member: inout ProtobufCBinaryData, _ field: String
    ) throws(WireError) {
        guard has(value != nil, &member) else { return }
        var bytes = value?.bytes ?? []
        try data(&bytes, &member, field, limit: ContentDigest.byteCount)
        guard let digest = ContentDigest(bytes) else { throw .field(field, .outOfRange) }
        value = digest
    }
}

extension ExtendedData: WireMessage {
    typealias Form = Imagebus__V1__ExtendedData
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__extended_data__init }
    static var blank: Self { Self([], mediaType: "") }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(
            &mediaType, &wire.pointee.media_type, "ExtendedData.media_type",
            limit: Self.mediaTypeBytesMax)
        try map.data(&bytes, &wire.pointee.data, "ExtendedData.data", limit: Self.bytesMax)
    }
}
