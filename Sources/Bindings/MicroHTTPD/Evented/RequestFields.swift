/// What the fields of a head say that matters before anybody handles the request.
struct RequestFields {
    /// Where the next line has to begin.
    private(set) var line: UnsafePointer<CChar>
    /// Why the head is refused.
    var fault: HeadFault?
    /// How many fields of these names there are.
    private(set) var (hosts, lengths, codings) = (0, 0, 0)
    /// What Content-Length says; `.max` where that is beyond all numbers.
    private(set) var length = 0
    /// Whether the body comes in chunks.
    private(set) var isChunked = false
    /// Whether something is expected that nobody here does, and whether the client waits for a word
    /// before it sends the body.
    private(set) var (isUnexpected, waits) = (false, false)

    /// Fields whose first line begins there.
    init(line: UnsafePointer<CChar>) { self.line = line }

    /// Takes the next field. Name and value lie in its line, with a colon and blanks between.
    mutating func take(
        _ name: UnsafeBufferPointer<CChar>, _ value: UnsafeBufferPointer<CChar>
    ) throws(HeadFault) {
        guard let nameStart = name.baseAddress, let valueStart = value.baseAddress,
            nameStart == line, valueStart > nameStart + name.count
        else { throw .lines }
        line = valueStart + value.count + 2
        guard !name.isEmpty, name.allSatisfy({ HeadCharacters.isOfToken(UInt8(bitPattern: $0)) })
        else { throw .name }
        guard value.allSatisfy({ HeadCharacters.isOfValue(UInt8(bitPattern: $0)) }) else {
            throw .value
        }
        let end = value.lastIndex { $0 != 0x20 && $0 != 0x09 }.map { $0 + 1 } ?? 0
        try note(name, UnsafeBufferPointer(rebasing: value[..<end]))
    }

    private mutating func note(
        _ name: UnsafeBufferPointer<CChar>, _ value: UnsafeBufferPointer<CChar>
    ) throws(HeadFault) {
        // No name that counts here is of another length: most fields are not looked at further.
        switch name.count {
        case 4 where Self.isText(name, "host"): try takeHost(value)
        case 6 where Self.isText(name, "expect"):
            waits = true
            isUnexpected = isUnexpected || !Self.isText(value, "100-continue")
        case 14 where Self.isText(name, "content-length"): takeLength(value)
        case 17 where Self.isText(name, "transfer-encoding"):
            codings += 1
            isChunked = Self.isText(value, "chunked")
        default: break
        }
    }

    private mutating func takeHost(_ value: UnsafeBufferPointer<CChar>) throws(HeadFault) {
        hosts += 1
        guard value.allSatisfy({ HeadCharacters.isOfHost(UInt8(bitPattern: $0)) }) else {
            throw .host
        }
    }

    private mutating func takeLength(_ value: UnsafeBufferPointer<CChar>) {
        lengths += 1
        // The library has refused all that are no digits.
        length = Int(String(decoding: value.map(UInt8.init(bitPattern:)), as: UTF8.self)) ?? .max
    }

    /// Whether it is that text, which is in lower case, whatever its own case.
    private static func isText(
        _ bytes: UnsafeBufferPointer<CChar>, _ text: StaticString
    ) -> Bool {
        text.withUTF8Buffer { text in
            text.elementsEqual(bytes.lazy.map { HeadCharacters.lowercased(UInt8(bitPattern: $0)) })
        }
    }
}
