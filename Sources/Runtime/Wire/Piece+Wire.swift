import CMessages
import Messages

extension Piece: WireMessage {
    typealias Form = Imagebus__V1__Piece
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__piece__init }
    static var blank: Self { Self(token: .blank, offset: 0, total: 0, bytes: []) }

    /// Every fault after the token is about that request.
    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.identifier(&token, &wire.pointee.token, "Piece.token")
        do throws(WireError) {
            try map.number(&offset, &wire.pointee.offset, "Piece.offset")
            try map.number(&total, &wire.pointee.total, "Piece.total")
            try map.data(
                &bytes, &wire.pointee.data, "Piece.data", limit: MessageLimits.pieceBytesMax)
            let (end, overflow) = offset.addingReportingOverflow(UInt64(bytes.count))
            guard !overflow, end <= total else { throw .field("Piece.offset", .outOfRange) }
        } catch {
            throw error.about(token)
        }
    }
}

/// So many bytes of pieces were taken.
struct TakenBytes: WireMessage {
    var count: UInt64

    typealias Form = Imagebus__V1__Taken
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__taken__init }
    static var blank: Self { Self(count: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.counted(&count, &wire.pointee.bytes, "Taken.bytes")
    }
}
