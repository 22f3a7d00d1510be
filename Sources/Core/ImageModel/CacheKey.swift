/// The text under which something is cached: SDWebImage's, by string surgery on the unparsed key,
/// followed by one canonical suffix for what upstream leaves out (SEMANTICS §4.4).
public enum CacheKey {
    /// The key of the source bytes: URL or what takes its place, and, where that matters, who asks
    /// and that TLS was not verified.
    public static func original(url: SourceURL, terms: LoadTerms) -> String {
        inserting(suffixes(of: terms), into: base(url, terms))
    }

    /// The key of the result: frame or frames, thumbnail, transformers, output, identity, TLS, in
    /// that order.
    public static func result(_ request: ImageRequest, url: SourceURL, terms: LoadTerms) -> String {
        var suffixes: [String] = []
        if let frame = request.frame { suffixes.append("Frame(\(frame))") }
        if request.leavesOutFrames {
            suffixes.append("Frames(first)")
        } else if request.animates, !request.reducesFrames {
            suffixes.append("Frames(all)")
        }
        if let thumbnail = request.thumbnail { suffixes.append(thumbnail.key) }
        suffixes += keys(of: request.steps, terms.overlays)
        if !request.output.isDefault { suffixes.append(outputSuffix(request.output)) }
        return inserting(suffixes + Self.suffixes(of: terms), into: base(url, terms))
    }

    /// What keeps entries apart however the image is asked for: who asks, and whether the origin
    /// was who it says it is.
    private static func suffixes(of terms: LoadTerms) -> [String] {
        (terms.identity.map { ["Auth(\($0))"] } ?? [])
            + (terms.transfer.isUnverified ? [unverified] : [])
    }

    private static let unverified = "TLS(unverified)"

    private static func inserting(_ suffixes: [String], into key: String) -> String {
        suffixes.isEmpty ? key : inserting(suffixes.joined(separator: "-"), into: key)
    }

    /// An overlay has the name under which its original is stored: who asks for it, and in which
    /// cache, is in that. Which version of it was there is in no key, as with the image itself.
    private static func keys(of steps: [TransformStep], _ overlays: [Resolution]) -> [String] {
        var overlays = overlays.makeIterator()
        return steps.map { step in
            guard let overlay = step.overlay, let load = overlays.next(),
                let url = try? SourceURL(load.request.url)
            else { return step.key }
            let name = original(url: url, terms: load.terms)
            return overlay.key(named: stored(name, in: load.terms.originalCache, load.terms))
        }
    }

    /// What the suffixes are put into: the URL without user info, or what takes its place.
    public static func base(_ url: SourceURL, _ terms: LoadTerms) -> String {
        switch terms.base {
        case .url: url.withoutUserInfo
        case .filtered(let text), .own(let text), .entry(let text): text
        }
    }

    // MARK: - Stored texts

    /// Between the name of a cache and the key.
    private static let cacheEnd = "\u{1F}"
    /// Between the key and whose it is.
    private static let ownerStart = "\u{1E}"
    /// Behind the owner where TLS was not verified: no URL makes the key of such an entry.
    private static let unverifiedMark = "!"

    /// The text under which the cache process keeps a key: `cache␟key␞owner`, without the cache
    /// where that is the default one, and without the owner where anybody may have the entry.
    /// Neither URLs, nor base keys, nor names have control characters, so that the parts can be
    /// told apart whatever is in them: no text that a client chooses makes the key of another
    /// cache, of another identity, or, where it takes the place of a URL, that of a URL.
    public static func stored(_ key: String, in cache: String, _ terms: LoadTerms) -> String {
        var owner = terms.identity ?? ""
        if case .own = terms.base { owner = "=\(owner)" }
        if terms.transfer.isUnverified { owner += unverifiedMark }
        let key = owner.isEmpty ? key : "\(key)\(ownerStart)\(owner)"
        return cache.isEmpty ? key : "\(cache)\(cacheEnd)\(key)"
    }

    /// The stored text of the same key in another cache; empty: in the default one.
    public static func moved(_ text: String, to cache: String) -> String {
        let bytes = text.utf8
        let key = bytes.firstIndex(of: 0x1F).map { text[bytes.index(after: $0)...] } ?? text[...]
        return cache.isEmpty ? String(key) : "\(cache)\(cacheEnd)\(key)"
    }

    /// The text of the entry that replies show as `key`, by its cache, its `-Auth(…)` and its
    /// `-TLS(unverified)`. Entries under texts that clients chose are not found so: nothing in a
    /// key says that it is one.
    public static func stored(shown key: String, in cache: String) -> String {
        let key = SourceURL.percentEncodingNonASCII(key)
        var terms = LoadTerms()
        if let mark = key.ranges(of: "-Auth(").last {
            let digest = key[mark.upperBound...].prefix(while: \.isHexDigit)
            if digest.utf8.count == 32, key[digest.endIndex...].hasPrefix(")") {
                terms.identity = String(digest)
            }
        }
        terms.transfer.isUnverified = key.contains("-\(unverified)")
        return stored(key, in: cache, terms)
    }

    /// The key in such a text.
    public static func key(inStored text: String) -> String {
        guard text.hasByte(where: { $0 == 0x1F || $0 == 0x1E }) else { return text }
        let bytes = Array(text.utf8)
        return String(decoding: bytes[keyRange(inStored: bytes)], as: UTF8.self)
    }

    /// The stored text of one variant of an answer that depends on request headers; `digest` is of
    /// their values. It is put into the key, whatever stands around that.
    public static func varied(_ text: String, by digest: String?) -> String {
        guard let digest else { return text }
        let bytes = Array(text.utf8)
        let range = keyRange(inStored: bytes)
        let key = String(decoding: bytes[range], as: UTF8.self)
        return String(decoding: bytes[..<range.lowerBound], as: UTF8.self)
            + inserting("Vary(\(digest))", into: key)
            + String(decoding: bytes[range.upperBound...], as: UTF8.self)
    }

    private static func keyRange(inStored bytes: [UInt8]) -> Range<Int> {
        let start = bytes.firstIndex(of: 0x1F).map { $0 + 1 } ?? 0
        return start..<max(start, bytes.lastIndex(of: 0x1E) ?? bytes.endIndex)
    }

    /// `-suffix` before the extension of the last path segment, or at the very end without one
    /// (SEMANTICS §4.3). The dot of an extension is neither first nor last in its segment.
    public static func inserting(_ suffix: String, into key: String) -> String {
        let bytes = Array(key.utf8)
        let place = suffixPlace(in: bytes)
        return String(decoding: bytes[..<place], as: UTF8.self) + "-\(suffix)"
            + String(decoding: bytes[place...], as: UTF8.self)
    }

    /// Where suffixes go: before the dot of the extension, or at the end.
    static func suffixPlace(in bytes: [UInt8]) -> Int {
        let isURL = bytes.contains(UInt8(ascii: ":"))
        let pathEnd =
            isURL ? bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } : nil
        let path = bytes[..<(pathEnd ?? bytes.endIndex)]
        let pathStart = startOfPath(bytes, isURL: isURL)
        let segment = path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? path.startIndex
        guard segment >= pathStart, let dot = path[segment...].lastIndex(of: UInt8(ascii: ".")),
            dot > segment, dot < path.endIndex - 1
        else { return bytes.endIndex }
        return dot
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
        let settings = output.said.map { setting, text in
            setting.placeholder == nil ? ",\(setting.name)" : ",\(setting.name)=\(text)"
        }.joined()
        return "Imagebus(\(format)\(quality)\(output.lossless ? ",lossless" : "")\(compression)"
            + "\(settings))"
    }
}
