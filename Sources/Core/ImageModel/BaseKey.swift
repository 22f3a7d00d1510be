/// What takes the place of the URL in cache keys (SEMANTICS §4.2).
public enum BaseKey: Hashable, Sendable {
    /// A filter of the configuration, by name, applied to the URL.
    case filter(String)
    /// This very text, up to `RequestLimits.urlBytesMax` bytes without control characters. Who asks
    /// is in the key all the same.
    case text(String)
}
