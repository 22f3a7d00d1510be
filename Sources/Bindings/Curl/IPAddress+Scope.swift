/// How far an address reaches, which decides who may be asked for a URL of a stranger.
public enum AddressScope: Hashable, Sendable {
    /// A host of the public internet.
    case global
    /// This machine, a private network, a link, or a carrier's inside: reachable from here, and
    /// not from where the URL came from.
    case local
    /// No single host: unspecified, multicast, broadcast, documentation, reserved.
    case unusable
}

extension IPAddress {
    /// By the IANA special-purpose registries (RFC 6890). IPv6 is global only inside `2000::/3`.
    /// An address that embeds an IPv4 address has the scope of that one.
    public var scope: AddressScope {
        if let embedded = embeddedIPv4 { return embedded.scope }
        switch self {
        case .v4(let value): return Self.scope(ofIPv4: value)
        case .v6(let high, let low): return Self.scope(ofIPv6: high, low)
        }
    }

    private static func scope(ofIPv4 value: UInt32) -> AddressScope {
        let row = ipv4Table.first { value >> (32 - $0.bits) == $0.prefix >> (32 - $0.bits) }
        return row?.scope ?? .global
    }

    private static func scope(ofIPv6 high: UInt64, _ low: UInt64) -> AddressScope {
        if high == 0 && low == 1 { return .local }
        let row = ipv6Table.first { high >> (64 - $0.bits) == $0.prefix >> (64 - $0.bits) }
        if let row { return row.scope }
        // ISATAP (RFC 5214) tunnels to the IPv4 address in its last four bytes.
        if low >> 32 & 0xFDFF_FFFF == 0x0000_5EFE {
            return scope(ofIPv4: UInt32(truncatingIfNeeded: low))
        }
        return high >> 61 == 1 ? .global : .unusable
    }

    private static let ipv4Table: [(prefix: UInt32, bits: UInt32, scope: AddressScope)] = [
        (0x0000_0000, 8, .unusable),  // this network; 0.0.0.0 connects to this machine
        (0x0A00_0000, 8, .local),  // 10/8 private
        (0x6440_0000, 10, .local),  // 100.64/10 carrier-grade NAT
        (0x7F00_0000, 8, .local),  // loopback
        (0xA9FE_0000, 16, .local),  // 169.254/16 link-local, cloud metadata
        (0xAC10_0000, 12, .local),  // 172.16/12 private
        (0xC000_0000, 24, .unusable),  // 192.0.0/24 protocol assignments
        (0xC000_0200, 24, .unusable),  // 192.0.2/24 documentation
        (0xC058_6300, 24, .unusable),  // 192.88.99/24 6to4 relays
        (0xC0A8_0000, 16, .local),  // 192.168/16 private
        (0xC612_0000, 15, .local),  // 198.18/15 benchmarks
        (0xC633_6400, 24, .unusable),  // 198.51.100/24 documentation
        (0xCB00_7100, 24, .unusable),  // 203.0.113/24 documentation
        (0xE000_0000, 4, .unusable),  // multicast
        (0xF000_0000, 4, .unusable),  // reserved, broadcast
    ]

    private static let ipv6Table: [(prefix: UInt64, bits: UInt64, scope: AddressScope)] = [
        (0x2001_0000_0000_0000, 23, .unusable),  // protocol assignments, Teredo, ORCHID
        (0x2001_0DB8_0000_0000, 32, .unusable),  // documentation
        (0x3FFF_0000_0000_0000, 20, .unusable),  // documentation
        (0xFC00_0000_0000_0000, 7, .local),  // unique local
        (0xFE80_0000_0000_0000, 10, .local),  // link-local
        (0xFEC0_0000_0000_0000, 10, .local),  // site-local, deprecated
        (0x0064_FF9B_0001_0000, 48, .local),  // NAT64 of a local network
    ]
}
