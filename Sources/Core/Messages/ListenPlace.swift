/// Where HTTP is listened for, as people write it.
public enum ListenPlace: Hashable, Sendable {
    /// An address in numbers, and a port of TCP; 0: one that the system chooses.
    case tcp(address: String, port: UInt16)
    /// A Unix socket at an absolute path.
    case unix(path: String)

    /// Bytes of the path of a socket.
    public static let pathBytesMax = 107
    /// The mode of a socket: its owner and its group may connect.
    public static let socketMode: UInt32 = 0o660
    private static let unixPrefix = "unix:"

    /// `ADDRESS:PORT`, `:PORT` for every address of IPv4, `[IPv6]:PORT`, `unix:PATH`; nil for
    /// anything else.
    public init?(_ text: String) {
        if text.hasPrefix(Self.unixPrefix) {
            let path = text.dropFirst(Self.unixPrefix.count)
            guard path.hasPrefix("/"), !path.hasSuffix("/"), path.utf8.count <= Self.pathBytesMax,
                path.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
            else { return nil }
            self = .unix(path: String(path))
            return
        }
        guard let colon = text.lastIndex(of: ":"),
            let port = UInt16(text[text.index(after: colon)...])
        else { return nil }
        var address = text[..<colon]
        let isBracketed = address.hasPrefix("[") && address.hasSuffix("]")
        guard isBracketed || !address.contains(":") else { return nil }
        if isBracketed { address = address.dropFirst().dropLast() }
        self = .tcp(address: address.isEmpty ? "0.0.0.0" : String(address), port: port)
    }

    /// As it is written.
    public var text: String {
        switch self {
        case .tcp(let address, let port): Self.bracketed(address) + ":\(port)"
        case .unix(let path): Self.unixPrefix + path
        }
    }

    /// Whether each that listens there has a place of its own: a port that the system chooses.
    public var isAnyPort: Bool {
        if case .tcp(_, 0) = self { true } else { false }
    }

    /// What is wanted of a text.
    public static let expected = "ADDRESS:PORT, :PORT, [IPv6]:PORT or unix:/PATH"

    /// What a browser on this machine opens, once the port is known; a Unix socket as it is
    /// written.
    public func url(port: UInt16) -> String {
        guard case .tcp(let address, _) = self else { return text }
        let open =
            switch address {
            case "0.0.0.0": "127.0.0.1"
            case "::": "::1"
            default: address
            }
        return "http://\(Self.bracketed(open)):\(port)/"
    }

    private static func bracketed(_ address: String) -> String {
        address.contains(":") ? "[\(address)]" : address
    }
}
