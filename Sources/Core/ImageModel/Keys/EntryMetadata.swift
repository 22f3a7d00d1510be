/// Words by which entries of the caches are found again, whatever their URLs are
/// (SEMANTICS §5.20).
public enum CacheTag {
    /// Bytes of one at most.
    public static let bytesMax = 64
    /// Tags that a request says at most, that a profile or a rule says, and that a header of an
    /// origin may name.
    public static let countMax = 16
    /// Tags that an entry has at most.
    public static let entryMax = 48

    /// Whether it is one: 1 to `bytesMax` letters and digits of ASCII, and `.`, `_`, `:` and `-`.
    public static func isTag(_ text: some StringProtocol) -> Bool {
        (1...bytesMax).contains(text.utf8.count) && text.utf8.allSatisfy(isPart)
    }

    /// Throws `invalidRequest` where there are too many, or one of them is none.
    public static func check(_ tags: [String]) throws(ImageError) {
        guard tags.count <= countMax else {
            throw ImageError(.invalidRequest, "a request has at most \(countMax) tags")
        }
        for tag in tags where !isTag(tag) { throw noTag(tag) }
    }

    /// What is said of a text that is no tag.
    public static func noTag(_ text: String) -> ImageError {
        ImageError(.invalidRequest, "'\(text.prefix(bytesMax))' is no tag: \(expected)")
    }

    /// What a tag is, for people.
    public static let expected =
        "1 to \(bytesMax) letters, digits, '.', '_', ':' and '-'"

    /// Adds tags that are not there yet; beyond `entryMax` there is no room for more.
    public static func unite(_ tags: inout [String], with others: [String]) {
        for tag in others where tags.count < entryMax && !tags.contains(tag) { tags.append(tag) }
    }

    /// Both, in this order.
    public static func union(_ tags: [String], _ others: [String]) -> [String] {
        if others.isEmpty { return tags }
        var all = tags
        unite(&all, with: others)
        return all
    }

    /// Those that an origin names: `Cache-Tag`, separated by commas, and `Surrogate-Key`, by
    /// spaces. What is no tag is left out, and so is what is behind `countMax`.
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
        // Several fields of one name are joined by commas.
        return field.utf8.split { $0 == separator || $0 == UInt8(ascii: ",") }.map { part in
            let front = part.drop { $0 == 0x20 || $0 == 0x09 }
            let end = front.lastIndex { $0 != 0x20 && $0 != 0x09 }
            return end.map { String(Substring(front[...$0])) } ?? ""
        }
    }

    private static func isPart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "-"): true
        default: false
        }
    }
}

/// SHA-256 of the bytes of an entry or a reply (FIPS 180-4, SEMANTICS §5.22).
public struct ContentDigest: Hashable, Sendable {
    /// Its bytes.
    public static let byteCount = 32

    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// `nil` unless there are 32 of them.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.init(Array(bytes).span.bytes)
    }

    /// The same of bytes that lie in one piece.
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

    /// As the field `Repr-Digest` says it (RFC 9530 §3): `sha-256=:…:`, in Base64.
    public var reprDigest: String { "sha-256=:\(Base64Text.text(bytes)):" }

    /// Whether both are of the same bytes.
    public static func == (one: Self, other: Self) -> Bool { one.words == other.words }

    /// Its words.
    public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

/// Bytes of a caller's own beside an image, kept with its entry and never looked at
/// (`sd_extendedObject`, SEMANTICS §5.21).
public struct ExtendedData: Hashable, Sendable {
    /// What they are, as a media type such as `application/json`.
    public var mediaType: String
    /// The bytes: 1 to `bytesMax`.
    public var bytes: [UInt8]

    /// Bytes at most.
    public static let bytesMax = 4_096
    /// Bytes of the media type at most (RFC 6838 §4.2: two names of 127).
    public static let mediaTypeBytesMax = 255
    /// The type of bytes of which nothing is said.
    public static let unknownType = "application/octet-stream"

    /// Some bytes.
    public init(_ bytes: [UInt8], mediaType: String = ExtendedData.unknownType) {
        (self.bytes, self.mediaType) = (bytes, mediaType)
    }

    /// Throws `invalidRequest` where there are too many bytes or none, or the type is none.
    public func check() throws(ImageError) {
        guard (1...Self.bytesMax).contains(bytes.count) else {
            throw ImageError(
                .invalidRequest, "extended data has 1 to \(Self.bytesMax) bytes, not \(bytes.count)"
            )
        }
        guard Self.isMediaType(mediaType) else {
            throw ImageError(
                .invalidRequest, "the media type of extended data is none: say one as image/jpeg is"
            )
        }
    }

    /// Whether a text may be one: visible ASCII of 255 bytes at most with a slash inside.
    public static func isMediaType(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count <= mediaTypeBytesMax, bytes.allSatisfy({ (0x21...0x7E).contains($0) }),
            let slash = bytes.firstIndex(of: UInt8(ascii: "/"))
        else { return false }
        return slash > 0 && slash < bytes.count - 1
    }
}

extension ImageError {
    /// Nothing is put, and extended data comes along.
    package static let extendedDataOfNothing = ImageError(
        .invalidRequest,
        "extended data is of an image that is put into a cache, and of no other load")
}
