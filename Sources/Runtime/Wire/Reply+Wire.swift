import CMessages
import ImageModel
import Messages

extension Reply: WireMessage {
    typealias Form = Imagebus__V1__Reply
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__reply__init }
    static var blank: Self { Self(token: .blank, outcome: .notModified) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.identifier(&token, &wire.pointee.token, "Reply.token")
        try mapOutcome(map, wire)
        try map.part(&timings, unless: false, &wire.pointee.timings, "Reply.timings")
        map.flag(&isRefreshing, &wire.pointee.is_refreshing, "Reply.is_refreshing")
        try map.number(
            &arrivedBytes, &wire.pointee.arrived_bytes,
            if: &wire.pointee.maybe_arrived_bytes_case, 8, "Reply.arrived_bytes")
    }

    private mutating func mapOutcome(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        if try map.part(
            { if case .image(let image) = outcome { image } else { nil } },
            { outcome = .image($0) }, &wire.pointee.image,
            if: &wire.pointee.outcome_case, 3, "Reply.image")
        {
            return
        }
        if try map.text(
            { if case .miss(let key) = outcome { key } else { nil } }, { outcome = .miss(key: $0) },
            &wire.pointee.miss,
            if: &wire.pointee.outcome_case, 4, "Reply.miss", limit: MessageLimits.keyBytesMax)
        {
            return
        }
        if try map.part(
            { if case .failure(let error) = outcome { error } else { nil } },
            { outcome = .failure($0) }, &wire.pointee.failure,
            if: &wire.pointee.outcome_case, 5, "Reply.failure")
        {
            return
        }
        if try map.unit(
            outcome.isUnchanged, { outcome = .notModified }, &wire.pointee.not_modified,
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
    typealias Form = Imagebus__V1__DeliveredImage
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__delivered_image__init }
    static var blank: Self { Self(reference: nil, info: .blank, cacheType: [], key: "") }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.maybe(&reference, &wire.pointee.reference, "DeliveredImage.reference")
        try map.part(&info, &wire.pointee.info, "DeliveredImage.info")
        try map.tiers(&cacheType, &wire.pointee.cache_type, "DeliveredImage.cache_type")
        try map.text(
            &key, &wire.pointee.key, "DeliveredImage.key", limit: MessageLimits.keyBytesMax)
        try map.tiers(
            &storedTiers, &wire.pointee.stored_tiers, if: &wire.pointee.maybe_stored_tiers_case, 5,
            "DeliveredImage.stored_tiers")
        map.flag(&mustCopy, &wire.pointee.must_copy, "DeliveredImage.must_copy")
        try map.number(
            &pieceBytes, &wire.pointee.piece_bytes, if: &wire.pointee.maybe_piece_bytes_case, 7,
            "DeliveredImage.piece_bytes")
        try map.finite(
            &scaleFactor, unless: 1, &wire.pointee.scale_factor,
            if: &wire.pointee.maybe_scale_factor_case, 8, "DeliveredImage.scale_factor")
        try map.maybe(&fallbackFor, &wire.pointee.fallback_for, "DeliveredImage.fallback_for")
        try map.maybe(&facts, &wire.pointee.facts, "DeliveredImage.facts")
        try map.maybe(&explanation, &wire.pointee.explanation, "DeliveredImage.explanation")
        try map.maybe(&validity, &wire.pointee.validity, "DeliveredImage.validity")
        try map.digest(&digest, &wire.pointee.digest, "DeliveredImage.digest")
        try map.maybe(&extendedData, &wire.pointee.extended_data, "DeliveredImage.extended_data")
        try map.maybe(&voucher, &wire.pointee.voucher, "DeliveredImage.voucher")
        map.flag(&isDamaged, &wire.pointee.is_damaged, "DeliveredImage.is_damaged")
    }
}
