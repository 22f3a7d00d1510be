/// Text of others as it may be shown: what would do something to a terminal, or to the order of the
/// characters around it, stands there as its number.
public enum PlainText {
    /// The text on one line.
    public static func line(_ text: String) -> String {
        escaped(text) { isHarmful($0) || $0 == "\n" || $0 == "\t" }
    }

    /// The text with its line ends and tabs.
    public static func lines(_ text: String) -> String {
        escaped(text) { isHarmful($0) && $0 != "\n" && $0 != "\t" }
    }

    /// Controls (C0, DEL and C1), what changes the direction of text, and the two separators that
    /// some readers take for line ends.
    public static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00..<0x20, 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069:
            true
        default: false
        }
    }

    /// A harmful character as in JSON: `\u001b`.
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
