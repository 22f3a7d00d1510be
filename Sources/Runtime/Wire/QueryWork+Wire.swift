import CMessages
import ImageModel
import Messages

extension QueryWork: WireMessage {
    typealias Form = Imagebus__V1__Query
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__query__init }
    static var blank: Self { Self(key: "", tiers: [], destination: .results, promotes: false) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(&key, &wire.pointee.key, "Query.key", limit: MessageLimits.keyBytesMax)
        try map.tiers(&tiers, &wire.pointee.tiers, "Query.tiers")
        try map.word(&destination, &wire.pointee.destination, "Query.destination")
        map.flag(&promotes, &wire.pointee.promotes, "Query.promotes")
        try map.caches(
            &caches, &wire.pointee.n_caches, &wire.pointee.caches, "Query.caches")
        map.flag(&memoryFirst, &wire.pointee.memory_first, "Query.memory_first")
        try map.number(&bytesMax, &wire.pointee.bytes_max, "Query.bytes_max")
    }
}
