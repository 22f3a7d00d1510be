import ImageModel

extension SourceKey {
    /// The URL for people: without user info.
    var shownURL: String { Self.shown(url) }

    /// A URL as lists show it; any other text as it is.
    static func shown(_ url: String) -> String {
        (try? SourceURL(url))?.withoutUserInfo ?? url
    }
}
