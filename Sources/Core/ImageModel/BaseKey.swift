/// What takes the place of the URL in cache keys (SEMANTICS §4.2).
public enum BaseKey: Hashable, Sendable {
    /// A filter of the configuration, by name, applied to the URL.
    case filter(String)
    /// This very text, up to `RequestLimits.urlBytesMax` bytes without control characters. Who asks
    /// is in the key all the same.
    case text(String)

    /// By bytes, as caches do: Swift compares texts by meaning.
    public static func == (one: BaseKey, other: BaseKey) -> Bool {
        switch (one, other) {
        case (.filter(let one), .filter(let other)), (.text(let one), .text(let other)):
            one.utf8.elementsEqual(other.utf8)
        case (.filter, .text), (.text, .filter): false
        }
    }
}
