/// A part of bytes that travel through the socket, since one side cannot open the other's shared
/// memory (PROTOCOL §10.1). The pieces of one payload come in order; offset 0 begins anew.
public struct Piece: Hashable, Sendable {
    /// Whose bytes: of this request.
    public var token: Token
    /// Bytes before this piece.
    public var offset: UInt64
    /// Bytes of all pieces together.
    public var total: UInt64
    /// At least one, at most `MessageLimits.pieceBytesMax`.
    public var bytes: [UInt8]

    /// A part of a payload.
    public init(token: Token, offset: UInt64, total: UInt64, bytes: [UInt8]) {
        self.token = token
        self.offset = offset
        self.total = total
        self.bytes = bytes
    }
}
