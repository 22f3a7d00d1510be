import CMessages
import Messages

extension BlockReference: WireMessage {
    typealias Form = Imagebus__V1__Reference
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__reference__init }
    static var blank: Self { Self(segment: 0, offset: 0, length: 0, block: BlockID(0)) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.maybe(&producer, &wire.pointee.producer, "Reference.producer")
        try map.word(&arena, &wire.pointee.arena, "Reference.arena")
        try map.number(&segment, &wire.pointee.segment, "Reference.segment")
        try map.number(&offset, &wire.pointee.offset, "Reference.offset")
        try map.number(&length, &wire.pointee.length, "Reference.length")
        try map.counted(&block, &wire.pointee.block, "Reference.block")
        guard !offset.addingReportingOverflow(length).overflow else {
            throw .field("Reference.length", .outOfRange)
        }
    }
}

extension BlockReference.Producer: WireMessage {
    typealias Form = Imagebus__V1__Producer
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__producer__init }
    static var blank: Self { Self(kind: .coordinator, incarnation: .blank, pool: usualPool) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.word(&kind, &wire.pointee.kind, "Producer.kind")
        try map.identifier(&incarnation, &wire.pointee.incarnation, "Producer.incarnation")
        try map.pool(&pool, of: kind, &wire.pointee.pool, "Producer.pool")
    }

    private static let usualPool = PoolName(.coordinator)
}
