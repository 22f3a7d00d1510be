import Model

/// The whole input is a text.
///
/// An accepted URL is also accepted without its user info, with the same scheme and host;
/// percent-encoding a text yields ASCII and is idempotent.
enum URLTarget {
    static func run(_ bytes: [UInt8]) throws(BrokenInvariant) {
        let text = String(decoding: bytes, as: UTF8.self)
        try checkEncoding(text)
        guard let url = try? SourceURL(text) else { return }
        try expect(url.scheme == url.scheme.lowercased(), "a scheme is lower case")
        let isHTTP = url.scheme == "http" || url.scheme == "https"
        try expect(!isHTTP || !url.host.isEmpty, "an http URL has a host")
        try expect(!url.host.utf8.contains(UInt8(ascii: "@")), "a host has no user info")
        try checkParts(of: url, text)
        guard let bare = try? SourceURL(url.withoutUserInfo) else {
            throw BrokenInvariant(what: "a URL without its user info is a URL")
        }
        try expect(bare.userInfo == nil, "user info goes at once")
        try expect(bare.scheme == url.scheme, "the scheme stays")
        try expect(bare.host.utf8.elementsEqual(url.host.utf8), "the host stays")
        try expect(
            bare.withoutUserInfo.utf8.elementsEqual(url.withoutUserInfo.utf8),
            "a URL without user info stays as it is")
    }

    private static func checkParts(of url: SourceURL, _ text: String) throws(BrokenInvariant) {
        let cut = text.utf8.count - url.withoutUserInfo.utf8.count
        try expect(
            cut == url.userInfo.map { $0.utf8.count + 1 } ?? 0, "user info and @ go, no more")
    }

    private static func checkEncoding(_ text: String) throws(BrokenInvariant) {
        let once = ImageRequest(url: text).url
        try expect(once.utf8.allSatisfy { $0 < 0x80 }, "the URL of a request is ASCII")
        try expect(ImageRequest(url: once).url == once, "encoding twice is encoding once")
        guard (try? SourceURL(once)) != nil else { return }
        try expect(
            once.utf8.elementsEqual(text.utf8) || (try? SourceURL(text)) != nil,
            "encoding makes no URL of what is none")
    }
}
