import CMessages
import ImageModel
import Messages

extension QueryWork: WireMessage {
    static var begin: (CPart<Imagebus__V1__Query>?) -> Void { imagebus__v1__query__init }
    static var blank: Self { Self(key: "", tiers: [], destination: .results, promotes: false) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Query>
    ) throws(WireError) {
        try map.text(&value.key, &wire.pointee.key, "Query.key", limit: MessageLimits.keyBytesMax)
        try map.tiers(&value.tiers, &wire.pointee.tiers, "Query.tiers")
        try map.word(&value.destination, &wire.pointee.destination, "Query.destination")
        map.flag(&value.promotes, &wire.pointee.promotes, "Query.promotes")
    }
}
