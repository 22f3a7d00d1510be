/// Decides on the address of every connection, after names were resolved and at every redirect:
/// a name that points inside, or comes to point there later, is caught like a literal address.
public struct AddressGuard: Hashable, Sendable {
    /// Whether loopback, private and link-local addresses may be connected to.
    public let allowsLocal: Bool
    /// Addresses with port that may be connected to whatever their scope.
    public let allowed: Set<SocketAddress>

    /// Addresses that are never connected to, whatever allows them.
    public let denied: [AddressRange]

    /// Without arguments: the public internet only.
    public init(
        allowsLocal: Bool = false, allowed: Set<SocketAddress> = [], denied: [AddressRange] = []
    ) {
        self.allowsLocal = allowsLocal
        self.denied = denied.map(\.unmapped)
        self.allowed = Set(allowed.map(Self.unmapped))
    }

    /// The same with more addresses that may be connected to; denied ones stay denied.
    public func allowing(_ more: Set<SocketAddress>) -> AddressGuard {
        guard !more.isEmpty else { return self }
        return AddressGuard(
            allowsLocal: allowsLocal, allowed: allowed.union(more), denied: denied)
    }

    /// Whether a connection may be opened to `target`.
    public func permits(_ target: SocketAddress) -> Bool {
        if denies(target.address) { return false }
        if allowed.contains(Self.unmapped(target)) { return true }
        return switch target.address.scope {
        case .global: true
        case .local: allowsLocal
        case .unusable: false
        }
    }

    /// An address that holds another one is denied as that, too.
    private func denies(_ address: IPAddress) -> Bool {
        guard !denied.isEmpty else { return false }
        let all = [address, address.unmapped] + (address.embeddedIPv4.map { [$0] } ?? [])
        return denied.contains { range in all.contains { range.contains($0) } }
    }

    private static func unmapped(_ target: SocketAddress) -> SocketAddress {
        SocketAddress(address: target.address.unmapped, port: target.port)
    }
}
