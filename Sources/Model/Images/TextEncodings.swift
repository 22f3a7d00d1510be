/// Strict Base64 decoding (RFC 4648 §4): no other characters, complete padding, no excess bits.
package enum Base64 {
    static func decode(_ text: [UInt8]) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        let padding = text.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding <= 2 else { return nil }
        return bytes(
            ofDigits: text.dropLast(padding), last: (UInt8(ascii: "+"), UInt8(ascii: "/")))
    }

    /// Decodes digits without padding; returns `nil` for other characters and for excess bits.
    ///
    /// - Parameter last: the two digits that differ between the alphabets of RFC 4648 §4 and §5.
    package static func bytes(
        ofDigits digits: some Collection<UInt8>, last: (UInt8, UInt8)
    ) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 4 * 3 + 2)
        var (bits, count) = (UInt32(0), UInt32(0))
        for digit in digits {
            guard let value = value(of: digit, last) else { return nil }
            (bits, count) = (bits << 6 | value, count + 6)
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            bits &= (1 << count) - 1
        }
        return bits == 0 ? bytes : nil
    }

    private static func value(of digit: UInt8, _ last: (UInt8, UInt8)) -> UInt32? {
        switch digit {
        case 0x41...0x5A: UInt32(digit) - 0x41
        case 0x61...0x7A: UInt32(digit) - 0x61 + 26
        case 0x30...0x39: UInt32(digit) - 0x30 + 52
        case last.0: 62
        case last.1: 63
        default: nil
        }
    }
}

/// Base64 encoding (RFC 4648 §4), used for ThumbHashes and digests.
public enum Base64Text {
    private static let letters = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Encodes bytes.
    public static func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = bytes[start...].prefix(3)
            let bits = (0..<3).reduce(0) { bits, place in
                bits << 8 | (place < part.count ? Int(part[start + place]) : 0)
            }
            for place in 0..<4 {
                text.append(
                    place > part.count
                        ? UInt8(ascii: "=") : letters[bits >> (18 - 6 * place) & 63])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// Percent-encoding and decoding (RFC 3986 §2.1).
package enum PercentCoding {
    /// Decodes a text; returns `nil` if a percent sign is not followed by two hexadecimal digits.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next()?.hexDigitValue, let low = rest.next()?.hexDigitValue
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// Encodes everything except letters, digits, `-`, `.`, `_`, `~` and `/`: the canonical form of
    /// a path in S3 signatures.
    static func encode(path: some Collection<UInt8>) -> String {
        encode(path) { $0.isUnreserved || $0 == UInt8(ascii: "/") }
    }

    /// Encodes all bytes except those to keep.
    package static func encode(
        _ bytes: some Collection<UInt8>, keeping isKept: (UInt8) -> Bool
    ) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        for byte in bytes {
            if isKept(byte) {
                text.append(byte)
            } else {
                text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// The classes of ASCII bytes in names, URLs and hexadecimal texts.
extension UInt8 {
    var isDigit: Bool { (0x30...0x39).contains(self) }
    var isLowercaseLetter: Bool { (0x61...0x7A).contains(self) }
    var isLetter: Bool { isLowercaseLetter || (0x41...0x5A).contains(self) }
    var isLetterOrDigit: Bool { isLetter || isDigit }
    /// Letters, digits, `-`, `.`, `_` and `~` (RFC 3986 §2.3).
    package var isUnreserved: Bool { isLetterOrDigit || "-._~".utf8.contains(self) }

    /// The value of a hexadecimal digit in either case; `nil` for other bytes.
    var hexDigitValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x41 + 10
        case 0x61...0x66: self - 0x61 + 10
        default: nil
        }
    }
}

/// Parses numbers in options and files.
public enum PlainNumber {
    /// Parses digits with an optional minus sign: no blanks, no `+`. Returns `nil` for anything
    /// else.
    public static func integer(_ text: some StringProtocol) -> Int? {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else {
            return nil
        }
        return Int(text)
    }

    /// Parses an integer with an optional suffix K, M, G or T, each `unit` times the previous one;
    /// returns `nil` for anything else and on overflow.
    package static func scaled(_ text: some StringProtocol, by unit: Int) -> Int? {
        let powers: [Character: Int] = ["K": 1, "M": 2, "G": 3, "T": 4]
        let power = text.last.flatMap { powers[Character($0.uppercased())] } ?? 0
        guard var value = integer(power == 0 ? text[...] : text.dropLast()) else { return nil }
        for _ in 0..<power {
            let (more, overflow) = value.multipliedReportingOverflow(by: unit)
            guard !overflow else { return nil }
            value = more
        }
        return value
    }

    /// Parses a decimal number, without infinities and hexadecimal digits; returns `nil` for
    /// anything else.
    public static func decimal(_ text: String) -> Double? {
        let allowed = Set("0123456789.-+eE".utf8)
        guard text.utf8.allSatisfy(allowed.contains), let number = Double(text), number.isFinite
        else { return nil }
        return number
    }
}

/// Formats like `%f`: six decimals and a point, independent of the locale. Magnitudes of 9 × 10¹²
/// and above and NaN become `0.000000`; requests with such values are rejected earlier.
func decimalText(_ value: Double) -> String {
    guard value.isFinite, abs(value) < 9e12 else { return "0.000000" }
    // Separate the integral part so that no digit of the fraction is lost in the multiplication.
    let whole = abs(value).rounded(.towardZero)
    let millionths = Int(((abs(value) - whole) * 1_000_000).rounded(.toNearestOrEven))
    let units = Int(whole) + millionths / 1_000_000
    let fraction = String(millionths % 1_000_000)
    let padding = String(repeating: "0", count: 6 - fraction.utf8.count)
    let sign = value < 0 && (units > 0 || millionths > 0) ? "-" : ""
    return "\(sign)\(units).\(padding)\(fraction)"
}

extension String {
    /// Returns whether any UTF-8 byte satisfies the predicate; contiguous storage is searched
    /// directly.
    func hasByte(where isMeant: (UInt8) -> Bool) -> Bool {
        utf8.withContiguousStorageIfAvailable { $0.contains(where: isMeant) }
            ?? utf8.contains(where: isMeant)
    }
}

package enum SpellingSuggestion {
    /// Returns `. Did you mean 'x'?`, or the list of known words if none is similar.
    package static func hint(_ word: String, _ known: [String]) -> String {
        if let near = nearest(word, known) { return ". Did you mean '\(near)'?" }
        return known.isEmpty ? "" : ": expected one of \(known.joined(separator: ", "))"
    }

    /// Returns `. Did you mean 'x'?`, or an empty text if no word is similar.
    package static func question(_ word: String, _ known: [String]) -> String {
        nearest(word, known).map { ". Did you mean '\($0)'?" } ?? ""
    }

    /// Returns the word with the smallest edit distance if that is at most two or a third of its
    /// length, and less than the length of the input.
    package static func nearest(_ word: String, _ known: [String]) -> String? {
        // Longer than any known word, so not worth comparing.
        guard word.utf8.count <= 64 else { return nil }
        let ranked = known.map { ($0, distance(Array(word.utf8), Array($0.utf8))) }
        guard let best = ranked.min(by: { $0.1 < $1.1 }),
            best.1 <= max(2, best.0.utf8.count / 3), best.1 < word.utf8.count
        else { return nil }
        return best.0
    }

    /// Returns the Levenshtein distance.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var row = Array(0...right.count)
        for (number, byte) in left.enumerated() {
            var diagonal = row[0]
            row[0] = number + 1
            for column in right.indices {
                let change = diagonal + (byte == right[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(change, diagonal + 1, row[column] + 1)
            }
        }
        return row[right.count]
    }
}
