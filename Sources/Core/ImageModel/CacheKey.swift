/// The text under which something is cached: SDWebImage's, by string surgery on the unparsed key,
/// followed by one canonical suffix for what upstream leaves out (DESIGN §3).
public enum CacheKey {
    /// The key of the source bytes: the URL without user info, and who asked where that matters.
    public static func original(_ request: ImageRequest, url: SourceURL, identity: String?)
        -> String
    {
        guard let identity else { return url.withoutUserInfo }
        return inserting("Auth(\(identity))", into: url.withoutUserInfo)
    }

    /// The key of the result: thumbnail, transformers, output, identity, in that order.
    public static func result(_ request: ImageRequest, url: SourceURL, identity: String?) -> String
    {
        var suffixes: [String] = []
        if let thumbnail = request.thumbnail { suffixes.append(thumbnail.key) }
        suffixes += request.steps.map(\.key)
        if !request.output.isDefault { suffixes.append(outputSuffix(request.output)) }
        if let identity { suffixes.append("Auth(\(identity))") }
        guard !suffixes.isEmpty else { return url.withoutUserInfo }
        return inserting(suffixes.joined(separator: "-"), into: url.withoutUserInfo)
    }

    /// The same for one variant of an answer that depends on request headers; `digest` is of their
    /// values.
    public static func varied(_ key: String, by digest: String?) -> String {
        digest.map { inserting("Vary(\($0))", into: key) } ?? key
    }

    /// `-suffix` before the extension of the last path segment, or at the very end without one
    /// (sdwebimage.md §1.8). The dot of an extension is neither first nor last in its segment.
    public static func inserting(_ suffix: String, into key: String) -> String {
        let bytes = Array(key.utf8)
        let isURL = key.utf8.contains(UInt8(ascii: ":"))
        let pathEnd =
            isURL ? bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } : nil
        let path = bytes[..<(pathEnd ?? bytes.endIndex)]
        let pathStart = startOfPath(bytes, isURL: isURL)
        let segment = path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? path.startIndex
        guard segment >= pathStart, let dot = path[segment...].lastIndex(of: UInt8(ascii: ".")),
            dot > segment, dot < path.endIndex - 1
        else { return "\(key)-\(suffix)" }
        return String(decoding: bytes[..<dot], as: UTF8.self) + "-\(suffix)"
            + String(decoding: bytes[dot...], as: UTF8.self)
    }

    /// Where the path of a URL begins: behind the authority, so that the dots of a host name are
    /// no extension.
    private static func startOfPath(_ bytes: [UInt8], isURL: Bool) -> Int {
        guard isURL, let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            bytes[(colon + 1)...].starts(with: "//".utf8)
        else { return 0 }
        return bytes[(colon + 3)...].firstIndex(of: UInt8(ascii: "/")) ?? bytes.endIndex
    }

    private static func outputSuffix(_ output: OutputOptions) -> String {
        let format = output.format?.name ?? "auto"
        let quality = output.quality.map { ",q\($0)" } ?? ""
        let compression = output.compression.map { ",z\($0)" } ?? ""
        return "Imagebus(\(format)\(quality)\(output.lossless ? ",lossless" : "")\(compression))"
    }
}
