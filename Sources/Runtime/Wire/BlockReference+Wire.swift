import CMessages
import Messages

extension BlockReference {
    init(_ wire: Imagebus__V1__Reference, _ read: FieldReader) throws(WireError) {
        guard !wire.offset.addingReportingOverflow(wire.length).overflow else {
            throw .field("Reference.length", .outOfRange)
        }
        self.init(
            producer: try wire.producer.map { part throws(WireError) in
                try Producer(part.pointee, read)
            },
            arena: try read.known(wire.arena.rawValue, "Reference.arena"), segment: wire.segment,
            offset: wire.offset, length: wire.length,
            block: BlockID(try read.counted(wire.block, "Reference.block")))
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Reference>
    {
        guard !offset.addingReportingOverflow(length).overflow else {
            throw .field("Reference.length", .outOfRange)
        }
        let wire = try write.make(imagebus__v1__reference__init)
        if let producer { wire.pointee.producer = try producer.wire(write) }
        wire.pointee.arena = .init(rawValue: .init(arena.rawValue))
        wire.pointee.segment = segment
        wire.pointee.offset = offset
        wire.pointee.length = length
        wire.pointee.block = try write.counted(block.value, "Reference.block")
        return wire
    }
}

extension BlockReference.Producer {
    init(_ wire: Imagebus__V1__Producer, _ read: FieldReader) throws(WireError) {
        self.init(
            kind: try read.known(wire.kind.rawValue, "Producer.kind"),
            incarnation: Incarnation(
                try read.identifier(wire.incarnation, "Producer.incarnation")),
            pool: try PoolName(wire: wire.pool, "Producer.pool", read))
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Producer>
    {
        let wire = try write.make(imagebus__v1__producer__init)
        wire.pointee.kind = .init(rawValue: .init(kind.rawValue))
        wire.pointee.incarnation = try write.bytes(incarnation.value)
        if pool != PoolName(kind) { wire.pointee.pool = try pool.wire("Producer.pool", write) }
        return wire
    }
}
