/// One line under construction; escapes whatever could end it or forge another.
struct LogLine {
    /// Longer texts are cut, so that a line stays one write that a pipe takes whole (PIPE_BUF).
    static let textBytesMax = 1_024
    /// What a whole line may have; further fields are left out.
    static let lineBytesMax = 4_096

    private(set) var bytes: [UInt8] = []
    private let format: LogFormat

    init(
        _ format: LogFormat, _ level: LogLevel, program: String, process: Int32,
        nanoseconds: Int64, message: String
    ) {
        self.format = format
        bytes.reserveCapacity(256)
        switch format {
        case .text:
            Timestamp(nanoseconds: nanoseconds).append(to: &bytes)
            append(" \(level.rawValue) \(program)[\(process)]: ")
            escape(message)
        case .json:
            append("{\"time\":\"")
            Timestamp(nanoseconds: nanoseconds).append(to: &bytes)
            append("\",\"level\":\"\(level.rawValue)\",\"program\":")
            quote(program)
            append(",\"pid\":\(process),\"message\":")
            quote(message)
        }
    }

    mutating func add(_ key: String, _ value: LogValue) {
        let before = bytes.count
        switch format {
        case .text:
            bytes.append(UInt8(ascii: " "))
            append(key)
            bytes.append(UInt8(ascii: "="))
            addText(value)
        case .json:
            bytes.append(UInt8(ascii: ","))
            quote(key)
            bytes.append(UInt8(ascii: ":"))
            addJSON(value)
        }
        if bytes.count > Self.lineBytesMax - 2 { bytes.removeSubrange(before...) }
    }

    mutating func end() {
        if format == .json { append("}") }
        append("\n")
    }

    private mutating func addText(_ value: LogValue) {
        switch value {
        case .string(let text) where Self.isPlain(text): append(text)
        case .string(let text): quote(text)
        case .integer(let number): append(number.description)
        case .milliseconds(let microseconds): addThousandths(microseconds)
        case .double(let number): append("\(number)")
        case .bool(let flag): append("\(flag)")
        }
    }

    private mutating func addJSON(_ value: LogValue) {
        switch value {
        // JSON has no infinity and no NaN.
        case .double(let number) where !number.isFinite: quote("\(number)")
        case .string(let text): quote(text)
        default: addText(value)
        }
    }

    /// As a number with a fraction is written: `12.345`, `12.0`.
    private mutating func addThousandths(_ number: Int64) {
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        append((number.magnitude / 1_000).description)
        bytes.append(UInt8(ascii: "."))
        var rest = number.magnitude % 1_000
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(rest / 100))
            rest = rest % 100 * 10
        } while rest > 0
    }

    private static func isPlain(_ text: String) -> Bool {
        let bytes = text.utf8
        return !bytes.isEmpty && bytes.count <= textBytesMax
            && bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C && $0 != 0x3D }
    }

    private mutating func quote(_ text: String) {
        append("\"")
        escape(text)
        append("\"")
    }

    private mutating func append(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }
}

extension LogLine {
    /// JSON's escapes, in both formats; cuts at a character.
    private mutating func escape(_ text: String) {
        let end = bytes.count + Self.textBytesMax
        for scalar in text.unicodeScalars {
            if bytes.count >= end {
                append("…")
                return
            }
            escape(scalar)
        }
    }

    private mutating func escape(_ scalar: Unicode.Scalar) {
        switch scalar.value {
        case 0x22, 0x5C: bytes.append(contentsOf: [0x5C, UInt8(truncatingIfNeeded: scalar.value)])
        case 0x0A: append("\\n")
        case 0x0D: append("\\r")
        case 0x09: append("\\t")
        case _ where PlainText.isHarmful(scalar): append(PlainText.escape(scalar))
        default: bytes.append(contentsOf: scalar.utf8)
        }
    }
}
