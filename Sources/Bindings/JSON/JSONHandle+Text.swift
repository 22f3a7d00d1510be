internal import CJansson

extension JSONHandle {
    /// The value as text: no spaces, names in the order of their bytes.
    func text() throws(JSONError) -> String {
        var spelling = JSONSpelling()
        let status = withUnsafeMutablePointer(to: &spelling) { spelling in
            json_dump_callback(
                value,
                { bytes, count, spelling in
                    let piece = UnsafeRawBufferPointer(start: bytes, count: count)
                    spelling?.assumingMemoryBound(to: JSONSpelling.self).pointee.append(piece)
                    return 0
                }, spelling, Int(JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY))
        }
        guard status == 0 else { throw JSONError("there is no memory for the text") }
        return String(decoding: spelling.bytes, as: UTF8.self)
    }
}

/// What jansson writes, with numbers as Swift describes them and escapes in small letters.
///
/// jansson writes 0.1 with the 17 digits that are always enough; Swift takes as few as say the
/// same. jansson hands over each quote, each escape and each number in a piece of its own, and a
/// number that is no integer always has a point or an exponent.
struct JSONSpelling {
    private(set) var bytes: [UInt8] = []
    private var isInText = false

    mutating func append(_ piece: UnsafeRawBufferPointer) {
        if piece.count == 1, piece[0] == UInt8(ascii: "\"") { isInText.toggle() }
        if isInText {
            bytes += piece.first == UInt8(ascii: "\\") ? Self.small(piece) : Array(piece)
        } else {
            bytes += Self.number(piece) ?? Array(piece)
        }
    }

    /// `\u001B` → `\u001b`.
    private static func small(_ escape: UnsafeRawBufferPointer) -> [UInt8] {
        escape.map { UInt8(ascii: "A")...UInt8(ascii: "F") ~= $0 ? $0 | 0x20 : $0 }
    }

    /// `0.10000000000000001` → `0.1`, `5.0` → `5`; nil for what is no such number.
    private static func number(_ piece: UnsafeRawBufferPointer) -> [UInt8]? {
        guard piece.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "e") }),
            let number = Double(String(decoding: piece, as: UTF8.self))
        else { return nil }
        let text = Array(number.description.utf8)
        return text.suffix(2) == Array(".0".utf8)[...] ? text.dropLast(2) : text
    }
}
