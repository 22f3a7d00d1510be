/// Tags by which cache entries can be selected independently of their URLs (SEMANTICS §5.20).
public enum CacheTag {
    /// The maximum number of bytes of a tag.
    public static let bytesMax = 64
    /// The maximum number of tags in a request, in a profile or rule, and in a header of an origin.
    public static let countMax = 16
    /// The maximum number of tags of an entry.
    public static let entryMax = 48

    /// Returns whether the text is a valid tag: 1 to `bytesMax` ASCII letters, digits, `.`, `_`,
    /// `:` and `-`.
    public static func isTag(_ text: some StringProtocol) -> Bool {
        (1...bytesMax).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isLetterOrDigit || "._:-".utf8.contains($0) }
    }

    /// Throws `invalidRequest` if there are too many tags or an invalid one.
    public static func check(_ tags: [String]) throws(ImageError) {
        try ImageError.require(tags.count <= countMax, "a request accepts at most \(countMax) tags")
        for tag in tags where !isTag(tag) { throw noTag(tag) }
    }

    /// The error for an invalid tag.
    public static func noTag(_ text: String) -> ImageError {
        ImageError(
            .invalidRequest, "'\(text.prefix(bytesMax))' is not a valid tag: expected \(expected)")
    }

    /// The syntax of a tag, for people.
    public static let expected =
        "1 to \(bytesMax) letters, digits, '.', '_', ':' and '-'"

    /// Adds tags without duplicates, up to `entryMax`.
    public static func unite(_ tags: inout [String], with others: [String]) {
        for tag in others where tags.count < entryMax && !tags.contains(tag) { tags.append(tag) }
    }

    /// Returns both lists without duplicates, in this order.
    public static func union(_ tags: [String], _ others: [String]) -> [String] {
        if others.isEmpty { return tags }
        var all = tags
        unite(&all, with: others)
        return all
    }

    /// Returns the tags that an origin sent: `Cache-Tag`, separated by commas, and `Surrogate-Key`,
    /// by spaces. Invalid tags and those beyond `countMax` are omitted.
    public static func ofOrigin(cacheTag: String?, surrogateKey: String?) -> [String] {
        let first = words(cacheTag, separatedBy: UInt8(ascii: ","))
        let second = words(surrogateKey, separatedBy: UInt8(ascii: " "))
        var tags: [String] = []
        for word in first + second where tags.count < countMax {
            if isTag(word), !tags.contains(word) { tags.append(word) }
        }
        return tags
    }

    private static func words(_ field: String?, separatedBy separator: UInt8) -> [String] {
        guard let field else { return [] }
        // Repeated fields are joined by commas.
        return field.utf8.split { $0 == separator || $0 == UInt8(ascii: ",") }.map { part in
            let front = part.drop { $0 == 0x20 || $0 == 0x09 }
            let end = front.lastIndex { $0 != 0x20 && $0 != 0x09 }
            return end.map { String(Substring(front[...$0])) } ?? ""
        }
    }
}

/// The SHA-256 of the bytes of an entry or a reply (FIPS 180-4, SEMANTICS §5.22).
public struct ContentDigest: Hashable, Sendable {
    /// The size in bytes.
    public static let byteCount = 32

    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// Returns `nil` unless there are exactly 32 bytes.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.init(Array(bytes).span.bytes)
    }

    /// The same for contiguous bytes.
    public init?(_ bytes: RawSpan) {
        guard bytes.byteCount == Self.byteCount else { return nil }
        func word(at offset: Int) -> UInt64 {
            bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self).bigEndian
        }
        words = (word(at: 0), word(at: 8), word(at: 16), word(at: 24))
    }

    /// The 32 bytes.
    public var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.byteCount) { buffer, count in
            let memory = UnsafeMutableRawBufferPointer(buffer)
            memory.storeBytes(of: words.0.bigEndian, toByteOffset: 0, as: UInt64.self)
            memory.storeBytes(of: words.1.bigEndian, toByteOffset: 8, as: UInt64.self)
            memory.storeBytes(of: words.2.bigEndian, toByteOffset: 16, as: UInt64.self)
            memory.storeBytes(of: words.3.bigEndian, toByteOffset: 24, as: UInt64.self)
            count = Self.byteCount
        }
    }

    /// The `Repr-Digest` field (RFC 9530 §3): `sha-256=:…:`, in Base64.
    public var reprDigest: String { "sha-256=:\(Base64Text.text(bytes)):" }

    /// Compares all bytes.
    public static func == (one: Self, other: Self) -> Bool { one.words == other.words }

    /// Hashes the first word, which is sufficient for a digest.
    public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

/// A caller's own bytes attached to an image, stored with its entry and never interpreted
/// (`sd_extendedObject`, SEMANTICS §5.21).
public struct ExtendedData: Hashable, Sendable {
    /// The media type, such as `application/json`.
    public var mediaType: String
    /// The bytes: 1 to `bytesMax`.
    public var bytes: [UInt8]

    /// The maximum number of bytes.
    public static let bytesMax = 4_096
    /// The maximum length of the media type in bytes (RFC 6838 §4.2: two names of 127).
    public static let mediaTypeBytesMax = 255
    /// The default media type.
    public static let unknownType = "application/octet-stream"

    /// Creates extended data; `check` validates it.
    public init(_ bytes: [UInt8], mediaType: String = ExtendedData.unknownType) {
        (self.bytes, self.mediaType) = (bytes, mediaType)
    }

    /// Throws `invalidRequest` if the number of bytes or the media type is invalid.
    public func check() throws(ImageError) {
        try ImageError.require(
            (1...Self.bytesMax).contains(bytes.count),
            "extended data must have 1 to \(Self.bytesMax) bytes, not \(bytes.count)")
        try ImageError.require(
            Self.isMediaType(mediaType),
            "the media type of extended data is invalid: use one such as image/jpeg")
    }

    /// Returns whether a text may be a media type: visible ASCII of at most 255 bytes with a slash
    /// inside.
    public static func isMediaType(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count <= mediaTypeBytesMax, bytes.allSatisfy({ (0x21...0x7E).contains($0) }),
            let slash = bytes.firstIndex(of: UInt8(ascii: "/"))
        else { return false }
        return slash > 0 && slash < bytes.count - 1
    }
}

extension ImageError {
    /// The error for extended data in a request that stores no image.
    package static let extendedDataOfNothing = ImageError(
        .invalidRequest,
        "extended data requires a request that stores an image in a cache")
}
