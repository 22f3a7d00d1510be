/// What takes the place of parts of a URL (SEMANTICS §10.13); what is not said stays.
public struct URLRewrite: Hashable, Sendable {
    /// `http` or `https`.
    public var scheme: String?
    /// Host, with a port or without.
    public var host: String?
    /// What is put before the path, from a `/` on.
    public var pathPrefix: String?
    /// The query, without its `?`; empty: there is none.
    public var query: String?

    /// Leaves all as it is.
    public init() {}

    /// The URL with what takes the place of its parts, and its text. User info stays, a fragment
    /// goes. Throws `invalidURL` where that is none.
    public func apply(
        to url: SourceURL
    ) throws(ImageError) -> (url: SourceURL, text: String) {
        let bytes = Array(url.withoutUserInfo.utf8.dropFirst(url.scheme.utf8.count + 3))
        let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        let pathStart = bytes[..<end].firstIndex(where: SourceURL.endsAuthority) ?? end
        let mark = bytes[pathStart..<end].firstIndex(of: UInt8(ascii: "?")) ?? end
        let place = host ?? String(decoding: bytes[..<pathStart], as: UTF8.self)
        let user = url.userInfo.map { $0 + "@" } ?? ""
        let text =
            "\(scheme ?? url.scheme)://\(user)\(place)" + path(of: bytes[pathStart..<mark])
            + query(of: bytes[mark..<end])
        return (try SourceURL(text), text)
    }

    private func path(of bytes: ArraySlice<UInt8>) -> String {
        let path = bytes.isEmpty ? "/" : String(decoding: bytes, as: UTF8.self)
        guard let pathPrefix else { return path }
        let isDoubled = pathPrefix.utf8.last == UInt8(ascii: "/")
        return (isDoubled ? String(pathPrefix.dropLast()) : pathPrefix) + path
    }

    private func query(of bytes: ArraySlice<UInt8>) -> String {
        guard let query else { return String(decoding: bytes, as: UTF8.self) }
        return query.isEmpty ? "" : "?" + query
    }
}
