import Testing

@testable import MicroHTTPD

@Suite struct PeerAddressTests {
    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1", true), ("::ffff:192.0.2.1", "192.0.2.1", true),
        ("0.0.0.0", "0.0.0.0", true), ("2001:DB8::1", "2001:db8::1", false), ("::", "::", false),
        ("::1", "::1", false),
    ])
    func anAddressHasOneText(text: String, shown: String, isIPv4: Bool) throws {
        let address = try #require(PeerAddress(text: text))
        #expect(address.text == shown && address.isIPv4 == isIPv4)
        #expect(PeerAddress(text: shown) == address)
    }

    @Test(arguments: [
        "", "a", "1.2.3", "1.2.3.4.5", "01.2.3.4x", "::g", "[::1]", "unix", "1.2.3.4:5",
    ])
    func otherTextsAreNone(text: String) { #expect(PeerAddress(text: text) == nil) }

    @Test func aUnixSocketHasNoNumber() {
        #expect(PeerAddress.unix.text == "unix" && !PeerAddress.unix.isIPv4)
    }

    @Test func connectionsAreCountedByAddress() throws {
        let (one, other) = (PeerAddress.ip(1), PeerAddress.ip(2))
        var connections = PeerConnections(most: 2)
        for _ in 0..<2 { connections.add(one) }
        #expect(connections.isFull(one) && !connections.isFull(other))
        connections.remove(one)
        #expect(!connections.isFull(one))
        for _ in 0..<9 { connections.add(.unix) }
        #expect(!connections.isFull(.unix))
        var any = PeerConnections(most: 0)
        for _ in 0..<9 { any.add(one) }
        #expect(!any.isFull(one))
    }
}
