/// Decides on the address of every connection, after names were resolved and at every redirect:
/// a name that points inside, or comes to point there later, is caught like a literal address.
public struct AddressGuard: Hashable, Sendable {
    /// Whether loopback, private and link-local addresses may be connected to.
    public let allowsLocal: Bool
    /// Addresses with port that may be connected to whatever their scope.
    public let allowed: Set<SocketAddress>

    /// Without arguments: the public internet only.
    public init(allowsLocal: Bool = false, allowed: Set<SocketAddress> = []) {
        self.allowsLocal = allowsLocal
        self.allowed = Set(allowed.map(Self.unmapped))
    }

    /// Whether a connection may be opened to `target`.
    public func permits(_ target: SocketAddress) -> Bool {
        if allowed.contains(Self.unmapped(target)) { return true }
        return switch target.address.scope {
        case .global: true
        case .local: allowsLocal
        case .unusable: false
        }
    }

    private static func unmapped(_ target: SocketAddress) -> SocketAddress {
        SocketAddress(address: target.address.unmapped, port: target.port)
    }
}
