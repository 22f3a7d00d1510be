import CMessages
import Messages

extension FieldMap {
    /// Ids of blocks: `idsMax` at most, none of them 0.
    func blocks(
        _ value: inout [BlockID], _ count: inout Int, _ member: inout UnsafeMutablePointer<UInt64>?,
        _ field: String
    ) throws(WireError) {
        var numbers = value.map(\.value)
        try self.numbers(&numbers, &count, &member, field, limit: MessageLimits.idsMax, least: 1)
        value = numbers.map { BlockID($0) }
    }

    /// A block; none is 0.
    func block(_ value: inout BlockID?, _ member: inout UInt64, _ field: String) throws(WireError) {
        var number = value?.value ?? 0
        try self.number(&number, &member, field)
        value = number == 0 ? nil : BlockID(number)
    }
}

/// The blocks of a `Release`.
struct ReleaseBlocks: WireMessage {
    var blocks: [BlockID]

    typealias Form = Imagebus__V1__Release
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__release__init }
    static var blank: Self { Self(blocks: []) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.blocks(&blocks, &wire.pointee.n_blocks, &wire.pointee.blocks, "Release.blocks")
    }
}

/// The blocks of a `Touched`.
struct TouchedBlocks: WireMessage {
    var blocks: [BlockID]

    typealias Form = Imagebus__V1__Touched
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__touched__init }
    static var blank: Self { Self(blocks: []) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.blocks(&blocks, &wire.pointee.n_blocks, &wire.pointee.blocks, "Touched.blocks")
    }
}

/// The blocks of an `Evicted`.
struct EvictedBlocks: WireMessage {
    var blocks: [BlockID]

    typealias Form = Imagebus__V1__Evicted
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__evicted__init }
    static var blank: Self { Self(blocks: []) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.blocks(&blocks, &wire.pointee.n_blocks, &wire.pointee.blocks, "Evicted.blocks")
    }
}
