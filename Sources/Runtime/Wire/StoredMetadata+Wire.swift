import CMessages
import ImageModel
import Messages

extension StoredMetadata: WireMessage {
    static var begin: (CPart<Imagebus__V1__Metadata>?) -> Void { imagebus__v1__metadata__init }
    static var blank: Self { Self(info: .blank) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Metadata>
    ) throws(WireError) {
        let limit = MessageLimits.originHeaderBytesMax
        try map.part(&value.info, &wire.pointee.info, "Metadata.info")
        try map.text(
            &value.contentType, &wire.pointee.content_type,
            if: &wire.pointee.maybe_content_type_case, 2, "Metadata.content_type", limit: limit)
        try map.text(
            &value.etag, &wire.pointee.etag, if: &wire.pointee.maybe_etag_case, 3, "Metadata.etag",
            limit: limit)
        try map.text(
            &value.lastModified, &wire.pointee.last_modified,
            if: &wire.pointee.maybe_last_modified_case, 4, "Metadata.last_modified", limit: limit)
        try map.text(
            &value.cacheControl, &wire.pointee.cache_control,
            if: &wire.pointee.maybe_cache_control_case, 5, "Metadata.cache_control", limit: limit)
        try map.text(
            &value.vary, &wire.pointee.vary, if: &wire.pointee.maybe_vary_case, 6, "Metadata.vary",
            limit: limit)
    }
}
