/// The file that a `file:` URL names (RFC 8089), as a path below the root of its loader.
public struct FilePath: Hashable, Sendable {
    /// Relative, decoded: `photos/a b.jpg`.
    public let text: String

    /// Throws `invalidURL` for a host that is not this one, a relative path, a directory, and what
    /// `PlacePath` does not take.
    public init(_ url: SourceURL) throws(ImageError) {
        guard url.hasAuthority, url.userInfo == nil,
            ["", "localhost"].contains(url.authorityText.lowercased())
        else {
            throw ImageError(
                .invalidURL, "a file URL has no host, or localhost: file:///photos/a.jpg")
        }
        let path = try PlacePath(url.afterAuthority).text
        guard !path.hasSuffix("/"), !path.hasPrefix("/") else {
            throw ImageError(.invalidURL, "the URL names a directory, and no file")
        }
        text = path
    }
}
