import CMessages
import Messages

extension StageTimings: WireMessage {
    static var begin: (CPart<Imagebus__V1__Timings>?) -> Void { imagebus__v1__timings__init }
    static var blank: Self { Self() }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Timings>
    ) throws(WireError) {
        try map.finite(&value.queue, &wire.pointee.queue, "Timings.queue")
        try map.finite(&value.query, &wire.pointee.query, "Timings.query")
        try map.finite(&value.fetch, &wire.pointee.fetch, "Timings.fetch")
        try map.finite(&value.decode, &wire.pointee.decode, "Timings.decode")
        try map.finite(&value.transform, &wire.pointee.transform, "Timings.transform")
        try map.finite(&value.store, &wire.pointee.store, "Timings.store")
        try map.finite(&value.total, &wire.pointee.total, "Timings.total")
    }
}
