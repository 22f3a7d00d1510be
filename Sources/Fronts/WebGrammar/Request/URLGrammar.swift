/// How the paths of one listener are read: one of imgproxy's, thumbor's and IIIF's grammars
/// (`Proto/WEB.md`). It reads text and knows nothing of sockets or clocks.
public protocol URLGrammar: Sendable {
    /// What a request target wants: the bytes as they came, nothing decoded. What is behind its
    /// first `?` is not looked at.
    ///
    /// - Parameter now: seconds since 1970, for targets that expire.
    func read(_ target: [UInt8], now: Int) throws(GrammarError) -> WebRequest
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
