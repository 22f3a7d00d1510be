import CMessages
import ImageModel
import Messages

extension StoredMetadata {
    init(_ wire: Imagebus__V1__Metadata, _ read: FieldReader) throws(WireError) {
        let limit = MessageLimits.originHeaderBytesMax
        self.init(
            info: try ImageInfo(try read.required(wire.info, "Metadata.info"), read),
            contentType: try read.text(
                wire.content_type, present: wire.maybe_content_type_case.rawValue != 0,
                "Metadata.content_type", limit: limit),
            etag: try read.text(
                wire.etag, present: wire.maybe_etag_case.rawValue != 0, "Metadata.etag",
                limit: limit),
            lastModified: try read.text(
                wire.last_modified, present: wire.maybe_last_modified_case.rawValue != 0,
                "Metadata.last_modified", limit: limit),
            cacheControl: try read.text(
                wire.cache_control, present: wire.maybe_cache_control_case.rawValue != 0,
                "Metadata.cache_control", limit: limit),
            vary: try read.text(
                wire.vary, present: wire.maybe_vary_case.rawValue != 0, "Metadata.vary",
                limit: limit))
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Metadata>
    {
        let limit = MessageLimits.originHeaderBytesMax
        let wire = try write.make(imagebus__v1__metadata__init)
        wire.pointee.info = try info.wire(write)
        if let contentType {
            wire.pointee.maybe_content_type_case =
                IMAGEBUS__V1__METADATA__MAYBE_CONTENT_TYPE_CONTENT_TYPE
            wire.pointee.content_type = try write.text(
                contentType, "Metadata.content_type", limit: limit)
        }
        if let etag {
            wire.pointee.maybe_etag_case = IMAGEBUS__V1__METADATA__MAYBE_ETAG_ETAG
            wire.pointee.etag = try write.text(etag, "Metadata.etag", limit: limit)
        }
        if let lastModified {
            wire.pointee.maybe_last_modified_case =
                IMAGEBUS__V1__METADATA__MAYBE_LAST_MODIFIED_LAST_MODIFIED
            wire.pointee.last_modified = try write.text(
                lastModified, "Metadata.last_modified", limit: limit)
        }
        if let cacheControl {
            wire.pointee.maybe_cache_control_case =
                IMAGEBUS__V1__METADATA__MAYBE_CACHE_CONTROL_CACHE_CONTROL
            wire.pointee.cache_control = try write.text(
                cacheControl, "Metadata.cache_control", limit: limit)
        }
        if let vary {
            wire.pointee.maybe_vary_case = IMAGEBUS__V1__METADATA__MAYBE_VARY_VARY
            wire.pointee.vary = try write.text(vary, "Metadata.vary", limit: limit)
        }
        return wire
    }
}
