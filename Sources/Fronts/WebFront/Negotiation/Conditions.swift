import ImageModel
import WebGrammar

/// The conditions of a request that answers without a body may meet (RFC 9110 §13).
package struct Conditions: Hashable, Sendable {
    private var ifMatch: String?
    private var ifUnmodifiedSince: String?
    private let ifNoneMatch: String?
    private var ifModifiedSince: String?
    private let ifRange: String?
    private let range: String?
    /// When they came, in seconds since 1970: dates of two digits for a year count from then.
    private var now: Int64 = 0

    /// None.
    package init() { self.init(ifNoneMatch: nil, ifRange: nil, range: nil) }

    /// Takes these fields as they came.
    package init(ifNoneMatch: String?, ifRange: String?, range: String?) {
        (self.ifNoneMatch, self.ifRange, self.range) = (ifNoneMatch, ifRange, range)
    }

    /// Takes all fields as they came.
    package init(_ field: (String) -> String?, now: Int) {
        self.init(
            ifNoneMatch: field("If-None-Match"), ifRange: field("If-Range"), range: field("Range"))
        ifMatch = field("If-Match")
        ifUnmodifiedSince = field("If-Unmodified-Since")
        ifModifiedSince = field("If-Modified-Since")
        self.now = Int64(now)
    }

    /// The status in place of 200 for what has this tag and was last changed then, in seconds since
    /// 1970: 412 or 304, in the order of RFC 9110 §13.2.2; `nil`: it stays 200.
    package func status(_ tag: String?, _ modified: Int64?) -> UInt16? {
        if let ifMatch {
            if !Self.has(ifMatch, tag, isStrong: true) { return 412 }
        } else if let since = date(ifUnmodifiedSince), let modified, modified > since {
            return 412
        }
        if let ifNoneMatch { return Self.has(ifNoneMatch, tag, isStrong: false) ? 304 : nil }
        guard let since = date(ifModifiedSince), let modified else { return nil }
        return modified <= since ? 304 : nil
    }

    /// Whether the client has what it asks for, by its tag alone: 304 is the answer then.
    package func isUnmodified(_ tag: String) -> Bool { status(tag, nil) == 304 }

    /// The part that is asked for.
    package enum Part: Hashable, Sendable {
        /// All of it: no part is asked for, or not one that is known, or of another representation.
        case whole
        /// These bytes.
        case bytes(Range<Int>)
        /// One that lies behind the end: 416.
        case none
    }

    /// The part of so many bytes under that tag, last changed then. Of several ranges all of it is
    /// the answer, which RFC 9110 §14.2 leaves to the server.
    package func part(
        of count: Int, under tag: String, modified: Int64? = nil
    ) -> Part {
        guard let range, holds(ifRange, tag, modified) else { return .whole }
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

    /// A part is of the same representation if the tag is the same, or the date (RFC 9110 §13.1.5).
    private func holds(_ ifRange: String?, _ tag: String, _ modified: Int64?) -> Bool {
        guard let text = ifRange?.trimmedOfBlanks else { return true }
        if text == tag[...] { return true }
        guard let date = date(String(text)), let modified else { return false }
        return date == modified
    }

    private func date(_ text: String?) -> Int64? {
        text.flatMap { HTTPDate.seconds(String($0.trimmedOfBlanks), now: now) }
    }

    /// Whether a list of tags has this one. Ours are strong.
    private static func has(_ list: String, _ tag: String?, isStrong: Bool) -> Bool {
        list.split(separator: ",").map(\.trimmedOfBlanks).contains { word in
            if word == "*" { return true }
            guard let tag else { return false }
            return isStrong ? word == tag[...] : opaque(word) == opaque(tag[...])
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
