import Model
import WebFront

/// The first byte selects the header field, and the rest is its text; for ranges, the next two
/// bytes are the body's length.
///
/// A negotiated format is one of those offered and has a nonzero weight; a range lies within the
/// body; absent fields change nothing.
enum WebHeaderTarget {
    static func run(_ bytes: [UInt8]) throws(BrokenInvariant) {
        var reader = ByteReader(bytes)
        switch reader.choice(4) {
        case 0: try checkAccept(String(decoding: reader.rest(), as: UTF8.self))
        case 1: try checkTags(String(decoding: reader.rest(), as: UTF8.self))
        case 2:
            let count: Int = Int(reader.byte()) << 8 | Int(reader.byte())
            try checkRange(String(decoding: reader.rest(), as: UTF8.self), of: count)
        default: try checkName(String(decoding: reader.rest(), as: UTF8.self))
        }
    }

    private static let formats: [ImageFormat] = [.avif, .webp, .jpeg, .png, .gif]
    private static let tag = "\"0123456789abcdef0123456789abcdef\""

    private static func checkAccept(_ text: String) throws(BrokenInvariant) {
        let header = AcceptHeader(text)
        let chosen = header.accepted(of: formats)
        try expect(Set(chosen).count == chosen.count, "no format is chosen twice")
        let weights = chosen.map { header.weight(of: $0) }
        try expect(weights.allSatisfy { (1...1_000).contains($0) }, "what is chosen has a weight")
        try expect(weights == weights.sorted(by: >), "the heaviest come first")
        let left = formats.filter { !chosen.contains($0) }
        try expect(left.allSatisfy { header.weight(of: $0) == 0 }, "what is left has none")
        for format in formats where header.names(format) {
            try expect(
                text.lowercased().contains(format.mimeType ?? "?"), "what is named is in the text")
        }
        try expect(AcceptHeader(text) == header, "a text is read the same again")
    }

    private static func checkTags(_ text: String) throws(BrokenInvariant) {
        let isKnown = Conditions(ifNoneMatch: text, ifRange: nil, range: nil).isUnmodified(tag)
        try expect(
            !isKnown || text.contains(tag) || text.contains("*"), "a tag that is known was said")
        let range = Conditions(ifNoneMatch: nil, ifRange: text, range: "bytes=0-0")
        let part = range.part(of: 9, under: tag)
        try expect(part == .whole || text.contains(tag), "a part is one of what is known")
    }

    private static func checkRange(_ text: String, of count: Int) throws(BrokenInvariant) {
        let conditions = Conditions(ifNoneMatch: nil, ifRange: nil, range: text)
        switch conditions.part(of: count, under: tag) {
        case .bytes(let range):
            try expect(
                range.lowerBound >= 0 && range.upperBound <= count && !range.isEmpty,
                "a part lies within the bytes")
            try expect(text.lowercased().contains("bytes"), "a part is asked for in bytes")
        case .none: try expect(text.contains("-"), "what lies behind the end was asked for")
        case .whole: break
        }
    }

    /// Checks a file name from the URL inside a field: it must not terminate the field.
    private static func checkName(_ text: String) throws(BrokenInvariant) {
        let field = FileDisposition.text(text, .png, isAttachment: text.utf8.count % 2 == 0)
        try expect(
            field.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "a field has no control bytes")
        try expect(
            field.utf8.count { $0 == UInt8(ascii: "\"") } == 2, "a name ends its quotes once")
    }
}
