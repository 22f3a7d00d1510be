/// The name that a ROUTER gave to one connection: never reused before 2^32 connections.
///
/// libzmq's own names are five bytes, a zero and a number. A peer that sets an identity of its own
/// gets no `RoutingID`: nobody on this bus does, and a chosen name could be made to look like
/// another's.
public struct RoutingID: Hashable, Sendable, CustomStringConvertible {
    /// The number behind the zero byte, in memory order.
    public let rawValue: UInt32

    /// A routing id of this number.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Reads the first frame that a ROUTER delivers; nil for an identity that the peer chose.
    public init?(_ frame: UnsafeRawBufferPointer) {
        guard frame.count == 5, frame[0] == 0 else { return nil }
        rawValue = frame.loadUnaligned(fromByteOffset: 1, as: UInt32.self)
    }

    /// For logs.
    public var description: String {
        String(rawValue.byteSwapped, radix: 16)
    }

    func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var bytes: InlineArray<5, UInt8> = [0, 0, 0, 0, 0]
        let number = rawValue
        bytes[1] = UInt8(truncatingIfNeeded: number)
        bytes[2] = UInt8(truncatingIfNeeded: number >> 8)
        bytes[3] = UInt8(truncatingIfNeeded: number >> 16)
        bytes[4] = UInt8(truncatingIfNeeded: number >> 24)
        return try bytes.span.bytes.withUnsafeBytes { (raw) throws(Failure) in try body(raw) }
    }
}
