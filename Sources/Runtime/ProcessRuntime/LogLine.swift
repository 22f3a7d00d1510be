import Model

/// A log line under construction. Escapes everything that could end the line or forge another.
struct LogLine {
    /// Longer texts are truncated, so that a pipe takes the line in one atomic write (PIPE_BUF).
    static let textBytesMax = 1_024
    /// The maximum size of a line; fields that don't fit are omitted.
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
            add(value)
        case .json:
            bytes.append(UInt8(ascii: ","))
            quote(key)
            bytes.append(UInt8(ascii: ":"))
            add(value)
        }
        if bytes.count > Self.lineBytesMax - 2 { bytes.removeSubrange(before...) }
    }

    mutating func end() {
        if format == .json { append("}") }
        append("\n")
    }

    private mutating func add(_ value: LogValue) {
        switch value {
        case .string(let text) where format == .text && Self.isPlain(text): append(text)
        case .string(let text): quote(text)
        case .integer(let number): append(number.description)
        case .milliseconds(let microseconds): addThousandths(microseconds)
        // JSON can't represent infinity or NaN.
        case .double(let number) where format == .json && !number.isFinite: quote("\(number)")
        case .double(let number): append("\(number)")
        case .bool(let flag): append("\(flag)")
        }
    }

    /// Appends a number of thousandths as a decimal: `12.345`, `12.0`.
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
    /// Appends text with JSON escapes, in both formats; truncates at a character boundary.
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

/// Sanitizes untrusted text for display: characters that could control a terminal or reorder the
/// surrounding text are replaced by their code points.
public enum PlainText {
    /// Returns the text on one line: line breaks and tabs are replaced, too.
    public static func line(_ text: String) -> String {
        escaped(text) { isHarmful($0) || $0 == "\n" || $0 == "\t" }
    }

    /// Returns the text with its line breaks and tabs.
    public static func lines(_ text: String) -> String {
        escaped(text) { isHarmful($0) && $0 != "\n" && $0 != "\t" }
    }

    /// Returns whether a scalar is a control character (C0, DEL and C1), a bidirectional control,
    /// or one of the two separators that some programs treat as line breaks.
    public static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00..<0x20, 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069:
            true
        default: false
        }
    }

    /// Returns a harmful character as a JSON escape: `\u001b`.
    public static func escape(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16)
        return "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    private static func escaped(
        _ text: String, where isMeant: (Unicode.Scalar) -> Bool
    ) -> String {
        guard text.unicodeScalars.contains(where: isMeant) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if isMeant(scalar) {
                result += escape(scalar)
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

/// A wall-clock time as text (RFC 3339, UTC, milliseconds).
struct Timestamp {
    let nanoseconds: Int64

    /// Appends the time, for example `2026-03-01T12:34:56.789Z`.
    func append(to line: inout [UInt8]) {
        let milliseconds = Self.floor(nanoseconds, 1_000_000)
        let seconds = Self.floor(milliseconds, 1_000)
        let days = Self.floor(seconds, 86_400)
        let date = HTTPDate.civil(Int(days))
        let time = seconds - days * 86_400
        let parts: [(value: Int64, width: Int, mark: Unicode.Scalar)] = [
            (Int64(date.year), 4, "-"), (Int64(date.month), 2, "-"), (Int64(date.day), 2, "T"),
            (time / 3_600, 2, ":"), (time / 60 % 60, 2, ":"), (time % 60, 2, "."),
            (milliseconds - seconds * 1_000, 3, "Z"),
        ]
        for (value, width, mark) in parts {
            Self.digits(value, width, to: &line)
            line.append(UInt8(ascii: mark))
        }
    }

    private static func floor(_ value: Int64, _ unit: Int64) -> Int64 {
        value >= 0 ? value / unit : -((-value + unit - 1) / unit)
    }

    private static func digits(_ value: Int64, _ width: Int, to line: inout [UInt8]) {
        var divisor: Int64 = 1
        for _ in 1..<width { divisor *= 10 }
        while divisor > 0 {
            line.append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
            divisor /= 10
        }
    }
}
