/// One entry of EXIF as libvips says it, which reads it by libexif:
/// `VALUE (VALUE IN WORDS, FORMAT, N components, M bytes)`, a number as `28/5` or `400`.
struct ExifEntry {
    /// libvips cuts texts off behind so many bytes.
    private static let textBytesMax = 254

    private let said: [UInt8]

    init(_ said: [UInt8]) { self.said = said }

    /// A text, whatever is in it: it ends where the rest begins, after as many bytes as the entry
    /// has at most. Where libvips cut off what it said, all that it said is the text.
    var text: ArraySlice<UInt8>? {
        guard let byteCount else { return said[...] }
        let longest = min(Self.textBytesMax, byteCount, said.count)
        for end in stride(from: longest, through: 0, by: -1)
        where said[end...].starts(with: " (".utf8) {
            return said[..<end]
        }
        return nil
    }

    /// Its numbers; fractions over 0 are none.
    var numbers: [Double] {
        let value = said.prefix { $0 != UInt8(ascii: "(") }
        return value.split(separator: UInt8(ascii: " ")).compactMap { Self.number($0) }
    }

    private static func number(_ text: ArraySlice<UInt8>) -> Double? {
        let parts = text.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { Double(String(decoding: $0, as: UTF8.self)) }
        guard let above = parts[0], above.isFinite else { return nil }
        guard parts.count > 1 else { return above }
        guard parts.count == 2, let below = parts[1], below != 0, below.isFinite else { return nil }
        return above / below
    }

    /// The M at the end.
    private var byteCount: Int? {
        let end = Array(" bytes)".utf8)
        guard said.count > end.count, said.suffix(end.count).elementsEqual(end) else { return nil }
        let digits = said.dropLast(end.count).reversed().prefix { (0x30...0x39).contains($0) }
        return Int(String(decoding: digits.reversed(), as: UTF8.self))
    }
}
