/// The caching directives of an origin's response (`Cache-Control`, RFC 9111 §5.2.2, RFC 5861,
/// RFC 8246).
public struct CacheControl: Hashable, Sendable {
    /// `no-store`: the response must not be stored.
    public var forbidsStoring = false
    /// `private`: only a private cache may store the response.
    public var isPrivate = false
    /// `public`: any cache may store the response.
    public var isPublic = false
    /// `no-cache`: the response must be revalidated before each use.
    public var mustAlwaysRevalidate = false
    /// `must-revalidate`: the response must never be served stale.
    public var mustRevalidate = false
    /// `proxy-revalidate`: the same for shared caches.
    public var proxyRevalidate = false
    /// `immutable`: the content does not change while it is fresh.
    public var isImmutable = false
    /// `no-transform`: intermediaries must not transform the response.
    public var forbidsTransforming = false
    /// The freshness lifetime in seconds; 0 if the value is not a number or is stated twice with
    /// different values (RFC 9111 §4.2.1).
    public var maxAge: Int64?
    /// The same for shared caches (`s-maxage`).
    public var sharedMaxAge: Int64?
    /// Seconds for which the response may be served stale while it is revalidated (RFC 5861 §3).
    public var staleWhileRevalidate: Int64?
    /// Seconds for which the response may be served stale if the origin fails (RFC 5861 §4).
    public var staleIfError: Int64?

    /// Parses the field as received. Restrictive directives apply with and without a list of
    /// fields. Directives that grant freshness are ignored in a field with unterminated quotes.
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

    /// A value that is not a number counts as 0, and so do two different values.
    private static func note(_ value: String?, in seconds: inout Int64?) {
        let stated = value.flatMap { DeltaSeconds.parse($0) } ?? 0
        seconds = seconds == nil || seconds == stated ? stated : 0
    }

    /// The directives serialized as a field; `nil` if there are none.
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

/// Splits a `Cache-Control` field into directives, respecting quotes (RFC 9111 §5.2).
struct CacheDirectives {
    /// The directives in order: lowercase names, and unquoted values.
    private(set) var all: [(name: String, value: String?)] = []
    /// Whether a quote is unterminated, so that directives can't be separated reliably.
    private(set) var isBroken = false

    init(_ field: String) {
        var parts: [[UInt8]] = [[]]
        var (isQuoted, isEscaped) = (false, false)
        for byte in field.utf8 {
            if byte == UInt8(ascii: ","), !isQuoted {
                parts.append([])
                continue
            }
            if byte == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && !isEscaped && byte == UInt8(ascii: "\\")
            parts[parts.count - 1].append(byte)
        }
        isBroken = isQuoted
        if isBroken {
            parts = Array(field.utf8).split(separator: UInt8(ascii: ",")).map { Array($0) }
        }
        all = parts.map(Self.directive).filter { !$0.name.isEmpty }
    }

    private static func directive(_ bytes: [UInt8]) -> (name: String, value: String?) {
        let bytes = trimmed(bytes[...])
        let end = bytes.firstIndex(of: UInt8(ascii: "=")) ?? bytes.endIndex
        let name = String(decoding: trimmed(bytes[..<end]), as: UTF8.self).lowercased()
        guard end < bytes.endIndex else { return (name, nil) }
        // The grammar permits no spaces around `=`, so the value is invalid.
        if end > bytes.startIndex, isSpace(bytes[end - 1]) { return (name, "") }
        return (name, unquoted(bytes[(end + 1)...]))
    }

    private static func unquoted(_ bytes: ArraySlice<UInt8>) -> String {
        let quote = UInt8(ascii: "\"")
        guard bytes.count >= 2, bytes.first == quote, bytes.last == quote else {
            return String(decoding: bytes, as: UTF8.self)
        }
        return String(decoding: bytes.dropFirst().dropLast(), as: UTF8.self)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let front = bytes.drop(while: isSpace)
        let end = front.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? front.startIndex
        return front[..<end]
    }
}

/// The kind of cache that an entry is stored in (RFC 9111 §1).
public enum CacheRole: Hashable, Sendable {
    /// Shared by all clients.
    case shared
    /// Only for requests with the same credentials.
    case personal
    /// Private in any case; the origin's directives are ignored.
    case heedless

    /// Returns whether a response with these directives may be stored.
    public func mayKeep(_ control: CacheControl) -> Bool {
        switch self {
        case .shared: !control.forbidsStoring && !control.isPrivate
        case .personal: !control.forbidsStoring
        case .heedless: true
        }
    }
}

/// The delta-seconds values of HTTP (RFC 9111 §1.2.2).
public enum DeltaSeconds {
    /// The maximum; larger values are clamped to it, including those that overflow.
    public static let most: Int64 = 1 << 31

    /// Returns `nil` unless the text consists of digits.
    static func parse(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty else { return nil }
        var sum: Int64 = 0
        for byte in text.utf8 {
            guard (0x30...0x39).contains(byte) else { return nil }
            sum = min(sum * 10 + Int64(byte - 0x30), most)
        }
        return sum
    }
}
