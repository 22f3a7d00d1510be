/// What an origin says of keeping its answer (`Cache-Control`, RFC 9111 §5.2.2, RFC 5861,
/// RFC 8246).
public struct CacheControl: Hashable, Sendable {
    /// Nobody keeps it.
    public var forbidsStoring = false
    /// It is for who asked, and for nobody else.
    public var isPrivate = false
    /// It is for everybody.
    public var isPublic = false
    /// Nobody is answered with it before the origin was asked.
    public var mustAlwaysRevalidate = false
    /// Nobody is answered with it once it is stale, whatever happens.
    public var mustRevalidate = false
    /// The same, for caches of several.
    public var proxyRevalidate = false
    /// Its bytes do not change while it is fresh.
    public var isImmutable = false
    /// Intermediaries must not transform it.
    public var forbidsTransforming = false
    /// Seconds for which it is fresh; 0 where the origin says what is no number, or two different
    /// ones (RFC 9111 §4.2.1).
    public var maxAge: Int64?
    /// The same for caches of several.
    public var sharedMaxAge: Int64?
    /// Seconds for which it may be served stale while the origin is asked (RFC 5861 §3).
    public var staleWhileRevalidate: Int64?
    /// Seconds for which it may be served stale where the origin fails (RFC 5861 §4).
    public var staleIfError: Int64?

    /// Reads the field as it came. What limits counts with and without a list of fields. A field
    /// whose quotes do not end says nothing that makes it fresh.
    public init(_ field: String?) {
        guard let field else { return }
        let directives = CacheDirectives(field)
        for (name, value) in directives.all {
            switch name {
            case "no-store": forbidsStoring = true
            case "private": isPrivate = true
            case "public": isPublic = true
            case "no-cache": mustAlwaysRevalidate = true
            case "must-revalidate": mustRevalidate = true
            case "proxy-revalidate": proxyRevalidate = true
            case "immutable": isImmutable = true
            case "no-transform": forbidsTransforming = true
            case "max-age": Self.note(value, in: &maxAge)
            case "s-maxage": Self.note(value, in: &sharedMaxAge)
            case "stale-while-revalidate": Self.note(value, in: &staleWhileRevalidate)
            case "stale-if-error": Self.note(value, in: &staleIfError)
            default: break
            }
        }
        if directives.isBroken { mustAlwaysRevalidate = true }
    }

    /// What is no number counts as 0, and so do two that differ.
    private static func note(_ value: String?, in seconds: inout Int64?) {
        let said = value.flatMap { DeltaSeconds.parse($0) } ?? 0
        seconds = seconds == nil || seconds == said ? said : 0
    }

    /// Its directives as a field again; `nil` where there are none.
    public var field: String? {
        let flags = [
            ("no-store", forbidsStoring), ("private", isPrivate), ("public", isPublic),
            ("no-cache", mustAlwaysRevalidate), ("must-revalidate", mustRevalidate),
            ("proxy-revalidate", proxyRevalidate), ("immutable", isImmutable),
            ("no-transform", forbidsTransforming),
        ]
        let numbers = [
            ("max-age", maxAge), ("s-maxage", sharedMaxAge),
            ("stale-while-revalidate", staleWhileRevalidate), ("stale-if-error", staleIfError),
        ]
        let words =
            flags.filter(\.1).map(\.0)
            + numbers.compactMap { name, seconds in seconds.map { "\(name)=\($0)" } }
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }
}
