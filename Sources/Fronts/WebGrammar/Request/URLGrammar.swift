/// How the paths of one listener are read: one of imgproxy's, thumbor's and IIIF's grammars
/// (`Proto/WEB.md`). It reads text and knows nothing of sockets or clocks.
public protocol URLGrammar: Sendable {
    /// What a request target wants: the bytes as they came, nothing decoded. What is behind its
    /// first `?` is not looked at.
    ///
    /// - Parameter now: seconds since 1970, for targets that expire.
    func read(_ target: [UInt8], now: Int) throws(GrammarError) -> WebRequest

    /// What stands behind the signature of a target: options as the grammar writes them, without
    /// slashes around them, and the source, or for IIIF its identifier.
    func path(options: String, source: String) -> String

    /// The target of such a path: with a signature by the first key, or, without keys, with the
    /// word that stands for one.
    ///
    /// - Throws: `signature` where neither keys nor unsigned paths are known.
    func target(ofPath path: String) throws(GrammarError) -> String
}

/// Limits of a request target, whatever its grammar.
public enum GrammarLimits {
    /// Bytes of a target.
    public static let targetBytesMax = 8_192
    /// Options that a target names.
    public static let optionsMax = 64
    /// Options that a target comes to with those of its presets.
    public static let appliedMax = 256
    /// Bytes of a file name and of a cache buster.
    public static let textBytesMax = 255
}
