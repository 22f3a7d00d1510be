/// Protobuf written by hand, including encodings that ours never produces.
struct ProtobufBytes {
    private(set) var bytes: [UInt8] = []

    /// A number that is encoded even if it is 0.
    func number(_ field: UInt64, _ value: UInt64) -> Self {
        appending(Self.varint(field << 3) + Self.varint(value))
    }

    func double(_ field: UInt64, _ value: Double) -> Self {
        let bits = value.bitPattern
        return appending(
            Self.varint(field << 3 | 1)
                + (0..<8).map { UInt8(truncatingIfNeeded: bits >> (8 * UInt64($0))) })
    }

    func bytes(_ field: UInt64, _ value: some Collection<UInt8>) -> Self {
        appending(Self.varint(field << 3 | 2) + Self.varint(UInt64(value.count)) + Array(value))
    }

    func text(_ field: UInt64, _ value: String) -> Self { bytes(field, value.utf8) }

    func message(_ field: UInt64, _ value: ProtobufBytes) -> Self { bytes(field, value.bytes) }

    func repeating(_ count: Int, _ add: (Self) -> Self) -> Self {
        (0..<count).reduce(self) { body, _ in add(body) }
    }

    private func appending(_ more: [UInt8]) -> Self {
        var copy = self
        copy.bytes += more
        return copy
    }

    private static func varint(_ value: UInt64) -> [UInt8] {
        var (rest, bytes) = (value, [] as [UInt8])
        while rest > 0x7F {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }
}
