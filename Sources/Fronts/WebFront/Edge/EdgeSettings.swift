package import MicroHTTPD
import WebGrammar

/// What is believed of whom: proxies that are trusted say who their clients are, and which trace
/// and which request id a request has. Nobody else does.
package struct EdgeSettings: Hashable, Sendable {
    /// Proxies that are trusted.
    package var trusted = TrustedNetworks()
    /// The field in which they name their clients. `X-Forwarded-For` and `Forwarded` are lists of
    /// addresses; the value of any other field is the client.
    package var clientField = "X-Forwarded-For"

    package init() {}

    /// Addresses of a list that are looked at.
    private static let addressesMax = 32
    /// Bytes of a client's name; a longer one is cut.
    private static let clientBytesMax = 256

    /// The client of a request: the peer, or whom a trusted proxy names in its place.
    ///
    /// Of a list of addresses, whose end is what the nearest proxy wrote, it is the last one that
    /// is no trusted proxy's: a client may write what it likes before that.
    package func client(of peer: PeerAddress, _ field: (String) -> String?) -> String {
        guard trusted.contains(peer), let value = field(clientField), !value.isEmpty else {
            return peer.text
        }
        switch clientField.lowercased() {
        case "x-forwarded-for": return last(of: ForwardedAddresses.list(value), before: peer).text
        case "forwarded": return last(of: ForwardedAddresses.forwarded(value), before: peer).text
        default:
            let name = value.trimmedOfBlanks
            return name.isEmpty
                ? peer.text : String(decoding: name.utf8.prefix(Self.clientBytesMax), as: UTF8.self)
        }
    }

    private func last(of addresses: [Substring], before peer: PeerAddress) -> PeerAddress {
        var client = peer
        for text in addresses.reversed().prefix(Self.addressesMax) {
            guard let address = ForwardedAddresses.address(text) else { break }
            client = address
            guard trusted.contains(address) else { break }
        }
        return client
    }
}
