import CMessages
import Messages

extension FieldMap {
    /// A secret, or no bytes at all.
    func secret(
        _ value: inout ListenerSecret?, _ member: inout ProtobufCBinaryData, _ field: String
    ) throws(WireError) {
        guard has(value != nil, &member) else { return }
        var bytes = value?.bytes ?? []
        try data(&bytes, &member, field, limit: ListenerSecret.byteCount)
        guard let secret = ListenerSecret(bytes) else { throw .field(field, .outOfRange) }
        value = secret
    }
}
