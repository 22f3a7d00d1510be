internal import Glibc

/// An IP address and a port: what a connection goes to.
public struct SocketAddress: Hashable, Sendable {
    /// The address.
    public let address: IPAddress
    /// The TCP port.
    public let port: UInt16

    /// Takes both.
    public init(address: IPAddress, port: UInt16) {
        self.address = address
        self.port = port
    }

    /// `127.0.0.1:8080` or `[::1]:8080`; nil for anything else, names included.
    public init?(_ text: String) {
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")),
            let port = UInt16(text[text.index(after: colon)...]),
            text[text.index(after: colon)...].utf8.first != UInt8(ascii: "+")
        else { return nil }
        let host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            let inner = String(host.dropFirst().dropLast())
            guard let address = IPAddress(inner), case .v6 = address else { return nil }
            self.init(address: address, port: port)
        } else {
            guard let address = IPAddress(String(host)), case .v4 = address else { return nil }
            self.init(address: address, port: port)
        }
    }

    /// From a `sockaddr` of `byteCount` bytes; nil where it is neither IPv4 nor IPv6, or short.
    init?(_ sockaddr: UnsafeRawPointer, byteCount: Int) {
        guard byteCount >= MemoryLayout<sa_family_t>.size else { return nil }
        let bytes = UnsafeRawBufferPointer(start: sockaddr, count: byteCount)
        let family = Int32(sockaddr.loadUnaligned(as: sa_family_t.self))
        let place: Range<Int>
        switch family {
        case AF_INET where byteCount >= MemoryLayout<sockaddr_in>.size: place = 4..<8
        case AF_INET6 where byteCount >= MemoryLayout<sockaddr_in6>.size: place = 8..<24
        default: return nil
        }
        guard let address = IPAddress(networkBytes: bytes[place]) else { return nil }
        self.address = address
        port = UInt16(bytes[2]) << 8 | UInt16(bytes[3])
    }
}
