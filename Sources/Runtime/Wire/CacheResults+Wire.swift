import CMessages
import ImageModel
import Messages

extension CacheHit: WireMessage {
    static var begin: (CPart<Imagebus__V1__CacheHit>?) -> Void { imagebus__v1__cache_hit__init }
    static var blank: Self { Self(reference: .blank, tier: [], metadata: .blank) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__CacheHit>
    ) throws(WireError) {
        try map.part(&value.reference, &wire.pointee.reference, "CacheHit.reference")
        try map.tiers(&value.tier, &wire.pointee.tier, "CacheHit.tier")
        try map.part(&value.metadata, &wire.pointee.metadata, "CacheHit.metadata")
    }
}

extension StoreReport: WireMessage {
    static var begin: (CPart<Imagebus__V1__StoreReport>?) -> Void {
        imagebus__v1__store_report__init
    }
    static var blank: Self { Self(delivered: nil, tiers: [], skipped: nil, isSame: false) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__StoreReport>
    ) throws(WireError) {
        try map.maybe(&value.delivered, &wire.pointee.delivered, "StoreReport.delivered")
        try map.tiers(&value.tiers, &wire.pointee.tiers, "StoreReport.tiers")
        try map.text(
            &value.skipped, &wire.pointee.skipped, if: &wire.pointee.maybe_skipped_case, 3,
            "StoreReport.skipped", limit: MessageLimits.textBytesMax)
        map.flag(&value.isSame, &wire.pointee.is_same, "StoreReport.is_same")
    }
}

/// The tiers that had an entry.
struct EntryReport: WireMessage {
    var tiers: CacheTypes

    static var begin: (CPart<Imagebus__V1__EntryReport>?) -> Void {
        imagebus__v1__entry_report__init
    }
    static var blank: Self { Self(tiers: []) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__EntryReport>
    ) throws(WireError) {
        try map.tiers(&value.tiers, &wire.pointee.tiers, "EntryReport.tiers")
    }
}
