extension SourceURL {
    /// Whether scheme, host and port are those of another URL (RFC 6454 §4).
    public func hasSameOrigin(as other: SourceURL) -> Bool {
        (scheme, authority) == (other.scheme, other.authority)
    }

    /// Host and port, lower case, such as `example.org:443`: the port of http and https is named
    /// even where the text leaves it out. Empty where there is no host. RFC 3986 §3.2.
    public var authority: String {
        guard !host.isEmpty else { return "" }
        let name = host.lowercased()
        let rest = withoutUserInfo.utf8.dropFirst(scheme.utf8.count + 3 + host.utf8.count)
        let end = rest.firstIndex(where: Self.endsAuthority) ?? rest.endIndex
        let port = rest[..<end].drop { $0 == UInt8(ascii: ":") }
        if !port.isEmpty { return "\(name):\(Substring(port))" }
        switch scheme {
        case "http": return "\(name):80"
        case "https": return "\(name):443"
        default: return name
        }
    }
}
