import CMessages
import Messages

extension GoodbyeReason: WireMessage {
    typealias Form = Imagebus__V1__Goodbye
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__goodbye__init }
    static var blank: Self { .drained }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.word(&self, &wire.pointee.reason, "Goodbye.reason")
    }
}
