internal import Glibc

/// Decides whether a connection to an address is allowed. It runs for every connection, after name
/// resolution and on every redirect, so a name that resolves (or is rebound) to an internal address
/// is caught like a literal address.
public struct AddressGuard: Hashable, Sendable {
    /// Whether loopback, private and link-local addresses may be connected to.
    public let allowsLocal: Bool
    /// Address and port pairs that may be connected to regardless of their scope.
    public let allowed: Set<SocketAddress>

    /// Addresses that are never connected to. Takes precedence over all permissions.
    public let denied: [AddressRange]

    /// Creates a guard. The defaults permit only the public internet.
    public init(
        allowsLocal: Bool = false, allowed: Set<SocketAddress> = [], denied: [AddressRange] = []
    ) {
        self.allowsLocal = allowsLocal
        self.denied = denied.map(\.unmapped)
        self.allowed = Set(allowed.map(Self.unmapped))
    }

    /// Returns a guard that additionally permits the given addresses. Denied addresses stay denied.
    public func allowing(_ more: Set<SocketAddress>) -> AddressGuard {
        guard !more.isEmpty else { return self }
        return AddressGuard(
            allowsLocal: allowsLocal, allowed: allowed.union(more), denied: denied)
    }

    /// Whether a connection may be opened to `target`.
    public func permits(_ target: SocketAddress) -> Bool {
        if denies(target.address) { return false }
        if allowed.contains(Self.unmapped(target)) { return true }
        return switch target.address.scope {
        case .global: true
        case .local: allowsLocal
        case .unusable: false
        }
    }

    /// An address is denied if any IPv4 address that packets to it may reach is denied.
    private func denies(_ address: IPAddress) -> Bool {
        guard !denied.isEmpty else { return false }
        let all = [address, address.unmapped] + address.translations
        return denied.contains { range in all.contains { range.contains($0) } }
    }

    private static func unmapped(_ target: SocketAddress) -> SocketAddress {
        SocketAddress(address: target.address.unmapped, port: target.port)
    }
}

/// A CIDR range: all addresses that share a prefix.
public struct AddressRange: Hashable, Sendable {
    let first: IPAddress
    /// The prefix length in bits.
    let bits: Int

    /// Parses `10.0.0.0/8`, `fc00::/7` or a single address. Returns `nil` for anything else, and if
    /// a bit beyond the prefix is set.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let first = parts.first.flatMap({ IPAddress(String($0)) }),
            let bits = Self.bits(parts, of: first), first.cleared(after: bits) == first
        else { return nil }
        self.init(first: first, bits: bits)
    }

    private init(first: IPAddress, bits: Int) { (self.first, self.bits) = (first, bits) }

    /// The same range as IPv4 if it's a range of IPv4-mapped addresses.
    var unmapped: AddressRange {
        guard case .v6(0, let low) = first, low >> 32 == 0xFFFF, bits >= 96 else { return self }
        return AddressRange(first: first.unmapped, bits: bits - 96)
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

    /// Whether the address has this range's prefix.
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

    /// Returns the address with all bits after the prefix cleared, or `nil` if the prefix is longer
    /// than the address.
    func cleared(after bits: Int) -> IPAddress? {
        switch self {
        case .v4(let value) where bits <= 32: .v4(value & ~(UInt32.max >> bits))
        case .v6(let high, let low) where bits <= 128:
            .v6(high: high & ~(UInt64.max >> bits), low: low & ~(UInt64.max >> max(0, bits - 64)))
        default: nil
        }
    }
}

/// An IP address and port: the target of a connection.
public struct SocketAddress: Hashable, Sendable {
    /// The IP address.
    public let address: IPAddress
    /// The TCP port.
    public let port: UInt16

    /// Creates a socket address.
    public init(address: IPAddress, port: UInt16) {
        self.address = address
        self.port = port
    }

    /// Parses `127.0.0.1:8080` or `[::1]:8080`. Returns `nil` for anything else, including host
    /// names.
    public init?(_ text: String) {
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")),
            let port = UInt16(text[text.index(after: colon)...]),
            text[text.index(after: colon)...].utf8.first != UInt8(ascii: "+")
        else { return nil }
        let host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            let inner = String(host.dropFirst().dropLast())
            guard let address = IPAddress(inner), case .v6 = address else { return nil }
            self.init(address: address, port: port)
        } else {
            guard let address = IPAddress(String(host)), case .v4 = address else { return nil }
            self.init(address: address, port: port)
        }
    }

    /// Reads a `sockaddr` of `byteCount` bytes. Returns `nil` if it's truncated or neither IPv4 nor
    /// IPv6.
    init?(_ sockaddr: UnsafeRawPointer, byteCount: Int) {
        guard byteCount >= MemoryLayout<sa_family_t>.size else { return nil }
        let bytes = UnsafeRawBufferPointer(start: sockaddr, count: byteCount)
        let family = Int32(sockaddr.loadUnaligned(as: sa_family_t.self))
        let place: Range<Int>
        switch family {
        case AF_INET where byteCount >= MemoryLayout<sockaddr_in>.size: place = 4..<8
        case AF_INET6 where byteCount >= MemoryLayout<sockaddr_in6>.size: place = 8..<24
        default: return nil
        }
        guard let address = IPAddress(networkBytes: bytes[place]) else { return nil }
        self.address = address
        port = UInt16(bytes[2]) << 8 | UInt16(bytes[3])
    }
}

/// An IPv4 or IPv6 address in numeric form.
public enum IPAddress: Hashable, Sendable {
    /// The four bytes in host order: 127.0.0.1 is `0x7F00_0001`.
    case v4(UInt32)
    /// The upper and lower eight bytes in host order.
    case v6(high: UInt64, low: UInt64)

    /// Parses `127.0.0.1` or `::1`. Returns `nil` for anything else.
    public init?(_ text: String) {
        let family = text.utf8.contains(UInt8(ascii: ":")) ? AF_INET6 : AF_INET
        var bytes = [UInt8](repeating: 0, count: family == AF_INET6 ? 16 : 4)
        guard inet_pton(family, text, &bytes) == 1 else { return nil }
        self.init(networkBytes: bytes)
    }

    /// Parses the host of a URL if it's an IP literal rather than a name: IPv6 in brackets, and
    /// every IPv4 spelling that resolvers accept, such as `127.1` and `0x7f000001` (inet_aton(3)).
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

    /// Reads 4 or 16 bytes in network order. Returns `nil` for any other count.
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

    /// The embedded IPv4 address that packets to this IPv6 address actually reach: IPv4-mapped
    /// `::ffff:a.b.c.d` (RFC 4291 §2.5.5.2), NAT64 `64:ff9b::a.b.c.d` (RFC 6052) or 6to4
    /// `2002:aabb:ccdd::` (RFC 3056). `nil` for all other addresses.
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

    /// All IPv4 addresses to which a network may translate or tunnel this one: the embedded one,
    /// that of ISATAP (RFC 5214 §6.1), and for the NAT64 prefix of local networks
    /// (`64:ff9b:1::/48`, RFC 8215) those of each prefix length that a network may choose there
    /// (RFC 6052 §2.2).
    fileprivate var translations: [IPAddress] {
        var found = [embeddedIPv4, isatapIPv4].compactMap { $0 }
        guard case .v6(let high, let low) = self, high >> 16 == 0x0064_FF9B_0001 else {
            return found
        }
        // Bits 64 to 71 of the address are reserved; the IPv4 address continues behind them.
        found += [
            .v4(UInt32(truncatingIfNeeded: (high & 0xFFFF) << 16 | low >> 40 & 0xFFFF)),
            .v4(UInt32(truncatingIfNeeded: (high & 0xFF) << 24 | low >> 32 & 0xFF_FFFF)),
            .v4(UInt32(truncatingIfNeeded: low >> 24)),
            .v4(UInt32(truncatingIfNeeded: low)),
        ]
        return found
    }

    /// The same address without the IPv4-mapped form, in which the kernel treats it as IPv4.
    public var unmapped: IPAddress {
        guard case .v6(0, let low) = self, low >> 32 == 0xFFFF else { return self }
        return .v4(UInt32(truncatingIfNeeded: low))
    }
}

/// How far an address reaches. Decides whether an untrusted URL may make us connect to it.
public enum AddressScope: Hashable, Sendable {
    /// A host of the public internet.
    case global
    /// This machine, a private network, a link, or the internal network of a carrier or cloud:
    /// reachable from here but not from where the URL came from.
    case local
    /// Not a single host: unspecified, multicast, broadcast, documentation, reserved or anycast.
    case unusable
}

extension IPAddress {
    /// The scope according to `SpecialAddresses`. An address that embeds an IPv4 address has the
    /// scope of that IPv4 address.
    public var scope: AddressScope {
        if let embedded = embeddedIPv4 { return embedded.scope }
        let own = SpecialAddresses.scope(of: self) ?? .global
        // Within 2000::/3, ISATAP tunnels to the IPv4 address in the last four bytes.
        guard own == .global, let tunnelled = isatapIPv4 else { return own }
        return tunnelled.scope
    }

    /// RFC 5214 §6.1: the identifier of the interface says that an IPv4 address follows.
    fileprivate var isatapIPv4: IPAddress? {
        guard case .v6(_, let low) = self, low >> 32 & 0xFDFF_FFFF == 0x0000_5EFE else {
            return nil
        }
        return .v4(UInt32(truncatingIfNeeded: low))
    }
}

/// Addresses that aren't hosts of the public internet: one row for each range of the IANA
/// special-purpose registries (RFC 6890, as of 2025) and for ranges that clouds reserve.
///
/// If ranges are nested, the narrowest applies. Addresses that embed an IPv4 address are judged by
/// that address before this table is consulted.
enum SpecialAddresses {
    static let ranges: [SpecialRange] = ipv4 + ipv6

    /// Returns the scope of the narrowest range that contains the address, or `nil` if none does.
    static func scope(of address: IPAddress) -> AddressScope? {
        ranges.filter { $0.range.contains(address) }.max { $0.range.bits < $1.range.bits }?.scope
    }

    private static let ipv4: [SpecialRange] = [
        SpecialRange("0.0.0.0/8", .unusable),  // this network, RFC 791; connects to this machine
        SpecialRange("10.0.0.0/8", .local),  // private, RFC 1918
        // Carrier-grade NAT, RFC 6598. Metadata: Alibaba 100.100.100.200, Tencent 100.88.222.5.
        SpecialRange("100.64.0.0/10", .local),
        SpecialRange("127.0.0.0/8", .local),  // loopback, RFC 1122
        // Link-local, RFC 3927. Metadata of most clouds: 169.254.169.254, 169.254.170.2 and more.
        SpecialRange("169.254.0.0/16", .local),
        SpecialRange("168.63.129.16/32", .local),  // Azure: metadata, DNS and DHCP on its hosts
        SpecialRange("172.16.0.0/12", .local),  // private, RFC 1918
        // Protocol assignments, RFC 6890; includes DS-Lite, PCP, TURN and Oracle's metadata service
        // at 192.0.0.192.
        SpecialRange("192.0.0.0/24", .unusable),
        SpecialRange("192.0.2.0/24", .unusable),  // documentation, RFC 5737
        SpecialRange("192.31.196.0/24", .unusable),  // AS112, RFC 7535: anycast
        SpecialRange("192.52.193.0/24", .unusable),  // AMT, RFC 7450: anycast
        SpecialRange("192.88.99.0/24", .unusable),  // relays of 6to4 and 6a44, RFC 7526, RFC 6751
        SpecialRange("192.168.0.0/16", .local),  // private, RFC 1918
        SpecialRange("192.175.48.0/24", .unusable),  // AS112, RFC 7534: anycast
        SpecialRange("198.18.0.0/15", .local),  // benchmarking, RFC 2544
        SpecialRange("198.51.100.0/24", .unusable),  // documentation, RFC 5737
        SpecialRange("203.0.113.0/24", .unusable),  // documentation, RFC 5737
        SpecialRange("224.0.0.0/4", .unusable),  // multicast, RFC 5771
        SpecialRange("240.0.0.0/4", .unusable),  // reserved, RFC 1112; broadcast, RFC 8190
    ]

    /// Everything unassigned by IANA is unusable; 2000::/3 is global with exceptions.
    private static let ipv6: [SpecialRange] = [
        SpecialRange("::/0", .unusable),  // unassigned, RFC 4291; includes ::, IPv4-compatible
        SpecialRange("::1/128", .local),  // loopback, RFC 4291
        SpecialRange("64:ff9b:1::/48", .local),  // NAT64 of a local network, RFC 8215
        SpecialRange("100::/64", .unusable),  // discard-only, RFC 6666
        SpecialRange("100:0:0:1::/64", .unusable),  // dummy, RFC 9780
        SpecialRange("2000::/3", .global),  // global unicast assigned by IANA, RFC 4291
        // Protocol assignments, RFC 2928: Teredo, benchmarking, AMT, AS112, ORCHID, drones.
        SpecialRange("2001::/23", .unusable),
        SpecialRange("2001:db8::/32", .unusable),  // documentation, RFC 3849
        SpecialRange("2620:4f:8000::/48", .unusable),  // AS112, RFC 7534: anycast
        SpecialRange("3fff::/20", .unusable),  // documentation, RFC 9637
        SpecialRange("5f00::/16", .unusable),  // segment routing, RFC 9602
        // Unique local, RFC 4193. Metadata: Amazon fd00:ec2::254, Google fd20:ce::254.
        SpecialRange("fc00::/7", .local),
        SpecialRange("fe80::/10", .local),  // link-local, RFC 4291
        SpecialRange("fec0::/10", .local),  // site-local, deprecated, RFC 3879
        SpecialRange("ff00::/8", .unusable),  // multicast, RFC 4291
    ]
}

/// An address range and its scope.
struct SpecialRange: Hashable, Sendable {
    let range: AddressRange
    let scope: AddressScope

    /// `text` is a literal in this module: an invalid range is a programming error.
    init(_ text: String, _ scope: AddressScope) {
        guard let range = AddressRange(text) else {
            preconditionFailure("'\(text)' is not an address range")
        }
        (self.range, self.scope) = (range, scope)
    }
}
