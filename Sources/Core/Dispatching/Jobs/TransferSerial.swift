/// In which order transfers began: of two answers of an origin, that to the later question is the
/// newer one.
package struct TransferSerial: Comparable, Hashable, Sendable {
    private var number: UInt64 = 0

    /// Before all transfers.
    package init() {}

    /// The serial of the next transfer.
    mutating func next() -> TransferSerial {
        number += 1
        return self
    }

    package static func < (left: TransferSerial, right: TransferSerial) -> Bool {
        left.number < right.number
    }
}

extension TransferSerial? {
    /// Whether there was a transfer, and it began earlier.
    package func isBefore(_ other: TransferSerial) -> Bool { map { $0 < other } ?? false }
}
