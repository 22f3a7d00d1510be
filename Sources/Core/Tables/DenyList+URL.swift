public import ImageModel

extension DenyList.Entry {
    /// The URL as logs show it: queries are often signed or carry keys.
    public var shownURL: String { (try? SourceURL(url))?.forLogs ?? "" }

    /// Whether an operator means it who writes this, a whole URL or what the list shows. User info
    /// does not count.
    public func isNamed(_ text: String) -> Bool {
        let text = SourceURL.percentEncodingNonASCII(text)
        return SourceKey.withoutUserInfo(text) == url || text == shownURL
    }
}

extension SourceKey {
    /// The URL without user info.
    public var bareURL: String { Self.withoutUserInfo(url) }

    /// A URL without user info; any other text as it is.
    public static func withoutUserInfo(_ url: String) -> String {
        (try? SourceURL(url))?.withoutUserInfo ?? url
    }
}
