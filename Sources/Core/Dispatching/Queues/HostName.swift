package import ImageModel

/// The host and port of a transfer, lower case, the port always named: what a limit per host
/// counts.
package struct HostName: Hashable, Sendable {
    let text: String

    /// `nil` for URLs without a host.
    package init?(_ url: SourceURL) {
        let authority = url.authority
        guard !authority.isEmpty else { return nil }
        text = authority
    }
}
