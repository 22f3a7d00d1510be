/// Names a pool of workers, and with it its listener `back/<pool>` and its segments `arena/<pool>`.
///
/// A letter, then letters, digits and `-`, all small: safe as the name of a directory. Its 16 bytes
/// at most lie in the value itself, since every reference to bytes in shared memory has one.
public struct PoolName: Hashable, Sendable, CustomStringConvertible {
    /// Bytes of a name at most.
    public static let bytesMax = 16

    private let first: UInt64
    private let second: UInt64

    /// `nil` where no pool may be called so.
    public init?(_ text: String) {
        guard (1...Self.bytesMax).contains(text.utf8.count),
            let head = text.utf8.first, (0x61...0x7A).contains(head),
            text.utf8.allSatisfy(Self.isPermitted)
        else { return nil }
        self.init(permitted: text)
    }

    /// The pool that every stack has of a kind.
    public init(_ kind: WorkerKind) { self.init(permitted: kind.name) }

    private init(permitted text: String) {
        var (first, second) = (UInt64(0), UInt64(0))
        for (index, byte) in text.utf8.enumerated() {
            let bits = UInt64(byte) << UInt64(index % 8 * 8)
            if index < 8 { first |= bits } else { second |= bits }
        }
        (self.first, self.second) = (first, second)
    }

    private static func isPermitted(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x61...0x7A, 0x30...0x39, 0x2D: true
        default: false
        }
    }

    /// The name as text.
    public var text: String {
        let bytes = (0..<Self.bytesMax).map { index in
            UInt8(truncatingIfNeeded: (index < 8 ? first : second) >> UInt64(index % 8 * 8))
        }
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// The name as text.
    public var description: String { text }
}
