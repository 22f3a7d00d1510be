import CMessages
import Messages

extension BlockID {
    /// The ids of a `Release`, `Touched` or `Evicted`: `idsMax` at most, none of them 0.
    static func list(
        _ count: Int, _ numbers: UnsafeMutablePointer<UInt64>?, _ field: String
    ) throws(WireError) -> [BlockID] {
        guard count <= MessageLimits.idsMax else {
            throw .field(field, .tooMany(limit: MessageLimits.idsMax))
        }
        let ids = UnsafeBufferPointer(start: numbers, count: numbers == nil ? 0 : count)
        guard !ids.contains(0) else { throw .field(field, .outOfRange) }
        return ids.map { BlockID($0) }
    }

    static func release(_ blocks: [BlockID], _ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Release>
    {
        let wire = try write.make(imagebus__v1__release__init)
        wire.pointee.n_blocks = blocks.count
        wire.pointee.blocks = try write.numbers(blocks, "Release.blocks")
        return wire
    }

    static func touched(_ blocks: [BlockID], _ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Touched>
    {
        let wire = try write.make(imagebus__v1__touched__init)
        wire.pointee.n_blocks = blocks.count
        wire.pointee.blocks = try write.numbers(blocks, "Touched.blocks")
        return wire
    }

    static func evicted(_ blocks: [BlockID], _ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Evicted>
    {
        let wire = try write.make(imagebus__v1__evicted__init)
        wire.pointee.n_blocks = blocks.count
        wire.pointee.blocks = try write.numbers(blocks, "Evicted.blocks")
        return wire
    }
}
