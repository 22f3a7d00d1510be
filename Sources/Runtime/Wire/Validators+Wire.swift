import CMessages
import Messages

/// `Validators` before it is known that there is one of them.
struct OriginValidators: WireMessage {
    var etag: String?
    var lastModified: String?

    typealias Form = Imagebus__V1__Validators
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__validators__init }
    static var blank: Self { Self(etag: nil, lastModified: nil) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        let limit = MessageLimits.originHeaderBytesMax
        try map.text(
            &etag, &wire.pointee.etag, if: &wire.pointee.maybe_etag_case, 1, "Validators.etag",
            limit: limit)
        try map.text(
            &lastModified, &wire.pointee.last_modified, if: &wire.pointee.maybe_last_modified_case,
            2, "Validators.last_modified", limit: limit)
    }

    func checked() throws(WireError) -> Validators {
        guard let validators = Validators(etag: etag, lastModified: lastModified) else {
            throw .field("Fetch.validators", .missing)
        }
        return validators
    }
}
