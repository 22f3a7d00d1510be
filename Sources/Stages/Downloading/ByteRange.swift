import Curl

/// Which bytes of a body a 206 has (RFC 9110 §14.4): `bytes 100-199/200`.
struct ByteRange: Equatable {
    let first: Int
    let last: Int
    /// Bytes of the whole body; nil where the origin does not say.
    let total: Int?

    /// Nil for another unit, a range that ends before it begins or behind the body, and all that is
    /// no `Content-Range` of a part.
    init?(_ field: String) {
        let words = field.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
            first <= last
        else { return nil }
        (self.first, self.last) = (first, last)
        if parts[1] == "*" {
            total = nil
        } else {
            guard let total = Self.number(parts[1]), last < total else { return nil }
            self.total = total
        }
    }

    /// Digits alone: a sign is none of them.
    private static func number(_ text: Substring) -> Int? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
    }
}
