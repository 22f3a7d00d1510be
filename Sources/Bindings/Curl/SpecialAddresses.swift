/// Addresses that are not a host of the public internet, one row for each range of the IANA
/// registries for special purposes (RFC 6890, as of 2025) and for what clouds keep for themselves.
///
/// Where ranges lie within one another the narrowest counts. Addresses that hold an IPv4 address
/// are judged by that one before this table is asked.
enum SpecialAddresses {
    static let ranges: [AddressRange] = ipv4 + ipv6

    /// What the narrowest range that holds the address says of it; nil where none does.
    static func scope(of address: IPAddress) -> AddressScope? {
        ranges.filter { $0.contains(address) }.max { $0.bits < $1.bits }?.scope
    }

    private static let ipv4: [AddressRange] = [
        AddressRange("0.0.0.0/8", .unusable),  // this network, RFC 791; connects to this machine
        AddressRange("10.0.0.0/8", .local),  // private, RFC 1918
        // Carrier-grade NAT, RFC 6598. Metadata: Alibaba 100.100.100.200, Tencent 100.88.222.5.
        AddressRange("100.64.0.0/10", .local),
        AddressRange("127.0.0.0/8", .local),  // loopback, RFC 1122
        // Link-local, RFC 3927. Metadata of most clouds: 169.254.169.254, 169.254.170.2 and more.
        AddressRange("169.254.0.0/16", .local),
        AddressRange("168.63.129.16/32", .local),  // Azure: metadata, DNS and DHCP of its hosts
        AddressRange("172.16.0.0/12", .local),  // private, RFC 1918
        // Protocol assignments, RFC 6890; with DS-Lite, PCP, TURN and 192.0.0.192, Oracle's
        // metadata.
        AddressRange("192.0.0.0/24", .unusable),
        AddressRange("192.0.2.0/24", .unusable),  // documentation, RFC 5737
        AddressRange("192.31.196.0/24", .unusable),  // AS112, RFC 7535: whichever is nearest
        AddressRange("192.52.193.0/24", .unusable),  // AMT, RFC 7450: whichever is nearest
        AddressRange("192.88.99.0/24", .unusable),  // relays of 6to4 and 6a44, RFC 7526, RFC 6751
        AddressRange("192.168.0.0/16", .local),  // private, RFC 1918
        AddressRange("192.175.48.0/24", .unusable),  // AS112, RFC 7534: whichever is nearest
        AddressRange("198.18.0.0/15", .local),  // benchmarks, RFC 2544
        AddressRange("198.51.100.0/24", .unusable),  // documentation, RFC 5737
        AddressRange("203.0.113.0/24", .unusable),  // documentation, RFC 5737
        AddressRange("224.0.0.0/4", .unusable),  // multicast, RFC 5771
        AddressRange("240.0.0.0/4", .unusable),  // reserved, RFC 1112; broadcast, RFC 8190
    ]

    /// All that IANA has not given out is unusable; within 2000::/3 there are exceptions.
    private static let ipv6: [AddressRange] = [
        AddressRange("::/0", .unusable),  // not given out, RFC 4291; with ::, IPv4-compatible
        AddressRange("::1/128", .local),  // loopback, RFC 4291
        AddressRange("64:ff9b:1::/48", .local),  // NAT64 of a local network, RFC 8215
        AddressRange("100::/64", .unusable),  // discarded, RFC 6666
        AddressRange("100:0:0:1::/64", .unusable),  // dummy, RFC 9780
        AddressRange("2000::/3", .global),  // what IANA gives out, RFC 4291
        // Protocol assignments, RFC 2928: Teredo, benchmarks, AMT, AS112, ORCHID, drones.
        AddressRange("2001::/23", .unusable),
        AddressRange("2001:db8::/32", .unusable),  // documentation, RFC 3849
        AddressRange("2620:4f:8000::/48", .unusable),  // AS112, RFC 7534: whichever is nearest
        AddressRange("3fff::/20", .unusable),  // documentation, RFC 9637
        AddressRange("5f00::/16", .unusable),  // segment routing, RFC 9602
        // Unique local, RFC 4193. Metadata: Amazon fd00:ec2::254, Google fd20:ce::254.
        AddressRange("fc00::/7", .local),
        AddressRange("fe80::/10", .local),  // link-local, RFC 4291
        AddressRange("fec0::/10", .local),  // site-local, deprecated, RFC 3879
        AddressRange("ff00::/8", .unusable),  // multicast, RFC 4291
    ]
}
