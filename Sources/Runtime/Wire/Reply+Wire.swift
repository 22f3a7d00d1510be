import CMessages
import ImageModel
import Messages

extension Reply: WireMessage {
    static var begin: (CPart<Imagebus__V1__Reply>?) -> Void { imagebus__v1__reply__init }
    static var blank: Self { Self(token: .blank, outcome: .notModified) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Reply>
    ) throws(WireError) {
        try map.identifier(&value.token, &wire.pointee.token, "Reply.token")
        try outcome(map, &value, wire)
        try map.part(&value.timings, unless: false, &wire.pointee.timings, "Reply.timings")
        map.flag(&value.isRefreshing, &wire.pointee.is_refreshing, "Reply.is_refreshing")
    }

    private static func outcome(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Reply>
    ) throws(WireError) {
        if try map.part(
            { if case .image(let image) = value.outcome { image } else { nil } },
            { value.outcome = .image($0) }, &wire.pointee.image,
            if: &wire.pointee.outcome_case, 3, "Reply.image")
        {
            return
        }
        if try map.text(
            { if case .miss(let key) = value.outcome { key } else { nil } },
            { value.outcome = .miss(key: $0) }, &wire.pointee.miss,
            if: &wire.pointee.outcome_case, 4, "Reply.miss", limit: MessageLimits.keyBytesMax)
        {
            return
        }
        if try map.part(
            { if case .failure(let error) = value.outcome { error } else { nil } },
            { value.outcome = .failure($0) }, &wire.pointee.failure,
            if: &wire.pointee.outcome_case, 5, "Reply.failure")
        {
            return
        }
        if try map.unit(
            value.outcome.isUnchanged, { value.outcome = .notModified }, &wire.pointee.not_modified,
            if: &wire.pointee.outcome_case, 6, "Reply.not_modified")
        {
            return
        }
        throw .field("Reply.outcome", .missing)
    }
}

extension Reply.Outcome {
    fileprivate var isUnchanged: Bool { if case .notModified = self { true } else { false } }
}

extension DeliveredImage: WireMessage {
    static var begin: (CPart<Imagebus__V1__DeliveredImage>?) -> Void {
        imagebus__v1__delivered_image__init
    }
    static var blank: Self { Self(reference: nil, info: .blank, cacheType: [], key: "") }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__DeliveredImage>
    ) throws(WireError) {
        try map.maybe(&value.reference, &wire.pointee.reference, "DeliveredImage.reference")
        try map.part(&value.info, &wire.pointee.info, "DeliveredImage.info")
        try map.tiers(&value.cacheType, &wire.pointee.cache_type, "DeliveredImage.cache_type")
        try map.text(
            &value.key, &wire.pointee.key, "DeliveredImage.key", limit: MessageLimits.keyBytesMax)
        try map.tiers(
            &value.storedTiers, &wire.pointee.stored_tiers,
            if: &wire.pointee.maybe_stored_tiers_case, 5, "DeliveredImage.stored_tiers")
        map.flag(&value.mustCopy, &wire.pointee.must_copy, "DeliveredImage.must_copy")
        try map.number(
            &value.pieceBytes, &wire.pointee.piece_bytes, if: &wire.pointee.maybe_piece_bytes_case,
            7, "DeliveredImage.piece_bytes")
        try map.finite(
            &value.scaleFactor, unless: 1, &wire.pointee.scale_factor,
            if: &wire.pointee.maybe_scale_factor_case, 8, "DeliveredImage.scale_factor")
        try map.maybe(&value.fallbackFor, &wire.pointee.fallback_for, "DeliveredImage.fallback_for")
    }
}
