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

extension JobWork {
    /// Where a transfer goes; `nil` for other work.
    var host: HostName? {
        guard case .fetch(let work) = self, let url = try? SourceURL(work.url) else { return nil }
        return HostName(url)
    }
}
