/// A way in which an origin may read the path of a URL.
///
/// Some decode `%2F` before they look for dot segments, once or several times, take backslashes for
/// slashes, merge slashes, or ignore what follows a `;`. What a pattern permits has to be permitted
/// in all of these readings.
package struct PathReading: Hashable, Sendable {
    /// Without dot segments (RFC 3986 §5.2.4).
    package let path: String
    package let form: Form

    /// What was done with a path before dot segments were removed.
    package enum Form: Hashable, Sendable, CaseIterable {
        /// Letters, digits, `-`, `.`, `_` and `~` are decoded: that means the same
        /// (RFC 3986 §6.2.2.2).
        case written
        /// Slashes, backslashes, semicolons and percent signs are decoded, too, and backslashes
        /// are slashes.
        case decoded
        /// The same, and several slashes are one.
        case merged

        /// A text in this form; `*` of patterns stays as it is.
        package func applied(to path: some StringProtocol) -> String {
            switch self {
            case .written: return PathReading.decoded(path, Self.unreserved)
            case .decoded: return PathReading.rounds(of: path).last ?? ""
            case .merged: return PathReading.merged(Form.decoded.applied(to: path))
            }
        }

        fileprivate static func unreserved(_ byte: UInt8) -> UInt8? {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: byte
            default: nil
            }
        }

        fileprivate static func separating(_ byte: UInt8) -> UInt8? {
            switch byte {
            case UInt8(ascii: "/"), UInt8(ascii: "\\"): UInt8(ascii: "/")
            case UInt8(ascii: "%"), UInt8(ascii: ";"): byte
            default: unreserved(byte)
            }
        }
    }

    /// How often a path is decoded at most.
    private static let roundsMax = 3

    /// The readings of a path that begins with a slash, or is empty: as it is written first, and
    /// only the others that differ.
    package static func all(of path: some StringProtocol) -> [PathReading] {
        let written = PathReading(path: withoutDotSegments(Form.written.applied(to: path)))
        guard mayDiffer(path) else { return [written] }
        var readings = [written]
        func add(_ text: String, _ form: Form) {
            let reading = PathReading(
                path: withoutDotSegments(text, withParameters: true), form: form)
            if reading.path != written.path, !readings.contains(reading) {
                readings.append(reading)
            }
        }
        for round in rounds(of: path) {
            add(round, .decoded)
            add(merged(round), .merged)
        }
        return readings
    }

    /// Whether some reading of a path has dot segments.
    package static func hasDotSegments(_ path: some StringProtocol) -> Bool {
        ([Form.written.applied(to: path)] + rounds(of: path)).contains { text in
            text.split(separator: "/").contains { dots($0.prefix { $0 != ";" }) > 0 }
        }
    }

    /// Whether an origin may end a path in its middle, so that dot segments behind mislead, or no
    /// number of rounds reads it to its end: nothing permits such a path.
    package static func isUnreadable(_ path: some StringProtocol) -> Bool {
        guard path.utf8.contains(UInt8(ascii: "%")) else { return false }
        let last = rounds(of: path).last ?? ""
        let mayEnd = ["%3F", "%23"].contains { last.contains($0) }
        return last.contains("%00") || mayEnd && hasDotSegments(path)
            || decoded(last, Form.separating) != last
    }

    private init(path: String, form: Form = .written) {
        (self.path, self.form) = (path, form)
    }

    private static func mayDiffer(_ path: some StringProtocol) -> Bool {
        path.utf8.contains(where: { #"%\;"#.utf8.contains($0) }) || path.contains("//")
    }

    /// What decoding once, twice and three times makes of a path, until nothing is left to decode.
    private static func rounds(of path: some StringProtocol) -> [String] {
        var rounds = [decoded(path, Form.separating)]
        while rounds.count < roundsMax {
            let next = decoded(rounds[rounds.count - 1], Form.separating)
            if next == rounds[rounds.count - 1] { break }
            rounds.append(next)
        }
        return rounds
    }

    /// `byte`: what takes the place of a byte that is written as `%XX`; `nil`: it stays so. A
    /// backslash stands for a slash if an encoded one does.
    private static func decoded(
        _ path: some StringProtocol, _ byte: (UInt8) -> UInt8?
    ) -> String {
        guard path.utf8.contains(where: { #"%\"#.utf8.contains($0) }) else { return String(path) }
        var text: [UInt8] = []
        var rest = Array(path.utf8)[...]
        let slash = byte(UInt8(ascii: "\\")) ?? UInt8(ascii: "\\")
        while let first = rest.popFirst() {
            let code = [first] + rest.prefix(2)
            if first == UInt8(ascii: "%"), let value = PercentCoding.decode(code)?.first {
                text += byte(value).map { [$0] } ?? code.map(upperCase)
                rest = rest.dropFirst(2)
            } else {
                text.append(first == UInt8(ascii: "\\") ? slash : first)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func upperCase(_ digit: UInt8) -> UInt8 {
        (0x61...0x66).contains(digit) ? digit - 0x20 : digit
    }

    private static func merged(_ path: String) -> String {
        var text: [UInt8] = []
        for byte in path.utf8 where byte != UInt8(ascii: "/") || text.last != byte {
            text.append(byte)
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func withoutDotSegments(
        _ path: String, withParameters: Bool = false
    ) -> String {
        var kept: [Substring] = []
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch dots(withParameters ? segment.prefix { $0 != ";" } : segment) {
            case 0: kept.append(segment)
            case 1: if isLast { kept.append("") }
            default:
                _ = kept.popLast()
                if isLast { kept.append("") }
            }
        }
        return "/" + kept.joined(separator: "/")
    }

    /// 1 for `.`, 2 for `..`, 0 for anything else.
    private static func dots(_ segment: Substring) -> Int {
        switch segment {
        case ".": 1
        case "..": 2
        default: 0
        }
    }
}
