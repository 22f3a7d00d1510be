/// A request target, as far as it may be looked at.
enum RequestTarget {
    /// The path without the slash that it begins with and without its query, as bytes.
    static func path(of target: [UInt8]) throws(GrammarError) -> [UInt8] {
        guard target.count <= GrammarLimits.targetBytesMax else {
            throw GrammarError(
                .tooLong,
                "the URL has \(target.count) bytes: at most \(GrammarLimits.targetBytesMax) are "
                    + "accepted")
        }
        let path = target.prefix { $0 != UInt8(ascii: "?") }
        guard path.isEmpty || path.first == UInt8(ascii: "/") else {
            throw GrammarError(
                .malformed, "the target does not begin with a slash: ask for a path alone")
        }
        guard path.count > 1 else {
            throw GrammarError(.malformed, "the path is empty: name a source")
        }
        return Array(path.dropFirst())
    }

    /// What stands before the first slash, and what stands behind it.
    static func split(_ path: [UInt8]) -> (first: [UInt8], rest: [UInt8])? {
        guard let slash = path.firstIndex(of: UInt8(ascii: "/")), slash > 0,
            slash + 1 < path.count
        else { return nil }
        return (Array(path[..<slash]), Array(path[(slash + 1)...]))
    }

    /// A path as text. Others than visible characters of ASCII are percent-encoded in URLs
    /// (RFC 3986, section 2).
    static func text(of path: [UInt8]) throws(GrammarError) -> String {
        guard path.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw GrammarError(
                .malformed, "the path has characters that are not ASCII: percent-encode them")
        }
        return String(decoding: path, as: UTF8.self)
    }
}
