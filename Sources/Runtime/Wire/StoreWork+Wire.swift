import CMessages
import ImageModel
import Messages

extension StoreWork: WireMessage {
    typealias Form = Imagebus__V1__Store
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__store__init }
    static var blank: Self {
        Self(
            key: nil, source: .blank, tiers: [], delivers: false, waitsForDisk: false,
            metadata: .blank)
    }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(
            &key, &wire.pointee.key, if: &wire.pointee.maybe_key_case, 1, "Store.key",
            limit: MessageLimits.keyBytesMax)
        try map.part(&source, &wire.pointee.source, "Store.source")
        try map.tiers(&tiers, &wire.pointee.tiers, "Store.tiers")
        map.flag(&delivers, &wire.pointee.delivers, "Store.delivers")
        map.flag(&waitsForDisk, &wire.pointee.waits_for_disk, "Store.waits_for_disk")
        map.flag(&isPromotion, &wire.pointee.is_promotion, "Store.is_promotion")
        try map.part(&metadata, &wire.pointee.metadata, "Store.metadata")
        try map.number(
            &expires, within: HTTPExpiry.bornRange, &wire.pointee.expires,
            if: &wire.pointee.maybe_expires_case, 8, "Store.expires")
        try map.block(&comparedWith, &wire.pointee.compared_with, "Store.compared_with")
        try map.caches(
            &caches, &wire.pointee.n_caches, &wire.pointee.caches, "Store.caches")
    }
}
