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

/// The directives of a `Cache-Control` field one by one, quotes heeded (RFC 9111 §5.2).
struct CacheDirectives {
    /// In their order: names in lower case, and what stands behind `=`, without its quotes.
    private(set) var all: [(name: String, value: String?)] = []
    /// Whether quotes are open at the end: where a directive ends is not known then.
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
        // Spaces beside `=` are none of the grammar: the value is wrong then.
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

/// As what sort of cache entries are kept (RFC 9111 §1).
public enum CacheRole: Hashable, Sendable {
    /// For everybody who asks for the same.
    case shared
    /// For those alone who show the same credentials.
    case personal
    /// For whom they would be anyway; what origins say of that is not looked at.
    case heedless

    /// Whether an answer of which its origin says that may be kept.
    public func mayKeep(_ control: CacheControl) -> Bool {
        switch self {
        case .shared: !control.forbidsStoring && !control.isPrivate
        case .personal: !control.forbidsStoring
        case .heedless: true
        }
    }
}

/// A number of seconds as HTTP writes it (RFC 9111 §1.2.2).
public enum DeltaSeconds {
    /// Larger ones, and those that nobody can hold, count as this.
    public static let most: Int64 = 1 << 31

    /// `nil` for what is no row of digits.
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
