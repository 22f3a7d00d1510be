extension SourceURL {
    /// What follows the authority; of a URL without one, what follows the colon.
    var afterAuthority: Substring.UTF8View {
        let behind = withoutUserInfo.utf8.dropFirst(scheme.utf8.count + 1)
        guard hasAuthority else { return behind }
        return behind.dropFirst(2).drop { !Self.endsAuthority($0) }
    }

    /// What stands between `//` and the path, without user info.
    var authorityText: String {
        guard hasAuthority else { return "" }
        let behind = withoutUserInfo.utf8.dropFirst(scheme.utf8.count + 3)
        return String(decoding: behind.prefix { !Self.endsAuthority($0) }, as: UTF8.self)
    }

    /// Whether `//` follows the colon.
    var hasAuthority: Bool {
        withoutUserInfo.utf8.dropFirst(scheme.utf8.count + 1).starts(with: "//".utf8)
    }
}
