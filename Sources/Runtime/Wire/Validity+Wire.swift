import CMessages
import ImageModel
import Messages

extension HTTPExpiry: WireMessage {
    typealias Form = Imagebus__V1__Expiry
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__expiry__init }
    static var blank: Self { Self(born: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(&born, within: Self.bornRange, &wire.pointee.born, "Expiry.born")
        try map.number(
            &freshFor, within: Self.timeRange, &wire.pointee.fresh_for, "Expiry.fresh_for")
        try map.number(
            &staleFor, within: Self.timeRange, &wire.pointee.stale_for, "Expiry.stale_for")
        try map.number(
            &errorFor, within: Self.timeRange, &wire.pointee.error_for, "Expiry.error_for")
    }
}

extension ResponseAge: WireMessage {
    typealias Form = Imagebus__V1__ResponseAge
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__response_age__init }
    static var blank: Self { Self(bornMilliseconds: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(
            &bornMilliseconds, within: HTTPExpiry.bornRange, &wire.pointee.born,
            "ResponseAge.born")
        try map.number(
            &expiresInSeconds, within: 0...DeltaSeconds.most, &wire.pointee.expires_in,
            if: &wire.pointee.maybe_expires_in_case, 2, "ResponseAge.expires_in")
    }
}

extension OriginCaching: WireMessage {
    typealias Form = Imagebus__V1__OriginCaching
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__origin_caching__init }
    static var blank: Self { Self(CacheControl(nil), .blank) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.part(&age, &wire.pointee.age, "OriginCaching.age")
        var field = cacheControl.field
        try map.text(
            &field, &wire.pointee.cache_control, if: &wire.pointee.maybe_cache_control_case, 2,
            "OriginCaching.cache_control", limit: MessageLimits.originHeaderBytesMax)
        cacheControl = CacheControl(field)
        map.flag(
            &variesOnEverything, &wire.pointee.varies_on_everything,
            "OriginCaching.varies_on_everything")
    }
}

extension Validity: WireMessage {
    typealias Form = Imagebus__V1__Validity
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__validity__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        let limit = MessageLimits.originHeaderBytesMax
        try map.maybe(&expiry, &wire.pointee.expiry, "Validity.expiry")
        try map.text(
            &etag, &wire.pointee.etag, if: &wire.pointee.maybe_etag_case, 2, "Validity.etag",
            limit: limit)
        try map.text(
            &lastModified, &wire.pointee.last_modified, if: &wire.pointee.maybe_last_modified_case,
            3, "Validity.last_modified", limit: limit)
        try map.maybe(&caching, &wire.pointee.caching, "Validity.caching")
        try map.maybe(&originFailure, &wire.pointee.origin_failure, "Validity.origin_failure")
    }
}
