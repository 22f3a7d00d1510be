/// Blanks everything but code in Swift source: comments and the contents of string literals.
///
/// Each byte becomes one byte and line breaks stay, so that lines and columns keep their numbers.
/// Code inside `\( )` of a literal stays. Regex literals are not supported; the project has none.
struct CodeOnly {
    private enum Place {
        case code(openParentheses: Int)
        case lineComment
        case blockComment(depth: Int)
        case literal(hashes: Int, isMultiline: Bool)
    }

    static func text(of source: String) -> String {
        var scanner = CodeOnly(bytes: Array(source.utf8))
        while scanner.index < scanner.bytes.count { scanner.step() }
        return String(decoding: scanner.output, as: UTF8.self)
    }

    private let bytes: [UInt8]
    private var output: [UInt8] = []
    private var index = 0
    /// The enclosing contexts of the current position: a literal, below it the code that contains
    /// the literal, and so on.
    private var enclosing: [Place] = []
    private var place = Place.code(openParentheses: 0)

    private init(bytes: [UInt8]) {
        self.bytes = bytes
        output.reserveCapacity(bytes.count)
    }

    private mutating func step() {
        keepOrBlankWhatIsPlain()
        guard index < bytes.count else { return }
        switch place {
        case .code(let open): stepInCode(open)
        case .lineComment:
            if bytes[index] == UInt8(ascii: "\n") { leave(keeping: 1) } else { blank(1) }
        case .blockComment(let depth): stepInBlockComment(depth)
        case .literal(let hashes, let isMultiline): stepInLiteral(hashes, isMultiline)
        }
    }

    /// Consumes the bytes up to the next one that can begin or end anything: nearly all of them.
    private mutating func keepOrBlankWhatIsPlain() {
        let plain = bytes[index...].firstIndex { Self.isSpecial[Int($0)] } ?? bytes.count
        if case .code = place { keep(plain - index) } else { blank(plain - index) }
    }

    private static let isSpecial: [Bool] = (UInt8.min...UInt8.max).map {
        "/*\"#()\\\n".utf8.contains($0)
    }

    private mutating func stepInCode(_ open: Int) {
        if isNext("//") { return enter(.lineComment, keeping: 0) }
        if isNext("/*") { return enter(.blockComment(depth: 0), keeping: 0) }
        let hashes = countOfHashes(at: index)
        if isNext("\"\"\"", after: hashes) {
            return enter(.literal(hashes: hashes, isMultiline: true), keeping: hashes + 3)
        }
        if isNext("\"", after: hashes) {
            return enter(.literal(hashes: hashes, isMultiline: false), keeping: hashes + 1)
        }
        if isNext("(") { place = .code(openParentheses: open + 1) }
        if isNext(")") {
            if open == 1, !enclosing.isEmpty { return leave(keeping: 1) }
            place = .code(openParentheses: open - 1)
        }
        keep(1)
    }

    private mutating func stepInBlockComment(_ depth: Int) {
        if isNext("/*") {
            place = .blockComment(depth: depth + 1)
            blank(2)
        } else if isNext("*/") {
            place = .blockComment(depth: depth - 1)
            blank(2)
            if depth == 1 { leave(keeping: 0) }
        } else {
            blank(1)
        }
    }

    private mutating func stepInLiteral(_ hashes: Int, _ isMultiline: Bool) {
        if isNext("\\"), countOfHashes(at: index + 1) >= hashes {
            if isNext("(", after: 1 + hashes) {
                blank(1 + hashes)
                return enter(.code(openParentheses: 0), keeping: 0)
            }
            return blank(2 + hashes)
        }
        let quotes = isMultiline ? 3 : 1
        if isNext(isMultiline ? "\"\"\"" : "\""), countOfHashes(at: index + quotes) >= hashes {
            return leave(keeping: quotes + hashes)
        }
        // An unterminated literal does not compile; ending it here keeps one mistake on one line.
        if !isMultiline, isNext("\n") { return leave(keeping: 1) }
        blank(1)
    }

    private mutating func enter(_ next: Place, keeping count: Int) {
        enclosing.append(place)
        place = next
        keep(count)
    }

    private mutating func leave(keeping count: Int) {
        place = enclosing.popLast() ?? .code(openParentheses: 0)
        keep(count)
    }

    private mutating func keep(_ count: Int) {
        let end = min(index + count, bytes.count)
        output += bytes[index..<end]
        index = end
    }

    private mutating func blank(_ count: Int) {
        let end = min(index + count, bytes.count)
        for byte in bytes[index..<end] {
            output.append(byte == UInt8(ascii: "\n") ? byte : UInt8(ascii: " "))
        }
        index = end
    }

    private func isNext(_ text: StaticString, after offset: Int = 0) -> Bool {
        let start = index + offset
        let count = text.utf8CodeUnitCount
        guard start + count <= bytes.count else { return false }
        return text.withUTF8Buffer { wanted in
            (0..<count).allSatisfy { bytes[start + $0] == wanted[$0] }
        }
    }

    private func countOfHashes(at start: Int) -> Int {
        var end = start
        while end < bytes.count, bytes[end] == UInt8(ascii: "#") { end += 1 }
        return end - start
    }
}
