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
