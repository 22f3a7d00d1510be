import CMessages
import Messages

extension BlockReference: WireMessage {
    static var begin: (CPart<Imagebus__V1__Reference>?) -> Void { imagebus__v1__reference__init }
    static var blank: Self { Self(segment: 0, offset: 0, length: 0, block: BlockID(0)) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Reference>
    ) throws(WireError) {
        try map.maybe(&value.producer, &wire.pointee.producer, "Reference.producer")
        try map.word(&value.arena, &wire.pointee.arena, "Reference.arena")
        try map.number(&value.segment, &wire.pointee.segment, "Reference.segment")
        try map.number(&value.offset, &wire.pointee.offset, "Reference.offset")
        try map.number(&value.length, &wire.pointee.length, "Reference.length")
        try map.counted(&value.block, &wire.pointee.block, "Reference.block")
        guard !value.offset.addingReportingOverflow(value.length).overflow else {
            throw .field("Reference.length", .outOfRange)
        }
    }
}

extension BlockReference.Producer: WireMessage {
    static var begin: (CPart<Imagebus__V1__Producer>?) -> Void { imagebus__v1__producer__init }
    static var blank: Self { Self(kind: .coordinator, incarnation: .blank, pool: usualPool) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Producer>
    ) throws(WireError) {
        try map.word(&value.kind, &wire.pointee.kind, "Producer.kind")
        try map.identifier(&value.incarnation, &wire.pointee.incarnation, "Producer.incarnation")
        try map.pool(&value.pool, of: value.kind, &wire.pointee.pool, "Producer.pool")
    }

    private static let usualPool = PoolName(.coordinator)
}
