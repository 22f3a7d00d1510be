import CMessages
import ImageModel
import Messages

extension FetchedBody: WireMessage {
    typealias Form = Imagebus__V1__FetchedBody
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__fetched_body__init }
    static var blank: Self { Self(reference: .blank, httpStatus: 0, effectiveURL: "") }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        let limit = MessageLimits.originHeaderBytesMax
        try map.part(&reference, &wire.pointee.reference, "FetchedBody.reference")
        try map.number(&httpStatus, &wire.pointee.http_status, "FetchedBody.http_status")
        try map.text(
            &contentType, &wire.pointee.content_type, if: &wire.pointee.maybe_content_type_case, 3,
            "FetchedBody.content_type", limit: limit)
        try map.text(
            &etag, &wire.pointee.etag, if: &wire.pointee.maybe_etag_case, 4, "FetchedBody.etag",
            limit: limit)
        try map.text(
            &lastModified, &wire.pointee.last_modified, if: &wire.pointee.maybe_last_modified_case,
            5, "FetchedBody.last_modified", limit: limit)
        try map.text(
            &cacheControl, &wire.pointee.cache_control, if: &wire.pointee.maybe_cache_control_case,
            6, "FetchedBody.cache_control", limit: limit)
        try map.text(
            &vary, &wire.pointee.vary, if: &wire.pointee.maybe_vary_case, 7, "FetchedBody.vary",
            limit: limit)
        try map.text(
            &effectiveURL, &wire.pointee.effective_url, "FetchedBody.effective_url",
            limit: RequestLimits.urlBytesMax)
        try map.word(
            &format, &wire.pointee.format, if: &wire.pointee.maybe_format_case, 9,
            "FetchedBody.format")
        try map.maybe(&account, &wire.pointee.account, "FetchedBody.account")
        try map.maybe(&age, &wire.pointee.age, "FetchedBody.age")
        try map.tags(
            &tags, &wire.pointee.n_tags, &wire.pointee.tags, "FetchedBody.tags",
            limit: CacheTag.countMax)
    }
}
