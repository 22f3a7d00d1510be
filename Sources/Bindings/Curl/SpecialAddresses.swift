/// Addresses that are not a host of the public internet, one row for each range of the IANA
/// registries for special purposes (RFC 6890, as of 2025) and for what clouds keep for themselves.
///
/// Where ranges lie within one another the narrowest counts. Addresses that hold an IPv4 address
/// are judged by that one before this table is asked.
enum SpecialAddresses {
    static let ranges: [SpecialRange] = ipv4 + ipv6

    /// What the narrowest range that holds the address says of it; nil where none does.
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
        SpecialRange("168.63.129.16/32", .local),  // Azure: metadata, DNS and DHCP of its hosts
        SpecialRange("172.16.0.0/12", .local),  // private, RFC 1918
        // Protocol assignments, RFC 6890; with DS-Lite, PCP, TURN and 192.0.0.192, Oracle's
        // metadata.
        SpecialRange("192.0.0.0/24", .unusable),
        SpecialRange("192.0.2.0/24", .unusable),  // documentation, RFC 5737
        SpecialRange("192.31.196.0/24", .unusable),  // AS112, RFC 7535: whichever is nearest
        SpecialRange("192.52.193.0/24", .unusable),  // AMT, RFC 7450: whichever is nearest
        SpecialRange("192.88.99.0/24", .unusable),  // relays of 6to4 and 6a44, RFC 7526, RFC 6751
        SpecialRange("192.168.0.0/16", .local),  // private, RFC 1918
        SpecialRange("192.175.48.0/24", .unusable),  // AS112, RFC 7534: whichever is nearest
        SpecialRange("198.18.0.0/15", .local),  // benchmarks, RFC 2544
        SpecialRange("198.51.100.0/24", .unusable),  // documentation, RFC 5737
        SpecialRange("203.0.113.0/24", .unusable),  // documentation, RFC 5737
        SpecialRange("224.0.0.0/4", .unusable),  // multicast, RFC 5771
        SpecialRange("240.0.0.0/4", .unusable),  // reserved, RFC 1112; broadcast, RFC 8190
    ]

    /// All that IANA has not given out is unusable; within 2000::/3 there are exceptions.
    private static let ipv6: [SpecialRange] = [
        SpecialRange("::/0", .unusable),  // not given out, RFC 4291; with ::, IPv4-compatible
        SpecialRange("::1/128", .local),  // loopback, RFC 4291
        SpecialRange("64:ff9b:1::/48", .local),  // NAT64 of a local network, RFC 8215
        SpecialRange("100::/64", .unusable),  // discarded, RFC 6666
        SpecialRange("100:0:0:1::/64", .unusable),  // dummy, RFC 9780
        SpecialRange("2000::/3", .global),  // what IANA gives out, RFC 4291
        // Protocol assignments, RFC 2928: Teredo, benchmarks, AMT, AS112, ORCHID, drones.
        SpecialRange("2001::/23", .unusable),
        SpecialRange("2001:db8::/32", .unusable),  // documentation, RFC 3849
        SpecialRange("2620:4f:8000::/48", .unusable),  // AS112, RFC 7534: whichever is nearest
        SpecialRange("3fff::/20", .unusable),  // documentation, RFC 9637
        SpecialRange("5f00::/16", .unusable),  // segment routing, RFC 9602
        // Unique local, RFC 4193. Metadata: Amazon fd00:ec2::254, Google fd20:ce::254.
        SpecialRange("fc00::/7", .local),
        SpecialRange("fe80::/10", .local),  // link-local, RFC 4291
        SpecialRange("fec0::/10", .local),  // site-local, deprecated, RFC 3879
        SpecialRange("ff00::/8", .unusable),  // multicast, RFC 4291
    ]
}

/// A range, and how far its addresses reach.
struct SpecialRange: Hashable, Sendable {
    let range: AddressRange
    let scope: AddressScope

    /// The text is one of this library's own.
    init(_ text: String, _ scope: AddressScope) {
        guard let range = AddressRange(text) else {
            preconditionFailure("'\(text)' is no range of addresses")
        }
        (self.range, self.scope) = (range, scope)
    }
}
