import CMessages
import ImageModel
import Messages

extension StoreWork: WireMessage {
    static var begin: (CPart<Imagebus__V1__Store>?) -> Void { imagebus__v1__store__init }
    static var blank: Self {
        Self(
            key: nil, source: .blank, tiers: [], delivers: false, waitsForDisk: false,
            metadata: .blank)
    }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Store>
    ) throws(WireError) {
        try map.text(
            &value.key, &wire.pointee.key, if: &wire.pointee.maybe_key_case, 1, "Store.key",
            limit: MessageLimits.keyBytesMax)
        try map.part(&value.source, &wire.pointee.source, "Store.source")
        try map.tiers(&value.tiers, &wire.pointee.tiers, "Store.tiers")
        map.flag(&value.delivers, &wire.pointee.delivers, "Store.delivers")
        map.flag(&value.waitsForDisk, &wire.pointee.waits_for_disk, "Store.waits_for_disk")
        try map.part(&value.metadata, &wire.pointee.metadata, "Store.metadata")
        try map.block(&value.comparedWith, &wire.pointee.compared_with, "Store.compared_with")
    }
}
