import CMessages
import ImageModel
import Messages

extension StoreWork {
    init(_ wire: Imagebus__V1__Store, _ read: FieldReader) throws(WireError) {
        self.init(
            key: try read.text(
                wire.key, present: wire.maybe_key_case.rawValue != 0, "Store.key",
                limit: MessageLimits.keyBytesMax),
            source: try BlockReference(try read.required(wire.source, "Store.source"), read),
            tiers: try CacheTypes(wire.tiers, "Store.tiers"), delivers: wire.delivers != 0,
            waitsForDisk: wire.waits_for_disk != 0,
            metadata: try StoredMetadata(try read.required(wire.metadata, "Store.metadata"), read),
            comparedWith: wire.compared_with == 0 ? nil : BlockID(wire.compared_with))
    }

    func wire(_ write: FieldWriter) throws(WireError) -> UnsafeMutablePointer<Imagebus__V1__Store> {
        let wire = try write.make(imagebus__v1__store__init)
        if let key {
            wire.pointee.maybe_key_case = IMAGEBUS__V1__STORE__MAYBE_KEY_KEY
            wire.pointee.key = try write.text(key, "Store.key", limit: MessageLimits.keyBytesMax)
        }
        wire.pointee.source = try source.wire(write)
        wire.pointee.tiers = UInt32(tiers.rawValue)
        wire.pointee.delivers = delivers ? 1 : 0
        wire.pointee.waits_for_disk = waitsForDisk ? 1 : 0
        wire.pointee.metadata = try metadata.wire(write)
        wire.pointee.compared_with = comparedWith?.value ?? 0
        return wire
    }
}
