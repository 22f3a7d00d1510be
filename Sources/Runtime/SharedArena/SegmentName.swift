public import Messages

/// The file name of a segment: the producer's incarnation in hex, a dot, the segment's number.
public struct SegmentName: Hashable, Sendable {
    /// Whose segment.
    public let incarnation: Incarnation
    /// Counts from 1; never reused by a producer.
    public let number: UInt32

    /// Names a segment.
    public init(incarnation: Incarnation, number: UInt32) {
        self.incarnation = incarnation
        self.number = number
    }

    /// Reads a file name; `nil` where it is no segment's.
    public init?(fileName: String) {
        let parts = fileName.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let bits = Identifier128(hex: String(parts[0])),
            let number = UInt32(parts[1]), String(number) == parts[1]
        else { return nil }
        self.init(incarnation: Incarnation(bits), number: number)
    }

    /// `0123456789abcdef0123456789abcdef.7`
    public var fileName: String { "\(incarnation.value.hex).\(number)" }
}
