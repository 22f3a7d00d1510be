import Curl
import Testing

/// Which addresses the guard permits.
@Suite struct AddressGuardTests {
    static let global = [
        "1.1.1.1:80", "8.8.8.8:443", "172.15.255.255:80", "172.32.0.0:80", "100.63.255.255:80",
        "100.128.0.0:80", "223.255.255.255:80", "[2606:4700::1111]:80", "[2a00::1]:443",
        "[64:ff9b::808:808]:80", "[::ffff:8.8.8.8]:80", "[2002:0808:0808::1]:80",
    ]
    static let local = [
        "127.0.0.1:80", "127.255.255.254:80", "10.0.0.1:80", "172.16.0.1:80", "172.31.255.255:80",
        "192.168.1.1:80", "169.254.169.254:80", "100.64.0.1:80", "198.18.0.1:80", "[::1]:80",
        "[fc00::1]:80", "[fd12:3456::1]:80", "[fe80::1]:80", "[fec0::1]:80",
        "[::ffff:127.0.0.1]:80", "[::ffff:10.1.2.3]:80", "[64:ff9b::7f00:1]:80",
        "[64:ff9b:1::1]:80", "[2002:7f00:1::]:80", "[2002:c0a8:101::1]:80",
        "[2606:4700::5efe:10.0.0.1]:80",
    ]
    static let unusable = [
        "0.0.0.0:80", "0.1.2.3:80", "224.0.0.1:80", "239.255.255.255:80", "240.0.0.1:80",
        "255.255.255.255:80", "192.0.2.1:80", "198.51.100.1:80", "203.0.113.1:80",
        "192.88.99.1:80", "192.0.0.8:80", "[::]:80", "[::127.0.0.1]:80", "[ff02::1]:80",
        "[2001::1]:80", "[2001:db8::1]:80", "[100::1]:80", "[4000::1]:80",
        "[::ffff:0.0.0.0]:80", "[2002:e000:1::]:80",
    ]

    @Test(arguments: global) func permitsTheInternet(_ text: String) throws {
        let target = try #require(SocketAddress(text))
        #expect(AddressGuard().permits(target))
    }

    @Test(arguments: local) func permitsWhatIsLocalOnlyWhereAllowed(_ text: String) throws {
        let target = try #require(SocketAddress(text))
        #expect(!AddressGuard().permits(target))
        #expect(AddressGuard(allowsLocal: true).permits(target))
    }

    @Test(arguments: unusable) func neverPermitsWhatIsNoHost(_ text: String) throws {
        let target = try #require(SocketAddress(text))
        #expect(!AddressGuard(allowsLocal: true).permits(target))
    }

    @Test func theAllowListNamesAddressAndPort() throws {
        let allowed = try #require(SocketAddress("127.0.0.1:8080"))
        let addressGuard = AddressGuard(allowed: [allowed])
        #expect(addressGuard.permits(allowed))
        let mapped = try #require(SocketAddress("[::ffff:127.0.0.1]:8080"))
        #expect(addressGuard.permits(mapped))
        for other in ["127.0.0.1:8081", "127.0.0.2:8080", "[::1]:8080"] {
            let target = try #require(SocketAddress(other))
            #expect(!addressGuard.permits(target))
        }
    }

    // MARK: - Denied addresses

    /// The same address in each form that is routed to it.
    static let denied = [
        ("10.0.0.0/8", "10.0.0.5:80"), ("10.0.0.0/8", "[::ffff:10.0.0.5]:80"),
        ("10.0.0.0/8", "[64:ff9b::a00:5]:80"), ("10.0.0.0/8", "[2002:a00:5::1]:80"),
        ("::ffff:10.0.0.0/104", "10.0.0.5:80"), ("::ffff:10.0.0.0/104", "[64:ff9b::a00:5]:80"),
        ("8.8.8.8", "8.8.8.8:443"), ("8.8.8.8", "[64:ff9b::808:808]:443"),
        ("8.8.8.8", "[2002:808:808::]:443"), ("64:ff9b::/96", "[64:ff9b::808:808]:443"),
        ("2002::/16", "[2002:808:808::]:443"), ("::/0", "[::ffff:8.8.8.8]:443"),
        ("0.0.0.0/0", "[64:ff9b::808:808]:443"),
        // ISATAP (RFC 5214 §6.1), and local NAT64 prefixes (RFC 6052 §2.2) of 48 to 96 bits.
        ("10.0.0.0/8", "[2606:4700::5efe:10.0.0.5]:80"),
        ("10.0.0.0/8", "[2606:4700::200:5efe:10.0.0.5]:80"),
        ("10.0.0.0/8", "[64:ff9b:1:a00:0:500::]:80"), ("10.0.0.0/8", "[64:ff9b:1:10a:0:5::]:80"),
        ("10.0.0.0/8", "[64:ff9b:1:1:a:0:500:0]:80"), ("10.0.0.0/8", "[64:ff9b:1::a00:5]:80"),
    ]

    /// A denied address can't be permitted, neither by scope nor by address.
    @Test(arguments: denied)
    func whatIsDeniedIsDeniedInEveryForm(_ denied: String, _ text: String) throws {
        let range = try #require(AddressRange(denied))
        let target = try #require(SocketAddress(text))
        #expect(AddressGuard(allowsLocal: true).permits(target), "it is the range that denies it")
        #expect(!AddressGuard(allowsLocal: true, denied: [range]).permits(target))
        #expect(!AddressGuard(allowed: [target], denied: [range]).permits(target))
        let other = try #require(AddressRange("203.0.113.0/24"))
        #expect(!AddressGuard(allowsLocal: true, denied: [other, range]).permits(target))
    }

    /// Addresses adjacent to a range, and those with an embedded adjacent address.
    @Test(arguments: [
        ("10.0.0.0/8", "9.255.255.255:80"), ("10.0.0.0/8", "11.0.0.0:80"),
        ("10.0.0.0/8", "[64:ff9b::b00:0]:80"), ("10.0.0.0/8", "[2002:b00::]:80"),
        ("10.0.0.0/8", "[2a00::1]:80"), ("0.0.0.0/0", "[2a00::1]:80"), ("::/0", "8.8.8.8:80"),
        ("64:ff9b::/96", "8.8.8.8:80"), ("8.8.8.8", "8.8.8.9:80"),
    ])
    func othersAreNotDenied(_ denied: String, _ text: String) throws {
        let range = try #require(AddressRange(denied))
        let target = try #require(SocketAddress(text))
        #expect(AddressGuard(allowsLocal: true, denied: [range]).permits(target))
    }

    /// Both ends of ranges that end within a byte, and the adjacent addresses.
    @Test(arguments: [
        ("172.16.0.0/12", "172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"),
        ("8.8.8.8/31", "8.8.8.7", "8.8.8.8", "8.8.8.9", "8.8.8.10"),
        (
            "2a00:8::/29", "2a00:7:ffff:ffff:ffff:ffff:ffff:ffff", "2a00:8::",
            "2a00:f:ffff:ffff:ffff:ffff:ffff:ffff", "2a00:10::"
        ),
        (
            "2a00:0:0:2::/63", "2a00::1:ffff:ffff:ffff:ffff", "2a00:0:0:2::",
            "2a00::3:ffff:ffff:ffff:ffff", "2a00:0:0:4::"
        ),
        ("2a00::8/125", "2a00::7", "2a00::8", "2a00::f", "2a00::10"),
    ])
    func aRangeHasBothItsEnds(
        _ text: String, _ before: String, _ first: String, _ last: String, _ behind: String
    ) throws {
        let range = try #require(AddressRange(text))
        for (address, isWithin) in [
            (before, false), (first, true), (last, true), (behind, false),
        ] {
            let place = try #require(IPAddress(address))
            #expect(range.contains(place) == isWithin, "\(address)")
        }
    }

    /// A loader allows additional addresses; denied ones stay denied.
    @Test func moreAddressesAreAllowedAndNoneLessDenied() throws {
        let range = try #require(AddressRange("10.0.0.0/8"))
        let inside = try #require(SocketAddress("10.0.0.5:80"))
        let first = try #require(SocketAddress("127.0.0.1:80"))
        let second = try #require(SocketAddress("192.168.1.1:80"))
        let usual = AddressGuard(allowed: [first], denied: [range])
        #expect(usual.allowing([]) == usual)
        let more = usual.allowing([second, inside])
        #expect(more.permits(first) && more.permits(second) && !more.permits(inside))
        let third = try #require(SocketAddress("192.168.1.2:80"))
        #expect(!more.permits(third))
        #expect(AddressGuard(allowsLocal: true).allowing([second]).permits(third))
    }

    @Test(arguments: [
        "", "127.0.0.1", ":80", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:+80", "::1:80",
        "[127.0.0.1]:80", "localhost:80", "127.1:80", "[::1]80", "1.2.3.4.5:80",
    ])
    func textThatIsNoAddressWithPortIsRefused(_ text: String) {
        #expect(SocketAddress(text) == nil)
    }
}
