import CMessages
import Messages

extension Enclosure: WireMessage {
    typealias Form = Imagebus__V1__Enclosure
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__enclosure__init }
    static var blank: Self { Self(kind: .profile, offset: 0, length: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.word(&kind, &wire.pointee.kind, "Enclosure.kind")
        try map.number(&offset, &wire.pointee.offset, "Enclosure.offset")
        try map.number(&length, &wire.pointee.length, "Enclosure.length")
    }
}
