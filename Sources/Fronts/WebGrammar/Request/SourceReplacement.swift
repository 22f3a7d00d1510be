/// A beginning of sources, and what stands in its place (imgproxy's `IMGPROXY_URL_REPLACEMENTS`).
public struct SourceReplacement: Hashable, Sendable {
    private let pattern: SourceWildcards
    private let parts: [Part]

    private enum Part: Hashable {
        case text([UInt8])
        /// What the wildcard of that place stood for.
        case wildcard(Int)
    }

    /// Replacements of one listener.
    public static let countMax = 64

    /// `PATTERN=REPLACEMENT`: `*` in the pattern stands for any text without a slash, and `${1}` in
    /// the replacement for what the first one stood for. `nil` for other texts.
    init?(_ text: String) {
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex else { return nil }
        pattern = SourceWildcards(String(text[..<equals]))
        var (parts, rest) = ([Part](), text[text.index(after: equals)...])
        while let start = rest.firstRange(of: "${") {
            guard let end = rest[start.upperBound...].firstIndex(of: "}"),
                let number = Int(rest[start.upperBound..<end]),
                (1...max(1, pattern.count)).contains(number), pattern.count > 0
            else { return nil }
            parts.append(.text(Array(rest[..<start.lowerBound].utf8)))
            parts.append(.wildcard(number - 1))
            rest = rest[rest.index(after: end)...]
        }
        self.parts = parts + [.text(Array(rest.utf8))]
    }

    /// Several, with semicolons between them. Throws for what is not `PATTERN=REPLACEMENT`.
    public static func list(_ text: String) throws(GrammarError) -> [SourceReplacement] {
        var list: [SourceReplacement] = []
        for item in text.split(separator: ";") {
            guard let one = SourceReplacement(String(item.trimmedOfBlanks)) else {
                throw GrammarError(
                    .malformed,
                    "'\(item.prefix(60))' is not PATTERN=REPLACEMENT, such as "
                        + "mys3://=s3://bucket/images/; ${1} stands for what the first * of the "
                        + "pattern matched")
            }
            list.append(one)
        }
        guard list.count <= countMax else {
            throw GrammarError(.malformed, "at most \(countMax) replacements are accepted")
        }
        return list
    }

    func applied(to source: [UInt8]) -> [UInt8] {
        guard let match = pattern.match(startOf: source) else { return source }
        var result: [UInt8] = []
        for part in parts {
            switch part {
            case .text(let text): result += text
            case .wildcard(let place): result += match.wildcards[place]
            }
        }
        return result + source[match.end...]
    }
}

/// A text in which each `*` stands for any text without a slash.
struct SourceWildcards: Hashable, Sendable {
    private let pieces: [[UInt8]]

    init(_ text: String) {
        pieces = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
            .map(Array.init)
    }

    /// Wildcards in it.
    var count: Int { pieces.count - 1 }

    struct Match {
        /// What each wildcard stands for.
        var wildcards: [ArraySlice<UInt8>] = []
        /// Where the text behind the pattern begins.
        var end: Int
    }

    /// How it matches the beginning of a text, each wildcard as long as possible.
    func match(startOf text: [UInt8]) -> Match? {
        guard let first = pieces.first, text.starts(with: first) else { return nil }
        // The candidates of each wildcard, the longest first; `ends` are where its piece ends.
        var match = Match(end: first.count)
        var tries: [Int] = []
        var place = 0
        var budget = Self.stepsMax
        while place < count {
            let start = match.end
            let limit = text[start...].firstIndex(of: UInt8(ascii: "/")) ?? text.endIndex
            var length = tries.count > place ? tries[place] : limit - start
            let piece = pieces[place + 1]
            while length >= 0, !text[(start + length)...].starts(with: piece) {
                length -= 1
                budget -= 1
            }
            guard budget > 0 else { return nil }
            if length >= 0 {
                if tries.count > place {
                    tries[place] = length - 1
                } else {
                    tries.append(length - 1)
                }
                match.wildcards.append(text[start..<(start + length)])
                match.end = start + length + piece.count
                place += 1
                continue
            }
            // The one before may be shorter.
            if tries.count > place { tries.removeLast() }
            guard let last = match.wildcards.popLast() else { return nil }
            place -= 1
            match.end = last.startIndex
        }
        return match
    }

    /// Comparisons at most, so that no text takes long.
    private static let stepsMax = 1 << 20
}
