import CMessages
import ImageModel
import Messages

extension FetchedBody {
    init(_ wire: Imagebus__V1__FetchedBody, _ read: FieldReader) throws(WireError) {
        let limit = MessageLimits.originHeaderBytesMax
        self.init(
            reference: try BlockReference(
                try read.required(wire.reference, "FetchedBody.reference"), read),
            httpStatus: try read.exactly(wire.http_status, "FetchedBody.http_status"),
            contentType: try read.text(
                wire.content_type, present: wire.maybe_content_type_case.rawValue != 0,
                "FetchedBody.content_type", limit: limit),
            etag: try read.text(
                wire.etag, present: wire.maybe_etag_case.rawValue != 0, "FetchedBody.etag",
                limit: limit),
            lastModified: try read.text(
                wire.last_modified, present: wire.maybe_last_modified_case.rawValue != 0,
                "FetchedBody.last_modified", limit: limit),
            cacheControl: try read.text(
                wire.cache_control, present: wire.maybe_cache_control_case.rawValue != 0,
                "FetchedBody.cache_control", limit: limit),
            vary: try read.text(
                wire.vary, present: wire.maybe_vary_case.rawValue != 0, "FetchedBody.vary",
                limit: limit),
            effectiveURL: try read.text(
                wire.effective_url, "FetchedBody.effective_url", limit: RequestLimits.urlBytesMax),
            format: wire.maybe_format_case.rawValue == 0
                ? nil : try read.known(wire.format.rawValue, "FetchedBody.format"))
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__FetchedBody>
    {
        let wire = try write.make(imagebus__v1__fetched_body__init)
        wire.pointee.reference = try reference.wire(write)
        wire.pointee.http_status = UInt32(httpStatus)
        wire.pointee.effective_url = try write.text(
            effectiveURL, "FetchedBody.effective_url", limit: RequestLimits.urlBytesMax)
        if let format {
            wire.pointee.maybe_format_case = IMAGEBUS__V1__FETCHED_BODY__MAYBE_FORMAT_FORMAT
            wire.pointee.format = .init(rawValue: .init(format.rawValue))
        }
        try putHeaders(into: &wire.pointee, write)
        return wire
    }

    private func putHeaders(into wire: inout Imagebus__V1__FetchedBody, _ write: FieldWriter)
        throws(WireError)
    {
        let limit = MessageLimits.originHeaderBytesMax
        if let contentType {
            wire.maybe_content_type_case =
                IMAGEBUS__V1__FETCHED_BODY__MAYBE_CONTENT_TYPE_CONTENT_TYPE
            wire.content_type = try write.text(
                contentType, "FetchedBody.content_type", limit: limit)
        }
        if let etag {
            wire.maybe_etag_case = IMAGEBUS__V1__FETCHED_BODY__MAYBE_ETAG_ETAG
            wire.etag = try write.text(etag, "FetchedBody.etag", limit: limit)
        }
        if let lastModified {
            wire.maybe_last_modified_case =
                IMAGEBUS__V1__FETCHED_BODY__MAYBE_LAST_MODIFIED_LAST_MODIFIED
            wire.last_modified = try write.text(
                lastModified, "FetchedBody.last_modified", limit: limit)
        }
        if let cacheControl {
            wire.maybe_cache_control_case =
                IMAGEBUS__V1__FETCHED_BODY__MAYBE_CACHE_CONTROL_CACHE_CONTROL
            wire.cache_control = try write.text(
                cacheControl, "FetchedBody.cache_control", limit: limit)
        }
        if let vary {
            wire.maybe_vary_case = IMAGEBUS__V1__FETCHED_BODY__MAYBE_VARY_VARY
            wire.vary = try write.text(vary, "FetchedBody.vary", limit: limit)
        }
    }
}
