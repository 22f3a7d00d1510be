import CMessages
import Messages

extension Piece: WireMessage {
    static var begin: (CPart<Imagebus__V1__Piece>?) -> Void { imagebus__v1__piece__init }
    static var blank: Self { Self(token: .blank, offset: 0, total: 0, bytes: []) }

    /// Every fault after the token is about that request.
    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Piece>
    ) throws(WireError) {
        try map.identifier(&value.token, &wire.pointee.token, "Piece.token")
        do throws(WireError) {
            try map.number(&value.offset, &wire.pointee.offset, "Piece.offset")
            try map.number(&value.total, &wire.pointee.total, "Piece.total")
            try map.data(
                &value.bytes, &wire.pointee.data, "Piece.data", limit: MessageLimits.pieceBytesMax)
            let (end, overflow) = value.offset.addingReportingOverflow(UInt64(value.bytes.count))
            guard !overflow, end <= value.total else { throw .field("Piece.offset", .outOfRange) }
        } catch {
            throw error.about(value.token)
        }
    }
}

/// So many bytes of pieces were taken.
struct TakenBytes: WireMessage {
    var count: UInt64

    static var begin: (CPart<Imagebus__V1__Taken>?) -> Void { imagebus__v1__taken__init }
    static var blank: Self { Self(count: 0) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Taken>
    ) throws(WireError) {
        try map.counted(&value.count, &wire.pointee.bytes, "Taken.bytes")
    }
}
