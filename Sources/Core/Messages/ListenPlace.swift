/// Where HTTP is listened for, as people write it.
public struct ListenPlace: Hashable, Sendable {
    /// In numbers.
    public let address: String
    /// 0: one that the system chooses.
    public let port: UInt16

    /// `ADDRESS:PORT`, `:PORT` for every address of IPv4, `[IPv6]:PORT`; nil for anything else.
    public init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"),
            let port = UInt16(text[text.index(after: colon)...])
        else { return nil }
        var address = text[..<colon]
        let isBracketed = address.hasPrefix("[") && address.hasSuffix("]")
        guard isBracketed || !address.contains(":") else { return nil }
        if isBracketed { address = address.dropFirst().dropLast() }
        self.address = address.isEmpty ? "0.0.0.0" : String(address)
        self.port = port
    }

    /// As it is written.
    public var text: String { (address.contains(":") ? "[\(address)]" : address) + ":\(port)" }

    /// What is wanted of a text.
    public static let expected = "ADDRESS:PORT, :PORT or [IPv6]:PORT"

    /// What a browser on this machine opens, once the port is known.
    public func url(port: UInt16) -> String {
        let open: String =
            switch address {
            case "0.0.0.0": "127.0.0.1"
            case "::": "::1"
            default: address
            }
        return "http://" + (open.contains(":") ? "[\(open)]" : open) + ":\(port)/"
    }
}
