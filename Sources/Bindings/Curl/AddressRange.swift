/// All addresses that begin with the same bits.
public struct AddressRange: Hashable, Sendable {
    let first: IPAddress
    let last: IPAddress
    /// How many bits are the same.
    let bits: Int

    /// `10.0.0.0/8`, `fc00::/7`, or one address alone; nil for anything else, and where a bit is
    /// set behind those that are the same.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let first = parts.first.flatMap({ IPAddress(String($0)) }),
            let bits = Self.bits(parts, of: first), let last = first.filled(after: bits),
            first.cleared(after: bits) == first
        else { return nil }
        (self.first, self.last, self.bits) = (first, last, bits)
    }

    private init(first: IPAddress, last: IPAddress, bits: Int) {
        (self.first, self.last, self.bits) = (first, last, bits)
    }

    /// The same of IPv4, where it is a range of IPv4-mapped addresses.
    var unmapped: AddressRange {
        guard case .v6(0, let low) = first, low >> 32 == 0xFFFF, bits >= 96 else { return self }
        return AddressRange(first: first.unmapped, last: last.unmapped, bits: bits - 96)
    }

    private static func bits(_ parts: [Substring], of address: IPAddress) -> Int? {
        switch parts.count {
        case 1: address.bits
        case 2:
            parts[1].utf8.allSatisfy { (0x30...0x39).contains($0) }
                ? Int(parts[1]).flatMap { $0 <= address.bits ? $0 : nil } : nil
        default: nil
        }
    }

    /// Whether the address begins with these bits.
    public func contains(_ address: IPAddress) -> Bool {
        address.cleared(after: bits) == first
    }
}

extension IPAddress {
    fileprivate var bits: Int {
        switch self {
        case .v4: 32
        case .v6: 128
        }
    }

    /// The same with zeros behind its first bits; nil where it has not so many.
    func cleared(after bits: Int) -> IPAddress? {
        switch self {
        case .v4(let value) where bits <= 32: .v4(value & ~(UInt32.max >> bits))
        case .v6(let high, let low) where bits <= 128:
            .v6(high: high & ~(UInt64.max >> bits), low: low & ~(UInt64.max >> max(0, bits - 64)))
        default: nil
        }
    }

    /// The same with ones behind its first bits; nil where it has not so many.
    func filled(after bits: Int) -> IPAddress? {
        switch self {
        case .v4(let value) where bits <= 32: .v4(value | UInt32.max >> bits)
        case .v6(let high, let low) where bits <= 128:
            .v6(high: high | UInt64.max >> bits, low: low | UInt64.max >> max(0, bits - 64))
        default: nil
        }
    }
}
