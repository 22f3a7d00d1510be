import CMessages
import Messages

extension ListenerSecret {
    /// `nil` for no bytes at all.
    init?(_ data: ProtobufCBinaryData, _ field: String, _ read: FieldReader) throws(WireError) {
        guard data.len > 0 else { return nil }
        let bytes = try read.data(data, field, limit: Self.byteCount)
        guard let secret = ListenerSecret(bytes) else { throw .field(field, .outOfRange) }
        self = secret
    }

    func wire(_ field: String, _ write: FieldWriter) throws(WireError) -> ProtobufCBinaryData {
        try write.data(bytes, field, limit: Self.byteCount)
    }
}
