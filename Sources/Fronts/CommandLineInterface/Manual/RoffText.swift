/// Text in the language of troff, as the macros `man` have it.
enum RoffText {
    /// A text that is not taken for an instruction, in ASCII.
    static func escaped(_ text: some StringProtocol) -> String {
        let line = text.unicodeScalars.map(escaped).joined()
        return line.hasPrefix(".") ? "\\&" + line : line
    }

    static func bold(_ text: some StringProtocol) -> String { "\\fB\(escaped(text))\\fR" }
    static func italic(_ text: some StringProtocol) -> String { "\\fI\(escaped(text))\\fR" }

    /// Paragraphs with empty lines between them; those that are of commands keep their lines.
    static func paragraphs(_ text: String) -> String {
        var paragraphs: [[Substring]] = [[]]
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.isEmpty {
                paragraphs.append([])
            } else {
                paragraphs[paragraphs.count - 1].append(line)
            }
        }
        return paragraphs.filter { !$0.isEmpty }.map { lines in
            let isOfCommands = lines.allSatisfy { $0.hasPrefix("imagebus ") }
            return isOfCommands ? asIs(lines) : ".PP\n\(filled(lines))\n"
        }.joined()
    }

    /// Lines that are joined and broken anew.
    static func filled(_ lines: [some StringProtocol]) -> String {
        lines.map { escaped($0) }.joined(separator: "\n")
    }

    /// Lines that stay as they are.
    static func asIs(_ lines: [some StringProtocol]) -> String {
        ".PP\n.RS 4\n.nf\n\(filled(lines))\n.fi\n.RE\n"
    }

    /// What is said of a word, at some distance.
    static func entry(_ head: String, _ text: String) -> String { ".TP\n\(head)\n\(text)\n" }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\\": "\\e"
        case "-": "\\-"
        case "'": "\\(aq"
        case "`": "\\(ga"
        case "^": "\\(ha"
        case "~": "\\(ti"
        case "\"": "\\(dq"
        default: scalar.isASCII ? String(scalar) : "\\[u\(hex(scalar))]"
        }
    }

    /// At least four digits in capitals.
    private static func hex(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
