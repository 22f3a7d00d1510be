/// How far an address reaches, which decides who may be asked for a URL of a stranger.
public enum AddressScope: Hashable, Sendable {
    /// A host of the public internet.
    case global
    /// This machine, a private network, a link, a carrier's or a cloud's inside: reachable from
    /// here, and not from where the URL came from.
    case local
    /// No single host: unspecified, multicast, broadcast, documentation, reserved, or whichever
    /// host of a service is nearest.
    case unusable
}

extension IPAddress {
    /// By the table of special addresses. An address that embeds an IPv4 address has the scope of
    /// that one.
    public var scope: AddressScope {
        if let embedded = embeddedIPv4 { return embedded.scope }
        let own = SpecialAddresses.scope(of: self) ?? .global
        // Within 2000::/3, ISATAP tunnels to the IPv4 address in the last four bytes.
        guard own == .global, let tunnelled = isatapIPv4 else { return own }
        return tunnelled.scope
    }

    /// RFC 5214 §6.1: the identifier of the interface says that an IPv4 address follows.
    private var isatapIPv4: IPAddress? {
        guard case .v6(_, let low) = self, low >> 32 & 0xFDFF_FFFF == 0x0000_5EFE else {
            return nil
        }
        return .v4(UInt32(truncatingIfNeeded: low))
    }
}
