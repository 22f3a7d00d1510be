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

    @Test(arguments: [
        "", "127.0.0.1", ":80", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:+80", "::1:80",
        "[127.0.0.1]:80", "localhost:80", "127.1:80", "[::1]80", "1.2.3.4.5:80",
    ])
    func textThatIsNoAddressWithPortIsRefused(_ text: String) {
        #expect(SocketAddress(text) == nil)
    }
}
