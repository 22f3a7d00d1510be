internal import CSodium

/// A 16-byte digest; comparing two takes the same time whatever they hold.
public struct Digest128: Sendable, Equatable, CustomStringConvertible {
    /// The length, bytes.
    public static let length = 16

    private let halves: (UInt64, UInt64)

    init(filledBy body: (UnsafeMutableRawBufferPointer) -> Void) {
        var halves: (UInt64, UInt64) = (0, 0)
        withUnsafeMutableBytes(of: &halves, body)
        self.halves = halves
    }

    /// Compares in constant time.
    public static func == (left: Digest128, right: Digest128) -> Bool {
        withUnsafeBytes(of: left.halves) { left in
            withUnsafeBytes(of: right.halves) { right in
                ConstantTime.areEqual(left, right)
            }
        }
    }

    /// 32 lowercase hex digits, in the order of the bytes.
    public var description: String {
        let digits = Array("0123456789abcdef".utf8)
        return withUnsafeBytes(of: halves) { bytes in
            String(
                decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] },
                as: UTF8.self)
        }
    }
}
