import ImageModel
package import MicroHTTPD
import WebGrammar

/// The addresses of proxies that are believed: what they say of a client, a trace and a request id
/// counts.
package struct TrustedNetworks: Hashable, Sendable {
    /// Addresses with the same first bits.
    private struct Network: Hashable {
        let first: UInt128
        let mask: UInt128

        func contains(_ number: UInt128) -> Bool { number & mask == first }
    }

    private var networks: [Network] = []
    private var hasUnix = false

    /// Networks and addresses at most.
    private static let countMax = 64

    /// Nobody is believed.
    package init() {}

    /// Networks with commas between, such as `10.0.0.0/8,2001:db8::/32`, an address alone, or
    /// `unix` for those who connect to a Unix socket; `nil` for any other text.
    package init?(_ text: String) {
        let words = text.split(separator: ",", omittingEmptySubsequences: false)
            .map(\.trimmedOfBlanks)
        guard words.count <= Self.countMax else { return nil }
        for word in words {
            if word == "unix" {
                hasUnix = true
            } else {
                guard let network = Self.network(word) else { return nil }
                networks.append(network)
            }
        }
    }

    private static func network(_ text: Substring) -> Network? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let address = PeerAddress(text: parts[0]),
            case .ip(let number) = address
        else { return nil }
        let before = address.isIPv4 ? PeerAddress.mappedBits : 0
        var bits = 128
        if parts.count == 2 {
            guard let said = PlainNumber.integer(String(parts[1])),
                (0...128 - before).contains(said)
            else { return nil }
            bits = before + said
        }
        let mask = bits == 0 ? 0 : UInt128.max << UInt128(128 - bits)
        return Network(first: number & mask, mask: mask)
    }

    /// Whether nobody is believed.
    package var isEmpty: Bool { networks.isEmpty && !hasUnix }

    /// Whether whoever has this address is believed.
    package func contains(_ address: PeerAddress) -> Bool {
        switch address {
        case .unix: hasUnix
        case .ip(let number): networks.contains { $0.contains(number) }
        }
    }
}
