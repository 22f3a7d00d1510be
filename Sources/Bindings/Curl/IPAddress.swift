internal import Glibc

/// An IPv4 or IPv6 address as numbers.
public enum IPAddress: Hashable, Sendable {
    /// Four bytes in host order: 127.0.0.1 is `0x7F00_0001`.
    case v4(UInt32)
    /// The first and the last eight bytes in host order.
    case v6(high: UInt64, low: UInt64)

    /// `127.0.0.1` or `::1`; nil for anything else.
    public init?(_ text: String) {
        let family = text.utf8.contains(UInt8(ascii: ":")) ? AF_INET6 : AF_INET
        var bytes = [UInt8](repeating: 0, count: family == AF_INET6 ? 16 : 4)
        guard inet_pton(family, text, &bytes) == 1 else { return nil }
        self.init(networkBytes: bytes)
    }

    /// The address that a host of a URL is, where it is no name: brackets around IPv6, and all
    /// spellings of IPv4 that resolvers take, such as `127.1` and `0x7f000001` (inet_aton(3)).
    public init?(host: String) {
        if host.hasPrefix("["), host.hasSuffix("]") {
            let inner = host.dropFirst().dropLast().prefix { $0 != "%" }
            guard let address = IPAddress(String(inner)) else { return nil }
            self = address
            return
        }
        var address = in_addr()
        guard inet_aton(host, &address) == 1 else { return nil }
        self = .v4(UInt32(bigEndian: address.s_addr))
    }

    /// From the four or sixteen bytes of network order; nil for another count.
    public init?(networkBytes bytes: some Collection<UInt8>) {
        func number(_ part: some Sequence<UInt8>) -> UInt64 {
            part.reduce(0) { $0 << 8 | UInt64($1) }
        }
        switch bytes.count {
        case 4: self = .v4(UInt32(truncatingIfNeeded: number(bytes)))
        case 16: self = .v6(high: number(bytes.prefix(8)), low: number(bytes.dropFirst(8)))
        default: return nil
        }
    }

    /// The IPv4 address that packets to this address really go to, where that is written in it:
    /// IPv4-mapped `::ffff:a.b.c.d` (RFC 4291 §2.5.5.2), NAT64 `64:ff9b::a.b.c.d` (RFC 6052) and
    /// 6to4 `2002:aabb:ccdd::` (RFC 3056). Nil for all others.
    public var embeddedIPv4: IPAddress? {
        guard case .v6(let high, let low) = self else { return nil }
        let lastFour = UInt32(truncatingIfNeeded: low)
        switch (high, low >> 32) {
        case (0, 0xFFFF), (0x0064_FF9B_0000_0000, 0): return .v4(lastFour)
        case (let high, _) where high >> 48 == 0x2002:
            return .v4(UInt32(truncatingIfNeeded: high >> 16))
        default: return nil
        }
    }

    /// The same address without the IPv4-mapped form, in which the kernel treats it as IPv4.
    public var unmapped: IPAddress {
        guard case .v6(0, let low) = self, low >> 32 == 0xFFFF else { return self }
        return .v4(UInt32(truncatingIfNeeded: low))
    }
}
