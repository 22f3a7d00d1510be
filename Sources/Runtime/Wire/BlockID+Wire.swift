import CMessages
import Messages

extension FieldMap {
    /// Ids of blocks: `idsMax` at most, none of them 0.
    fileprivate func blocks(
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

    static var begin: (CPart<Imagebus__V1__Release>?) -> Void { imagebus__v1__release__init }
    static var blank: Self { Self(blocks: []) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Release>
    ) throws(WireError) {
        try map.blocks(
            &value.blocks, &wire.pointee.n_blocks, &wire.pointee.blocks, "Release.blocks")
    }
}

/// The blocks of a `Touched`.
struct TouchedBlocks: WireMessage {
    var blocks: [BlockID]

    static var begin: (CPart<Imagebus__V1__Touched>?) -> Void { imagebus__v1__touched__init }
    static var blank: Self { Self(blocks: []) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Touched>
    ) throws(WireError) {
        try map.blocks(
            &value.blocks, &wire.pointee.n_blocks, &wire.pointee.blocks, "Touched.blocks")
    }
}

/// The blocks of an `Evicted`.
struct EvictedBlocks: WireMessage {
    var blocks: [BlockID]

    static var begin: (CPart<Imagebus__V1__Evicted>?) -> Void { imagebus__v1__evicted__init }
    static var blank: Self { Self(blocks: []) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Evicted>
    ) throws(WireError) {
        try map.blocks(
            &value.blocks, &wire.pointee.n_blocks, &wire.pointee.blocks, "Evicted.blocks")
    }
}
