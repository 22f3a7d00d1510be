/// Builds the text of cache keys: SDWebImage's key, produced by string operations on the unparsed
/// URL, followed by one canonical suffix for everything SDWebImage omits (SEMANTICS §4.4).
public enum CacheKey {
    /// Returns the key of the source bytes: the URL or its replacement, plus suffixes for the
    /// identity and for unverified TLS.
    public static func original(url: SourceURL, terms: LoadTerms) -> String {
        inserting(suffixes(of: terms), into: base(url, terms))
    }

    /// Returns the key of the result: frame or frames, thumbnail, transformers, output, identity
    /// and TLS, in that order.
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

    /// Suffixes that separate entries regardless of the other options: the identity, and whether
    /// the origin's certificate was verified.
    private static func suffixes(of terms: LoadTerms) -> [String] {
        (terms.identity.map { ["Auth(\($0))"] } ?? [])
            + (terms.transfer.isUnverified ? [unverified] : [])
    }

    private static let unverified = "TLS(unverified)"

    private static func inserting(_ suffixes: [String], into key: String) -> String {
        suffixes.isEmpty ? key : inserting(suffixes.joined(separator: "-"), into: key)
    }

    /// An overlay is represented by the stored text of its original, which includes its identity
    /// and cache. As with the image itself, no key contains a version of the content.
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

    /// Returns the text that suffixes are inserted into: the URL without user info, or its
    /// replacement.
    public static func base(_ url: SourceURL, _ terms: LoadTerms) -> String {
        switch terms.base {
        case .url: url.withoutUserInfo
        case .filtered(let text), .own(let text), .entry(let text): text
        }
    }

    // MARK: - Stored texts

    /// Separates the name of a cache from the key.
    private static let cacheEnd = "\u{1F}"
    /// Separates the key from its owner.
    private static let ownerStart = "\u{1E}"
    /// Follows the owner if TLS was not verified, so that no URL can produce the key of such an
    /// entry.
    private static let unverifiedMark = "!"

    /// Returns the text under which the cache process stores a key: `cache␟key␞owner`, without the
    /// cache for the default one, and without the owner for entries accessible to everyone. URLs,
    /// base keys and names contain no control characters, so the parts are always separable: no
    /// text chosen by a client can produce the key of another cache or identity or, if it replaces
    /// a URL, that of a URL.
    public static func stored(_ key: String, in cache: String, _ terms: LoadTerms) -> String {
        var owner = terms.identity ?? ""
        if case .own = terms.base { owner = "=\(owner)" }
        if terms.transfer.isUnverified { owner += unverifiedMark }
        let key = owner.isEmpty ? key : "\(key)\(ownerStart)\(owner)"
        return cache.isEmpty ? key : "\(cache)\(cacheEnd)\(key)"
    }

    /// Returns the stored text of the same key in another cache; empty for the default cache.
    public static func moved(_ text: String, to cache: String) -> String {
        let bytes = text.utf8
        let key = bytes.firstIndex(of: 0x1F).map { text[bytes.index(after: $0)...] } ?? text[...]
        return cache.isEmpty ? String(key) : "\(cache)\(cacheEnd)\(key)"
    }

    /// Returns the stored text of the entry that replies show as `key`, from its cache, its
    /// `-Auth(…)` and its `-TLS(unverified)`. Entries under keys chosen by clients can't be found
    /// this way because their keys are not marked as such.
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

    /// Returns the key within a stored text.
    public static func key(inStored text: String) -> String {
        guard text.hasByte(where: { $0 == 0x1F || $0 == 0x1E }) else { return text }
        let bytes = Array(text.utf8)
        return String(decoding: bytes[keyRange(inStored: bytes)], as: UTF8.self)
    }

    /// Returns the stored text of a variant of a response that depends on request headers; `digest`
    /// is computed from their values. The suffix is inserted into the key part only.
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

    /// Inserts `-suffix` before the extension of the last path segment, or at the very end without
    /// one (SEMANTICS §4.3). The dot of an extension is neither first nor last in its segment.
    public static func inserting(_ suffix: String, into key: String) -> String {
        let bytes = Array(key.utf8)
        let place = suffixPlace(in: bytes)
        return String(decoding: bytes[..<place], as: UTF8.self) + "-\(suffix)"
            + String(decoding: bytes[place...], as: UTF8.self)
    }

    /// Returns the position of suffixes: before the dot of the extension, or at the end.
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

    /// Returns where the path of a URL begins: after the authority, so that the dots of a host name
    /// are not taken for an extension.
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
        let settings = output.explicitSettings.map { setting, text in
            setting.placeholder == nil ? ",\(setting.name)" : ",\(setting.name)=\(text)"
        }.joined()
        return "Imagebus(\(format)\(quality)\(output.lossless ? ",lossless" : "")\(compression)"
            + "\(settings))"
    }
}

extension CacheKey {
    /// Returns the cache of a stored text; empty for the default one.
    public static func cache(inStored text: String) -> String {
        let bytes = text.utf8
        guard let end = bytes.firstIndex(of: 0x1F) else { return "" }
        return String(text[..<end])
    }

    /// Returns whether a key belongs to the original of a URL or to something derived from it: the
    /// URL itself, or the URL with suffixes such as `-SDImageFlippingTransformer(1,0)` before its
    /// extension. The replacement of a URL under a key filter is treated in the same way.
    ///
    /// Keys don't mark where a URL ends, so a URL that looks like such a suffix is taken for a
    /// variant: `a-Auth(1).jpg` of `a.jpg`.
    public static func isOf(_ url: String, _ key: String) -> Bool {
        if key == url { return true }
        let (whole, bytes) = (Array(url.utf8), Array(withoutVariance(key).utf8))
        if bytes == whole { return true }
        let place = suffixPlace(in: whole)
        let (stem, rest) = (whole[..<place], whole[place...])
        guard bytes.count > whole.count + 2, bytes.starts(with: stem),
            bytes[place] == UInt8(ascii: "-"), bytes.suffix(rest.count).elementsEqual(rest)
        else { return false }
        return isSuffix(bytes[(place + 1)..<(bytes.count - rest.count)])
    }

    /// Removes the suffix for request headers, which comes after all others: after the extension,
    /// if one of these contains a character that ends a path.
    private static func withoutVariance(_ key: String) -> Substring {
        guard key.hasSuffix(")"), let mark = key.ranges(of: "-Vary(").last,
            key[mark.upperBound...].dropLast().allSatisfy(\.isHexDigit)
        else { return key[...] }
        return key[..<mark.lowerBound]
    }

    /// The prefixes of key suffixes.
    private static let beginnings = [
        "SDImage", "Imagebus", "Thumbnail(", "Frame(", "Page(", "Auth(", "Vary(", "Overlay",
    ]

    private static func isSuffix(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.last == UInt8(ascii: ")")
            && beginnings.contains { bytes.starts(with: $0.utf8) }
    }
}

/// The revision of the pipeline that produces results, including pixels, colors and metadata.
///
/// It is incremented with every change that makes older results wrong, such as retaining metadata
/// that is removed today. Entries of an older revision are regenerated (SEMANTICS §5.27).
public enum PipelineRevision {
    /// The revision of this version; 0 stands for versions without revisions.
    public static let current: UInt16 = 2
    package static let range: ClosedRange<UInt16> = 0...4_095
}

extension CacheKey {
    /// Returns whether the text may be the key of a result rather than of an original: each suffix
    /// of a result has arguments in parentheses (SEMANTICS §4.4). A URL may contain parentheses,
    /// too; the only consequence is that its original of an older revision is fetched again.
    package static func mayBeDerived(_ text: String) -> Bool {
        text.hasByte { $0 == UInt8(ascii: "(") }
    }
}

/// Points per pixel, derived from the text of a key (SEMANTICS §4.8).
public enum ScaleFactor {
    private static let bytesMin = 8

    /// Returns 2 or 3 if the key has at least 8 bytes and contains `@2x.` or `@3x.` (in http and
    /// https keys also `%402x.` or `%403x.`), otherwise 1.
    public static func of(key: String) -> Double {
        let bytes = Array(key.utf8)
        guard bytes.count >= bytesMin else { return 1 }
        let isHTTP = isHTTP(bytes)
        for index in bytes.indices.dropLast() where bytes[index] == UInt8(ascii: "x") {
            guard bytes[index + 1] == UInt8(ascii: "."), index >= 2 else { continue }
            let digit = bytes[index - 1]
            guard digit == UInt8(ascii: "2") || digit == UInt8(ascii: "3") else { continue }
            let before = bytes[..<(index - 1)]
            if before.last == UInt8(ascii: "@")
                || (isHTTP && before.suffix(3).elementsEqual("%40".utf8))
            {
                return digit == UInt8(ascii: "2") ? 2 : 3
            }
        }
        return 1
    }

    private static func isHTTP(_ bytes: [UInt8]) -> Bool {
        let start = String(decoding: bytes.prefix(8), as: UTF8.self).lowercased()
        return start.hasPrefix("http://") || start.hasPrefix("https://")
    }
}
