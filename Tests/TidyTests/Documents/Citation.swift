/// A section sign in a line, with the number after it and the cited document.
struct Citation: Equatable {
    enum Document: Hashable {
        /// The word before the sign, such as `PROTOCOL`.
        case named(String)
        /// An external standard such as RFC 9110.
        case external
        /// No document is named: the one that contains this line.
        case own
    }

    let document: Document
    /// `8.4.1`
    let number: String

    static let sign: Character = "\u{A7}"
    /// Further sections of the same document may follow one of these.
    private static let joints = [",", ", ", " and ", " or ", " to "]
    private static let standards = ["Trace Context", "EXIF 2.3"]

    /// The citations of a line, in order. A sign without a number isn't one.
    static func all(in line: String) -> [Citation] {
        var found: [Citation] = []
        var rest = line[...]
        while let mark = rest.firstIndex(of: sign) {
            let before = rest[..<mark]
            let number = number(at: rest[rest.index(after: mark)...])
            rest = rest[rest.index(after: mark)...].dropFirst(number.count)
            guard !number.isEmpty else { continue }
            let isFurther = joints.contains { $0 == before }
            let document = isFurther ? found.last?.document : nil
            found.append(Citation(document: document ?? self.document(before), number: number))
        }
        return found
    }

    private static func number(at text: Substring) -> String {
        var number = String(text.prefix { $0.isNumber || $0 == "." })
        while number.last == "." { number.removeLast() }
        return number
    }

    private static func document(_ before: Substring) -> Document {
        guard before.last == " " else { return .own }
        let text = before.trimmed
        if standards.contains(where: text.hasSuffix) { return .external }
        let words = text.split { !$0.isLetter && !$0.isNumber }
        guard let last = words.last else { return .own }
        if words.dropLast().last == "RFC", last.allSatisfy(\.isNumber) { return .external }
        let isName = last.count > 1 && last.allSatisfy { $0.isLetter && $0.isUppercase }
        return isName || last.allSatisfy(\.isNumber) ? .named(String(last)) : .own
    }
}
