import CMessages
import Messages

extension Piece {
    /// Every fault after the token is about that request.
    init(_ wire: Imagebus__V1__Piece, _ read: FieldReader) throws(WireError) {
        let token = Token(try read.identifier(wire.token, "Piece.token"))
        do throws(WireError) {
            let bytes = try read.data(
                wire.data, "Piece.data", limit: MessageLimits.pieceBytesMax)
            let (end, overflow) = wire.offset.addingReportingOverflow(UInt64(bytes.count))
            guard !overflow, end <= wire.total else {
                throw .field("Piece.offset", .outOfRange)
            }
            self.init(token: token, offset: wire.offset, total: wire.total, bytes: bytes)
        } catch {
            throw error.about(token)
        }
    }

    func wire(_ write: FieldWriter) throws(WireError) -> UnsafeMutablePointer<Imagebus__V1__Piece> {
        let wire = try write.make(imagebus__v1__piece__init)
        wire.pointee.token = try write.bytes(token.value)
        wire.pointee.offset = offset
        wire.pointee.total = total
        wire.pointee.data = try write.data(bytes, "Piece.data", limit: MessageLimits.pieceBytesMax)
        return wire
    }

    /// So many bytes of pieces were taken.
    static func taken(_ bytes: UInt64, _ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Taken>
    {
        let wire = try write.make(imagebus__v1__taken__init)
        wire.pointee.bytes = try write.counted(bytes, "Taken.bytes")
        return wire
    }

    static func taken(_ wire: Imagebus__V1__Taken, _ read: FieldReader) throws(WireError) -> UInt64
    {
        try read.counted(wire.bytes, "Taken.bytes")
    }
}
