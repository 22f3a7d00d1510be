import CMessages
import Messages

extension PoolName {
    /// The name; `nil` for an empty text.
    init?(
        wire: UnsafeMutablePointer<CChar>?, _ field: String, _ read: FieldReader
    ) throws(WireError) {
        let text = try read.text(wire, field, limit: Self.bytesMax)
        if text.isEmpty { return nil }
        guard let name = PoolName(text) else { throw .field(field, .unknownValue) }
        self = name
    }

    func wire(_ field: String, _ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<CChar>
    {
        try write.text(text, field, limit: Self.bytesMax)
    }
}
