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
