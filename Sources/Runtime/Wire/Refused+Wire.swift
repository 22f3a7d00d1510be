import CMessages
import ImageModel
import Messages

/// A refusal, of a request or of none.
struct Refusal: WireMessage {
    var error: ImageError
    var token: Token?

    static var begin: (CPart<Imagebus__V1__Refused>?) -> Void { imagebus__v1__refused__init }
    static var blank: Self { Self(error: .blank, token: nil) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Refused>
    ) throws(WireError) {
        try map.part(&value.error, &wire.pointee.error, "Refused.error")
        try map.identifier(maybe: &value.token, &wire.pointee.token, "Refused.token")
    }
}
