/// The start of an XML document (XML 1.0, 2.8): what may stand in front of its first element, and
/// the name of that.
///
/// The bytes are a stranger's and may be no XML at all. Each is looked at once.
struct MarkupStart {
    private let bytes: [UInt8]
    private var place = 0

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The name of the first element of a document that begins with these bytes, without the prefix
    /// of a namespace; `nil` where it does not stand in them whole.
    static func root(of bytes: [UInt8]) -> String? {
        var start = MarkupStart(bytes: bytes)
        return start.root()
    }

    /// What stands in the tag of that element behind its name; `nil` where it does not stand in
    /// the bytes whole.
    static func rootTag(of bytes: [UInt8]) -> ArraySlice<UInt8>? {
        var start = MarkupStart(bytes: bytes)
        guard start.root() != nil else { return nil }
        let first = start.place
        var quote: UInt8?
        while start.place < bytes.count {
            let byte = bytes[start.place]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                return bytes[first..<start.place]
            }
            start.place += 1
        }
        return nil
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func root() -> String? {
        _ = take(Self.byteOrderMark)
        while true {
            skip(while: Self.isSpace)
            if take(Array("<?".utf8)) {
                guard skip(behind: Array("?>".utf8)) else { return nil }
            } else if take(Array("<!--".utf8)) {
                guard skip(behind: Array("-->".utf8)) else { return nil }
            } else if take(Array("<!DOCTYPE".utf8)) {
                guard skipDocumentType() else { return nil }
            } else {
                return take([UInt8(ascii: "<")]) ? name() : nil
            }
        }
    }

    /// Up to the end of the declaration, over brackets and quotes in it.
    private mutating func skipDocumentType() -> Bool {
        var isInBrackets = false
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                guard skip(behind: [byte]) else { return false }
            case UInt8(ascii: "["): isInBrackets = true
            case UInt8(ascii: "]"): isInBrackets = false
            case UInt8(ascii: ">") where !isInBrackets: return true
            default: break
            }
        }
        return false
    }

    private mutating func name() -> String? {
        let start = place
        skip { !Self.isSpace($0) && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/") }
        guard place < bytes.count, place > start else { return nil }
        let whole = bytes[start..<place]
        let colon = whole.lastIndex(of: UInt8(ascii: ":"))
        return String(decoding: colon.map { whole[($0 + 1)...] } ?? whole, as: UTF8.self)
    }

    private mutating func take(_ text: [UInt8]) -> Bool {
        guard bytes[place...].starts(with: text) else { return false }
        place += text.count
        return true
    }

    private mutating func skip(while holds: (UInt8) -> Bool) {
        while place < bytes.count, holds(bytes[place]) { place += 1 }
    }

    /// False where the text does not come.
    private mutating func skip(behind text: [UInt8]) -> Bool {
        while place < bytes.count {
            if take(text) { return true }
            place += 1
        }
        return false
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
}
