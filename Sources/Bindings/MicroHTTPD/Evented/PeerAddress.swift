internal import CMicroHTTPD

/// The address of whoever is at the other end of a connection.
public enum PeerAddress: Hashable, Sendable {
    /// The 128 bits of an IPv6 address. An IPv4 address is the one that maps it (RFC 4291,
    /// section 2.5.5.2).
    case ip(UInt128)
    /// A process of this machine, at a Unix socket.
    case unix

    /// Bits of an IPv6 address before those of an IPv4 address that it maps.
    public static let mappedBits = 96
    private static let mappedPrefix: UInt128 = 0xFFFF

    /// An address of a family other than IP is a Unix socket's.
    init(_ address: UnsafePointer<sockaddr>) {
        var bytes = [UInt8](repeating: 0, count: 16)
        guard cmicrohttpd_address(address, &bytes) != 0 else {
            self = .unix
            return
        }
        self.init(bytes: bytes)
    }

    /// An address in numbers, such as `192.0.2.1` or `2001:db8::1`; `nil` for any other text.
    public init?(text: some StringProtocol) {
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET6, String(text), &bytes) == 1 {
            self.init(bytes: bytes)
            return
        }
        guard inet_pton(AF_INET, String(text), &bytes) == 1 else { return nil }
        let number = bytes.prefix(4).reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        self = .ip(Self.mappedPrefix << 32 | number)
    }

    private init(bytes: [UInt8]) { self = .ip(bytes.reduce(0) { $0 << 8 | UInt128($1) }) }

    /// Whether it is an IPv4 address.
    public var isIPv4: Bool {
        guard case .ip(let number) = self else { return false }
        return number >> 32 == Self.mappedPrefix
    }

    /// The address in numbers; `unix` for a Unix socket.
    public var text: String {
        guard case .ip(let number) = self else { return "unix" }
        let bytes = (0..<16).map { UInt8(truncatingIfNeeded: number >> UInt128(120 - 8 * $0)) }
        if isIPv4 { return bytes.suffix(4).map { "\($0)" }.joined(separator: ".") }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, bytes, &text, socklen_t(text.count)) != nil else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
    }
}
