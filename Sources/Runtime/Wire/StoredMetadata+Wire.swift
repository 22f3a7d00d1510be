import CMessages
import ImageModel
import Messages

extension StoredMetadata: WireMessage {
    typealias Form = Imagebus__V1__Metadata
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__metadata__init }
    static var blank: Self {
        var blank = Self(info: .blank)
        blank.revision = 0
        return blank
    }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        let limit = MessageLimits.originHeaderBytesMax
        try map.part(&info, &wire.pointee.info, "Metadata.info")
        try map.text(
            &contentType, &wire.pointee.content_type, if: &wire.pointee.maybe_content_type_case, 2,
            "Metadata.content_type", limit: limit)
        try map.text(
            &etag, &wire.pointee.etag, if: &wire.pointee.maybe_etag_case, 3, "Metadata.etag",
            limit: limit)
        try map.text(
            &lastModified, &wire.pointee.last_modified, if: &wire.pointee.maybe_last_modified_case,
            4, "Metadata.last_modified", limit: limit)
        try map.text(
            &vary, &wire.pointee.vary, if: &wire.pointee.maybe_vary_case, 6, "Metadata.vary",
            limit: limit)
        try map.maybe(&caching, &wire.pointee.caching, "Metadata.caching")
        try map.tags(
            &tags, &wire.pointee.n_tags, &wire.pointee.tags, "Metadata.tags",
            limit: CacheTag.entryMax)
        try map.maybe(&extendedData, &wire.pointee.extended_data, "Metadata.extended_data")
        try map.digest(&digest, &wire.pointee.digest, "Metadata.digest")
        try map.number(
            &revision, within: PipelineRevision.range, &wire.pointee.revision,
            "Metadata.revision")
    }
}
