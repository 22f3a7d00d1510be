import CMessages
import Messages

extension StageTimings: WireMessage {
    typealias Form = Imagebus__V1__Timings
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__timings__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.finite(&queue, &wire.pointee.queue, "Timings.queue")
        try map.finite(&query, &wire.pointee.query, "Timings.query")
        try map.finite(&fetch, &wire.pointee.fetch, "Timings.fetch")
        try map.finite(&decode, &wire.pointee.decode, "Timings.decode")
        try map.finite(&transform, &wire.pointee.transform, "Timings.transform")
        try map.finite(&store, &wire.pointee.store, "Timings.store")
        try map.finite(&total, &wire.pointee.total, "Timings.total")
    }
}
