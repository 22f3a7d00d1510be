import Messages

/// One segment of one producer.
struct SegmentKey: Hashable, Sendable {
    let producer: BlockReference.Producer?
    let arena: ArenaName
    let number: UInt32

    init(_ reference: BlockReference) {
        producer = reference.producer
        arena = reference.arena
        number = reference.segment
    }
}
