import CMessages
import Messages

extension Validators {
    init(_ wire: Imagebus__V1__Validators, _ read: FieldReader) throws(WireError) {
        let limit = MessageLimits.originHeaderBytesMax
        let validators = Validators(
            etag: try read.text(
                wire.etag, present: wire.maybe_etag_case.rawValue != 0, "Validators.etag",
                limit: limit),
            lastModified: try read.text(
                wire.last_modified, present: wire.maybe_last_modified_case.rawValue != 0,
                "Validators.last_modified", limit: limit))
        guard let validators else { throw .field("Fetch.validators", .missing) }
        self = validators
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Validators>
    {
        let limit = MessageLimits.originHeaderBytesMax
        let wire = try write.make(imagebus__v1__validators__init)
        if let etag {
            wire.pointee.maybe_etag_case = IMAGEBUS__V1__VALIDATORS__MAYBE_ETAG_ETAG
            wire.pointee.etag = try write.text(etag, "Validators.etag", limit: limit)
        }
        if let lastModified {
            wire.pointee.maybe_last_modified_case =
                IMAGEBUS__V1__VALIDATORS__MAYBE_LAST_MODIFIED_LAST_MODIFIED
            wire.pointee.last_modified = try write.text(
                lastModified, "Validators.last_modified", limit: limit)
        }
        return wire
    }
}
