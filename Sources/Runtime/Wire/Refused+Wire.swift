import CMessages
import ImageModel
import Messages

/// A refusal, of a request or of none.
struct Refusal: WireMessage {
    var error: ImageError
    var token: Token?

    typealias Form = Imagebus__V1__Refused
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__refused__init }
    static var blank: Self { Self(error: .blank, token: nil) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.part(&error, &wire.pointee.error, "Refused.error")
        try map.identifier(maybe: &token, &wire.pointee.token, "Refused.token")
    }
}
