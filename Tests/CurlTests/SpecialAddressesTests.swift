import Testing

@testable import Curl

/// A range from the IANA registries and the scopes of its neighbors.
struct SpecialRange: Sendable, CustomTestStringConvertible {
    let first: String
    let last: String
    let scope: AddressScope
    /// Scope of the address before the first and of the one after the last; nil if there is none.
    var before: AddressScope? = .global
    var behind: AddressScope? = .global

    var testDescription: String { "\(first) to \(last)" }
}

/// Both ends of every range of the table, and the adjacent addresses.
@Suite struct SpecialAddressesTests {
    static let rows: [SpecialRange] = [
        .init(first: "0.0.0.0", last: "0.255.255.255", scope: .unusable, before: nil),
        .init(first: "10.0.0.0", last: "10.255.255.255", scope: .local),
        .init(first: "100.64.0.0", last: "100.127.255.255", scope: .local),
        .init(first: "127.0.0.0", last: "127.255.255.255", scope: .local),
        .init(first: "168.63.129.16", last: "168.63.129.16", scope: .local),
        .init(first: "169.254.0.0", last: "169.254.255.255", scope: .local),
        .init(first: "172.16.0.0", last: "172.31.255.255", scope: .local),
        .init(first: "192.0.0.0", last: "192.0.0.255", scope: .unusable),
        .init(first: "192.0.2.0", last: "192.0.2.255", scope: .unusable),
        .init(first: "192.31.196.0", last: "192.31.196.255", scope: .unusable),
        .init(first: "192.52.193.0", last: "192.52.193.255", scope: .unusable),
        .init(first: "192.88.99.0", last: "192.88.99.255", scope: .unusable),
        .init(first: "192.168.0.0", last: "192.168.255.255", scope: .local),
        .init(first: "192.175.48.0", last: "192.175.48.255", scope: .unusable),
        .init(first: "198.18.0.0", last: "198.19.255.255", scope: .local),
        .init(first: "198.51.100.0", last: "198.51.100.255", scope: .unusable),
        .init(first: "203.0.113.0", last: "203.0.113.255", scope: .unusable),
        .init(
            first: "224.0.0.0", last: "239.255.255.255", scope: .unusable, behind: .unusable),
        .init(
            first: "240.0.0.0", last: "255.255.255.255", scope: .unusable, before: .unusable,
            behind: nil),
        .init(first: "::1", last: "::1", scope: .local, before: .unusable, behind: .unusable),
        .init(
            first: "64:ff9b:1::", last: "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", scope: .local,
            before: .unusable, behind: .unusable),
        .init(
            first: "100::", last: "100::ffff:ffff:ffff:ffff", scope: .unusable, before: .unusable,
            behind: .unusable),
        .init(
            first: "100:0:0:1::", last: "100::1:ffff:ffff:ffff:ffff", scope: .unusable,
            before: .unusable, behind: .unusable),
        // The global unicast range: it starts next to Teredo's range and ends within the one for
        // documentation.
        .init(
            first: "2000::", last: "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", scope: .global,
            before: .unusable, behind: .unusable),
        .init(
            first: "2001::", last: "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", scope: .unusable),
        .init(
            first: "2001:db8::", last: "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
            scope: .unusable),
        .init(
            first: "2620:4f:8000::", last: "2620:4f:8000:ffff:ffff:ffff:ffff:ffff",
            scope: .unusable),
        .init(
            first: "3fff::", last: "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", scope: .unusable),
        .init(
            first: "5f00::", last: "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", scope: .unusable,
            before: .unusable, behind: .unusable),
        .init(
            first: "fc00::", last: "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", scope: .local,
            before: .unusable, behind: .unusable),
        .init(
            first: "fe80::", last: "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", scope: .local,
            before: .unusable, behind: .local),
        .init(
            first: "fec0::", last: "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", scope: .local,
            before: .local, behind: .unusable),
        .init(
            first: "ff00::", last: "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", scope: .unusable,
            before: .local, behind: nil),
        .init(
            first: "::", last: "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", scope: .unusable,
            before: nil, behind: nil),
    ]

    @Test(arguments: rows) func bothEndsAndTheirNeighbors(_ row: SpecialRange) throws {
        let (first, last) = (
            try #require(IPAddress(row.first)), try #require(IPAddress(row.last))
        )
        #expect(first.scope == row.scope)
        #expect(last.scope == row.scope)
        #expect(first.moved(by: -1)?.scope == row.before)
        #expect(last.moved(by: 1)?.scope == row.behind)
        let ranges = SpecialAddresses.ranges.map(\.range)
        let next = last.moved(by: 1)
        #expect(
            ranges.contains { range in
                range.first == first && range.contains(last)
                    && next.map { !range.contains($0) } ?? true
            })
    }

    @Test func everyRangeOfTheTableIsARowHere() {
        #expect(SpecialAddresses.ranges.count == Self.rows.count)
        #expect(Set(SpecialAddresses.ranges.map(\.range.first)).count >= Self.rows.count - 1)
    }

    /// Metadata services of cloud providers.
    @Test(arguments: [
        "169.254.169.254", "169.254.170.2", "169.254.169.123", "169.254.0.23", "168.63.129.16",
        "100.100.100.200", "100.88.222.5", "192.0.0.192", "fd00:ec2::254", "fd00:ec2::23",
        "fd20:ce::254", "fe80::a9fe:a9fe", "::ffff:168.63.129.16", "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe", "64:ff9b::a83f:8110", "2002:a9fe:a9fe::", "2002:a83f:8110::1",
        "2a00::5efe:169.254.169.254", "2a00::200:5efe:168.63.129.16", "64:ff9b:1::a83f:8110",
        "::169.254.169.254", "::ffff:0:169.254.169.254", "2001:0:a9fe:a9fe::1",
    ])
    func metadataIsRefused(_ text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(!AddressGuard().permits(SocketAddress(address: address, port: 80)))
    }
}

extension IPAddress {
    /// The address `step` away; nil past either end.
    fileprivate func moved(by step: Int64) -> IPAddress? {
        switch self {
        case .v4(let value):
            return UInt32(exactly: Int64(value) + step).map { .v4($0) }
        case .v6(let high, let low):
            let (moved, carries) =
                step > 0 ? low.addingReportingOverflow(1) : low.subtractingReportingOverflow(1)
            guard carries else { return .v6(high: high, low: moved) }
            let (above, overflows) =
                step > 0 ? high.addingReportingOverflow(1) : high.subtractingReportingOverflow(1)
            return overflows ? nil : .v6(high: above, low: moved)
        }
    }
}
