import CMessages
import ImageModel
import Messages

extension EntryWork: WireMessage {
    static var begin: (CPart<Imagebus__V1__Entry>?) -> Void { imagebus__v1__entry__init }
    static var blank: Self { Self(action: .contains, key: "", tiers: []) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Entry>
    ) throws(WireError) {
        try map.word(&value.action, &wire.pointee.action, "Entry.action")
        try map.text(&value.key, &wire.pointee.key, "Entry.key", limit: MessageLimits.keyBytesMax)
        try map.tiers(&value.tiers, &wire.pointee.tiers, "Entry.tiers")
    }
}
