import CMessages
import ImageModel
import Messages

extension CacheHit: WireMessage {
    typealias Form = Imagebus__V1__CacheHit
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__cache_hit__init }
    static var blank: Self { Self(reference: .blank, tier: [], metadata: .blank) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.part(&reference, &wire.pointee.reference, "CacheHit.reference")
        try map.tiers(&tier, &wire.pointee.tier, "CacheHit.tier")
        try map.part(&metadata, &wire.pointee.metadata, "CacheHit.metadata")
    }
}

extension StoreReport: WireMessage {
    typealias Form = Imagebus__V1__StoreReport
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__store_report__init }
    static var blank: Self { Self(delivered: nil, tiers: [], skipped: nil, isSame: false) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.maybe(&delivered, &wire.pointee.delivered, "StoreReport.delivered")
        try map.tiers(&tiers, &wire.pointee.tiers, "StoreReport.tiers")
        try map.text(
            &skipped, &wire.pointee.skipped, if: &wire.pointee.maybe_skipped_case, 3,
            "StoreReport.skipped", limit: MessageLimits.textBytesMax)
        map.flag(&isSame, &wire.pointee.is_same, "StoreReport.is_same")
        try map.digest(&digest, &wire.pointee.digest, "StoreReport.digest")
    }
}

/// The tiers that had an entry.
struct EntryReport: WireMessage {
    var tiers: CacheTypes

    typealias Form = Imagebus__V1__EntryReport
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__entry_report__init }
    static var blank: Self { Self(tiers: []) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.tiers(&tiers, &wire.pointee.tiers, "EntryReport.tiers")
    }
}
