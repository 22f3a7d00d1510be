import ImageModel
import Messages

/// The host and port of a transfer, lower case, the port always named: what a limit per host
/// counts.
struct HostName: Hashable, Sendable {
    let text: String

    /// `nil` for URLs without a host.
    init?(_ url: SourceURL) {
        let authority = url.authority
        guard !authority.isEmpty else { return nil }
        text = authority
    }
}
