import Linux
import Messages

/// Where things are in a file of vouchers (SEMANTICS §5.24); numbers are 64 bits, little-endian.
enum VoucherLayout {
    /// Bytes before the words: one page.
    static let headerBytes = 4_096
    /// "IBUSVCH" and version 1.
    static let magic: UInt64 = 0x0148_4356_5355_4249

    static let magicOffset = 0
    static let countOffset = 8
    /// 16 bytes, as on the wire.
    static let epochOffset = 16
    static let floorOffset = 64

    /// More words than any stack issues vouchers for.
    static let wordsMax = 1 << 24

    static func byteCount(words: Int) -> Int { headerBytes + 8 * words }

    static let prefix = "vouchers."

    static func fileName(_ epoch: Epoch) -> String { prefix + epoch.value.hex }
}
