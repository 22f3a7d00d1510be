/// A text in which `*` stands for any bytes, none included. Matching takes time in proportion to
/// the text and the pattern, whatever they are.
struct Glob: Hashable, Sendable {
    private let pieces: [Piece]

    /// What stands between two `*`, with the table of Knuth, Morris and Pratt.
    private struct Piece: Hashable, Sendable {
        let bytes: [UInt8]
        let borders: [Int]

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
            var borders = [Int](repeating: 0, count: bytes.count)
            var length = 0
            for index in bytes.indices.dropFirst() {
                while length > 0, bytes[index] != bytes[length] { length = borders[length - 1] }
                if bytes[index] == bytes[length] { length += 1 }
                borders[index] = length
            }
            self.borders = borders
        }

        /// The end of the first place of the piece in `text`.
        func firstEnd(in text: ArraySlice<UInt8>) -> Int? {
            if bytes.isEmpty { return text.startIndex }
            var length = 0
            for index in text.indices {
                while length > 0, text[index] != bytes[length] { length = borders[length - 1] }
                if text[index] == bytes[length] { length += 1 }
                if length == bytes.count { return index + 1 }
            }
            return nil
        }
    }

    init(_ text: String) {
        pieces = Array(text.utf8).split(
            separator: UInt8(ascii: "*"), omittingEmptySubsequences: false
        ).map { Piece(Array($0)) }
    }

    func matches(_ text: some Collection<UInt8>) -> Bool {
        let bytes = Array(text)
        guard let first = pieces.first, let last = pieces.last else { return bytes.isEmpty }
        guard pieces.count > 1 else { return bytes == first.bytes }
        guard bytes.count >= first.bytes.count + last.bytes.count,
            bytes.starts(with: first.bytes), bytes.suffix(last.bytes.count) == last.bytes[...]
        else { return false }
        var rest = bytes[first.bytes.count..<(bytes.count - last.bytes.count)]
        for piece in pieces.dropFirst().dropLast() {
            guard let end = piece.firstEnd(in: rest) else { return false }
            rest = rest[end...]
        }
        return true
    }
}
