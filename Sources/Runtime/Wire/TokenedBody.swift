public import Messages

/// The body of a `Load` or `Reply`: its token in front, and all the rest.
///
/// Both have the token as their first field. Bodies with the same rest say the same of different
/// requests: what was learnt of one holds for the other, provided that the first one was written
/// in the one canonical way (`MessageEncoder`'s), so that the rest has no token of its own.
public struct TokenedBody: ~Copyable, ~Escapable {
    /// The token.
    public let token: Token
    /// The bytes behind it.
    public let rest: RawSpan

    /// Where the rest begins: tag, length and 16 bytes come before.
    public static let restOffset = 2 + Identifier128.byteCount
    private static let tagAndLength: [UInt8] = [0x0A, UInt8(Identifier128.byteCount)]

    /// Splits a body; `nil` where it begins with no token.
    @_lifetime(copy body)
    public init?(_ body: RawSpan) {
        guard body.byteCount > Self.restOffset,
            body.unsafeLoad(fromByteOffset: 0, as: UInt8.self) == Self.tagAndLength[0],
            body.unsafeLoad(fromByteOffset: 1, as: UInt8.self) == Self.tagAndLength[1]
        else { return nil }
        let high = body.unsafeLoadUnaligned(fromByteOffset: 2, as: UInt64.self)
        let low = body.unsafeLoadUnaligned(fromByteOffset: 10, as: UInt64.self)
        token = Token(Identifier128(high: high.bigEndian, low: low.bigEndian))
        rest = body.extracting(Self.restOffset...)
    }

    /// Writes a body of that rest for another token. `target` has room for exactly both.
    public static func write(
        _ token: Token, _ rest: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer
    ) {
        precondition(target.count == restOffset + rest.count, "a body is its token and its rest")
        target[0] = tagAndLength[0]
        target[1] = tagAndLength[1]
        target.storeBytes(of: token.value.high.bigEndian, toByteOffset: 2, as: UInt64.self)
        target.storeBytes(of: token.value.low.bigEndian, toByteOffset: 10, as: UInt64.self)
        UnsafeMutableRawBufferPointer(rebasing: target[restOffset...]).copyMemory(from: rest)
    }
}
