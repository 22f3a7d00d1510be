/// All addresses that begin with the same bits, and how far they reach.
struct AddressRange: Hashable, Sendable {
    let first: IPAddress
    let last: IPAddress
    /// How many bits are the same.
    let bits: Int
    let scope: AddressScope

    /// `10.0.0.0/8` or `fc00::/7`; the text is one of this library's own.
    init(_ text: String, _ scope: AddressScope) {
        let parts = text.split(separator: "/")
        guard parts.count == 2, let first = IPAddress(String(parts[0])), let bits = Int(parts[1]),
            let last = first.filled(after: bits), first.cleared(after: bits) == first
        else { preconditionFailure("'\(text)' is no range of addresses") }
        (self.first, self.last, self.bits, self.scope) = (first, last, bits, scope)
    }

    func contains(_ address: IPAddress) -> Bool {
        address.cleared(after: bits) == first
    }
}

extension IPAddress {
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
