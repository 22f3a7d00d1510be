import CMessages
import Messages

extension GoodbyeReason: WireMessage {
    static var begin: (CPart<Imagebus__V1__Goodbye>?) -> Void { imagebus__v1__goodbye__init }
    static var blank: Self { .drained }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Goodbye>
    ) throws(WireError) {
        try map.word(&value, &wire.pointee.reason, "Goodbye.reason")
    }
}
