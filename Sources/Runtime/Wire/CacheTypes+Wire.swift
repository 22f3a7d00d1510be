import ImageModel
import Messages

extension CacheTypes {
    /// Only the bits that exist: a third one is a tier that this version does not know.
    init(_ bits: UInt32, _ field: String) throws(WireError) {
        guard let small = UInt8(exactly: bits), small & ~CacheTypes.all.rawValue == 0 else {
            throw .field(field, .unknownValue)
        }
        self.init(rawValue: small)
    }
}
