extension CacheKey {
    /// The cache of which a stored text is; empty for the default one.
    public static func cache(inStored text: String) -> String {
        let bytes = text.utf8
        guard let end = bytes.firstIndex(of: 0x1F) else { return "" }
        return String(text[..<end])
    }

    /// Whether a key is that of the original of a URL, or of something that was made of it: the
    /// URL itself, or the URL with suffixes such as `-SDImageFlippingTransformer(1,0)` before its
    /// extension. What stands for a URL under a key filter is taken in the same way.
    ///
    /// Keys do not say where a URL ends, so a URL that itself looks like such a suffix is taken for
    /// a variant: `a-Auth(1).jpg` of `a.jpg`.
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

    /// What depends on header fields has its suffix behind all others: after the extension, where
    /// one of these has a character that ends a path.
    private static func withoutVariance(_ key: String) -> Substring {
        guard key.hasSuffix(")"), let mark = key.ranges(of: "-Vary(").last,
            key[mark.upperBound...].dropLast().allSatisfy(\.isHexDigit)
        else { return key[...] }
        return key[..<mark.lowerBound]
    }

    /// How the suffixes of keys begin.
    private static let beginnings = [
        "SDImage", "Imagebus", "Thumbnail(", "Frame(", "Page(", "Auth(", "Vary(", "Overlay",
    ]

    private static func isSuffix(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.last == UInt8(ascii: ")")
            && beginnings.contains { bytes.starts(with: $0.utf8) }
    }
}
