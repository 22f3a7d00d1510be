import Model

/// Converts internationalized host names to ASCII (IDNA 2008, RFC 5891; of the UTS 46 mapping:
/// lowercase, composition and ideographic full stops).
package enum HostName {
    /// The maximum length of a DNS label in bytes.
    private static let labelBytesMax = 63

    /// Returns a name in ASCII, such as `xn--bcher-kva.example`; ASCII names are unchanged.
    ///
    /// Throws `malformed` for characters that are not allowed in host names or require more of the
    /// mapping.
    package static func ascii(_ name: String) throws(GrammarError) -> String {
        guard !isASCII(name.utf8) else { return name }
        let labels = name.lowercased().split(omittingEmptySubsequences: false) {
            fullStops.contains($0)
        }
        var ascii: [String] = []
        for label in labels { ascii.append(try self.ascii(label: label)) }
        return ascii.joined(separator: ".")
    }

    /// Returns an HTTP or HTTPS URL with its host in ASCII; other texts are unchanged.
    package static func ascii(hostOf url: [UInt8]) throws(GrammarError) -> [UInt8] {
        guard !isASCII(url), let host = host(of: url), !isASCII(url[host]) else { return url }
        guard let name = String(validating: url[host], as: UTF8.self) else {
            throw .malformed("the host of the source is not UTF-8: encode it as UTF-8 or as xn--")
        }
        return url[..<host.lowerBound] + Array(try ascii(name).utf8) + url[host.upperBound...]
    }

    /// Returns the range of the host in an HTTP or HTTPS URL, without user info and port.
    private static func host(of url: [UInt8]) -> Range<Int>? {
        guard let colon = url.firstIndex(of: UInt8(ascii: ":")),
            ["http", "https"].contains(String(decoding: url[..<colon], as: UTF8.self).lowercased()),
            url[(colon + 1)...].starts(with: "//".utf8)
        else { return nil }
        let start = colon + 3
        let end = url[start...].firstIndex { "/?#".utf8.contains($0) } ?? url.endIndex
        let first = url[start..<end].lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? start
        let port = url[first..<end].firstIndex(of: UInt8(ascii: ":")) ?? end
        return first..<port
    }

    private static func isASCII(_ bytes: some Sequence<UInt8>) -> Bool {
        bytes.allSatisfy { $0 < 0x80 }
    }

    /// U+002E and the CJK full stops that UTS 46 maps to it.
    private static let fullStops: Set<Character> = [".", "\u{3002}", "\u{FF0E}", "\u{FF61}"]

    // MARK: - Labels

    private static func ascii(label: Substring) throws(GrammarError) -> String {
        guard !isASCII(label.utf8) else { return String(label) }
        let composed = ComposedCharacters.compose(label)
        let scalars = Array(composed.unicodeScalars)
        if let scalar = scalars.first(where: { !isPermitted($0) }) { throw refusal(of: scalar) }
        if let first = scalars.first, isMark(first) { throw refusal(of: first) }
        let hasHyphens =
            composed.hasPrefix("-") || composed.hasSuffix("-")
            || composed.dropFirst(2).hasPrefix("--")
        guard !hasHyphens, let code = Punycode.encode(composed),
            code.utf8.count + prefix.utf8.count <= labelBytesMax
        else {
            throw .malformed(
                "the host of the source has the invalid label '\(label.prefix(40))': a label has "
                    + "at most \(labelBytesMax) bytes in DNS, no hyphen at either end, and no "
                    + "hyphens in positions 3 and 4")
        }
        return prefix + code
    }

    /// The prefix of encoded labels.
    private static let prefix = "xn--"

    private static func refusal(of scalar: Unicode.Scalar) -> GrammarError {
        let number = String(scalar.value, radix: 16, uppercase: true)
        let code = String(repeating: "0", count: max(0, 4 - number.count)) + number
        return .malformed(
            "the host of the source contains U+\(code), which is not allowed: "
                + "write the host as in DNS, with xn--")
    }

    /// Whether a scalar is a letter, mark or digit that the mapping leaves unchanged (RFC 5892,
    /// section 3). Joiners are refused everywhere. The direction of text (RFC 5893) is not checked:
    /// it matters where names are displayed, not for the host that is contacted.
    private static func isPermitted(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII {
            return scalar == "-" || scalar.properties.isAlphabetic
                || scalar.properties.numericType == .decimal
        }
        guard !ComposedCharacters.isConjoining(scalar) else { return false }
        switch scalar.properties.generalCategory {
        case .lowercaseLetter, .otherLetter, .modifierLetter, .decimalNumber: break
        case .nonspacingMark, .spacingMark: break
        default: return false
        }
        return deviations.contains(scalar) || !scalar.properties.changesWhenNFKCCaseFolded
    }

    /// Sharp s and final sigma: case folding would change them, but IDNA 2008 keeps them.
    private static let deviations: Set<Unicode.Scalar> = ["\u{DF}", "\u{3C2}"]

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }
}

/// Encodes Unicode text as ASCII letters, digits and hyphens (RFC 3492).
enum Punycode {
    private static let (base, leastThreshold, mostThreshold) = (36, 1, 26)
    private static let (skew, damp) = (38, 700)
    private static let (firstBias, firstScalar) = (72, 0x80)

    /// Returns the encoding of a label without the prefix `xn--`; ASCII characters are unchanged.
    /// Returns `nil` for a label so long that the computation overflows.
    static func encode(_ label: String) -> String? {
        let scalars = label.unicodeScalars.map { Int($0.value) }
        var output = scalars.filter { $0 < firstScalar }.map { UInt8($0) }
        let basicCount = output.count
        var (handled, next, delta, bias) = (basicCount, firstScalar, 0, firstBias)
        if basicCount > 0 { output.append(UInt8(ascii: "-")) }
        while handled < scalars.count {
            guard let least = scalars.filter({ $0 >= next }).min() else { return nil }
            let (step, overflows) = (least - next).multipliedReportingOverflow(by: handled + 1)
            guard !overflows, delta <= Int(Int32.max) - step else { return nil }
            delta += step
            next = least
            for scalar in scalars {
                if scalar < next { delta += 1 }
                guard scalar == next else { continue }
                append(delta, bias, to: &output)
                bias = adapted(delta, points: handled + 1, isFirst: handled == basicCount)
                delta = 0
                handled += 1
            }
            delta += 1
            next += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Appends a number as a variable-length integer (section 3.3).
    private static func append(_ delta: Int, _ bias: Int, to output: inout [UInt8]) {
        var (rest, position) = (delta, base)
        while true {
            let threshold = min(max(position - bias, leastThreshold), mostThreshold)
            guard rest >= threshold else { break }
            output.append(digit(threshold + (rest - threshold) % (base - threshold)))
            rest = (rest - threshold) / (base - threshold)
            position += base
        }
        output.append(digit(rest))
    }

    /// Returns `a` to `z` for 0 to 25, then `0` to `9`.
    private static func digit(_ value: Int) -> UInt8 {
        UInt8(value < 26 ? Int(UInt8(ascii: "a")) + value : Int(UInt8(ascii: "0")) + value - 26)
    }

    /// Returns the bias after a delta (section 6.1).
    private static func adapted(_ delta: Int, points: Int, isFirst: Bool) -> Int {
        var delta = isFirst ? delta / damp : delta / 2
        delta += delta / points
        var position = 0
        while delta > (base - leastThreshold) * mostThreshold / 2 {
            delta /= base - leastThreshold
            position += base
        }
        return position + (base - leastThreshold + 1) * delta / (delta + skew)
    }
}

/// Composes letters with combining marks into single scalars (normalization form C, limited to the
/// scripts below).
///
/// Swift compares characters by canonical equivalence, so a dictionary of composed characters can
/// be searched with decomposed ones.
enum ComposedCharacters {
    /// Returns the text in composed form.
    static func compose(_ text: some StringProtocol) -> String {
        var composed = String.UnicodeScalarView()
        for character in text {
            if character.unicodeScalars.count > 1, let scalar = scalars[character] {
                composed.append(scalar)
            } else {
                composed.append(contentsOf: character.unicodeScalars)
            }
        }
        return String(composed)
    }

    /// Whether a scalar is a conjoining Hangul jamo; syllables must be composed.
    static func isConjoining(_ scalar: Unicode.Scalar) -> Bool {
        [0x1100...0x11FF, 0xA960...0xA97F, 0xD7B0...0xD7FF].contains { $0.contains(scalar.value) }
    }

    /// Latin, Greek, Cyrillic, Arabic and Kana.
    private static let blocks: [ClosedRange<UInt32>] = [
        0xC0...0x24F, 0x370...0x52F, 0x620...0x6D5, 0x1E00...0x1FFF, 0x3040...0x30FF,
    ]

    /// Composed characters by themselves. Of equivalent scalars the first one is used, which is the
    /// composed one.
    private static let scalars: [Character: Unicode.Scalar] = {
        var scalars: [Character: Unicode.Scalar] = [:]
        for scalar in blocks.joined().compactMap(Unicode.Scalar.init) {
            let character = Character(scalar)
            if scalars[character] == nil { scalars[character] = scalar }
        }
        return scalars
    }()
}
