/// What a path of imgproxy's says behind its options.
struct ImgproxySource {
    let url: String
    /// The extension, if there is one.
    let format: String?

    init(
        _ parts: ArraySlice<String>, _ settings: ImgproxyGrammar.Settings
    ) throws(GrammarError) {
        guard let first = parts.first, !(parts.count == 1 && first.isEmpty) else {
            throw GrammarError(.malformed, "the URL of the source is missing: add plain/URL")
        }
        let isPlain = first == "plain" && parts.count > 1
        if first == "enc", parts.count > 1 {
            throw .notOffered("enc", "encrypted URLs are not read here: use plain or Base64")
        }
        let text = isPlain ? parts.dropFirst().joined(separator: "/") : parts.joined()
        let words = text.split(isPlain ? "@" : ".")
        guard words.count <= 2 else {
            if !isPlain, let slip = Self.slip(in: parts) { throw slip }
            throw GrammarError(
                .malformed,
                isPlain
                    ? "the URL has more than one @: encode those of the source as %40"
                    : "more than one format is named: name one")
        }
        let bytes = isPlain ? try PercentText.bytes(words[0]) : try Self.decoded(words[0], parts)
        url = try settings.sources.url(bytes)
        format = words.count > 1 && !words[1].isEmpty ? words[1] : nil
    }

    /// What was meant for an option begins what seems to be Base64, and is none.
    private static func slip(in parts: ArraySlice<String>) -> GrammarError? {
        guard let first = parts.first, parts.dropFirst().contains("plain") else { return nil }
        return .malformed(
            String(first.prefix(40)), "it is no option: before plain/ stands NAME:ARGUMENTS")
    }

    private static func decoded(
        _ text: String, _ parts: ArraySlice<String>
    ) throws(GrammarError) -> [UInt8] {
        guard let bytes = Base64URL.decode(text.utf8) else {
            if let slip = slip(in: parts) { throw slip }
            throw GrammarError(
                .malformed,
                "the source is no URL in Base64: encode it as RFC 4648 section 5 says, or write "
                    + "plain/ before it")
        }
        return bytes
    }
}
