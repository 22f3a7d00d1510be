/// What of a path and of a source may stand in a log.
package enum ReducedPath {
    /// The first options of a path: no signature, which comes first, and nothing of the source,
    /// which comes last and may be encoded. Text that is no short option ends it.
    package static func text(of target: String) -> String {
        let path = target.prefix { $0 != "?" && $0 != "#" }
        let parts = path.split(separator: "/", maxSplits: partsMax, omittingEmptySubsequences: true)
        guard let first = parts.first else { return "/" }
        if parts.count == 1, ownPaths.contains(String(first)) { return "/\(first)" }
        let options = parts.dropFirst().prefix { isOption($0) }
        let isCut = options.count < parts.count - 1
        return "/" + (options.map(String.init) + (isCut ? ["…"] : [])).joined(separator: "/")
    }

    /// A URL without who signs in there, its query and its fragment; of data nothing but that it is
    /// some.
    package static func source(_ url: String) -> String {
        guard let colon = url.firstIndex(of: ":") else { return "…" }
        let scheme = url[..<colon]
        guard url[colon...].hasPrefix("://") else { return "\(scheme):…" }
        let rest = url[url.index(colon, offsetBy: 3)...].prefix { $0 != "?" && $0 != "#" }
        let authority = rest.prefix { $0 != "/" }
        let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        return "\(scheme)://\(host)\(rest[authority.endIndex...])"
    }

    /// What the server has itself.
    private static let ownPaths: Set<String> = ["live", "health", "ready", "healthcheck"]
    private static let partsMax = 64
    /// Base64 of less than this says no more than nine bytes.
    private static let wordBytesMax = 12

    /// `w:300`, `rs:fill:300:400`, `fit-in`, `300x200`: words of letters, digits and signs, each
    /// short, and among them none that begins a URL.
    private static func isOption(_ part: Substring) -> Bool {
        let words = part.split(
            omittingEmptySubsequences: false, whereSeparator: { ":,()".contains($0) })
        guard words.count > 1 || part.contains("x") || part.contains("-") || part == "smart" else {
            return false
        }
        return words.allSatisfy { isWord($0) && !schemes.contains(String($0)) }
    }

    private static let schemes: Set<String> = [
        "http", "https", "s3", "gs", "data", "file", "local",
    ]

    private static func isWord(_ word: Substring) -> Bool {
        word.utf8.count <= wordBytesMax
            && word.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
                    || (0x61...0x7A).contains(byte) || byte == UInt8(ascii: ".")
                    || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            }
    }
}
