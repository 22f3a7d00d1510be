/// The conditions of a request that answers without a body may meet (RFC 9110 §13).
package struct Conditions: Hashable, Sendable {
    private let ifNoneMatch: String?
    private let ifRange: String?
    private let range: String?

    /// None.
    package init() { self.init(ifNoneMatch: nil, ifRange: nil, range: nil) }

    /// Takes the fields as they came.
    package init(ifNoneMatch: String?, ifRange: String?, range: String?) {
        (self.ifNoneMatch, self.ifRange, self.range) = (ifNoneMatch, ifRange, range)
    }

    /// Whether the client has what it asks for: 304 is the answer then. Tags are compared weakly
    /// (RFC 9110 §13.1.2).
    package func isUnmodified(_ tag: String) -> Bool {
        guard let ifNoneMatch else { return false }
        let wanted = Self.opaque(tag[...])
        return ifNoneMatch.split(separator: ",").map(\.trimmedOfBlanks).contains {
            $0 == "*" || Self.opaque($0) == wanted
        }
    }

    /// The part that is asked for.
    package enum Part: Hashable, Sendable {
        /// All of it: no part is asked for, or not one that is known, or of another representation.
        case whole
        /// These bytes.
        case bytes(Range<Int>)
        /// One that lies behind the end: 416.
        case none
    }

    /// The part of so many bytes under that tag. Of several ranges all of it is the answer, which
    /// RFC 9110 §14.2 leaves to the server.
    package func part(of count: Int, under tag: String) -> Part {
        guard let range, ifRange.map({ $0.trimmedOfBlanks == tag[...] }) ?? true else {
            return .whole
        }
        let words = range.split(separator: "=", maxSplits: 1)
        guard words.count == 2, words[0].trimmedOfBlanks.lowercased() == "bytes" else {
            return .whole
        }
        let ends = words[1].trimmedOfBlanks
            .split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2 else { return .whole }
        switch (Self.number(ends[0]), Self.number(ends[1])) {
        case (.some(let first), let last) where last != nil || ends[1].isEmpty:
            guard first < count else { return .none }
            let end = min(last ?? count - 1, count - 1)
            return first <= end ? .bytes(first..<end + 1) : .whole
        case (nil, .some(let suffix)) where ends[0].isEmpty:
            guard suffix > 0, count > 0 else { return .none }
            return .bytes(max(0, count - suffix)..<count)
        default: return .whole
        }
    }

    private static func opaque(_ tag: Substring) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : tag
    }

    /// At most eighteen digits, which no arithmetic can overflow.
    private static func number(_ text: Substring) -> Int? {
        let text = text.trimmedOfBlanks
        guard (1...18).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int(text)
    }
}
