import Glibc
package import Model
import Reporting

/// Parses option values; each error states what is expected.
package enum OptionValue {
    /// Parses an integer within a range.
    package static func integer(
        _ text: String, in range: ClosedRange<Int>
    ) throws(UsageError) -> Int {
        let number = PlainNumber.integer(text).flatMap { range.contains($0) ? $0 : nil }
        let limits = "\(range.lowerBound) and \(range.upperBound)"
        return try expect(number, "an integer between \(limits)", text)
    }

    /// Parses a duration, such as `250ms`, `10s`, `2m` or `1h`, to milliseconds; a plain number is
    /// in seconds.
    package static func milliseconds(
        _ text: String, atMost limit: Int
    ) throws(UsageError) -> Int {
        let units = [("ms", 1.0), ("s", 1e3), ("m", 6e4), ("h", 3.6e6)]
        let unit = units.first { text.hasSuffix($0.0) } ?? ("", 1e3)
        guard let number = PlainNumber.decimal(String(text.dropLast(unit.0.count))), number > 0,
            (number * unit.1).rounded() >= 1, number * unit.1 <= Double(limit)
        else {
            throw UsageError(
                "'\(text)' is not a time from 1ms to \(limit / 1000)s, such as 250ms, 10s or 2m")
        }
        return Int((number * unit.1).rounded())
    }

    /// Parses one of several words.
    package static func word<Value>(
        _ text: String, _ words: [(name: String, value: Value)]
    ) throws(UsageError) -> Value {
        guard let found = words.first(where: { $0.name == text }) else {
            throw UsageError(notOne(of: words.map(\.name), text))
        }
        return found.value
    }

    /// Returns the error message for a text that isn't one of several words.
    static func notOne(of names: [String], _ text: String) -> String {
        "'\(text)' is not one of \(names.joined(separator: ", "))"
            + SpellingSuggestion.question(text, names)
    }

    package static func kind(_ text: String) throws(UsageError) -> ProcessKind {
        try word(text, ProcessKind.all.map { ($0.name, $0) })
    }

    /// Parses an address and port that downloads may connect to, such as `10.0.0.7:8080` or
    /// `[fd00::7]:8080`.
    package static func address(_ text: String) throws(UsageError) -> String {
        guard let colon = text.lastIndex(of: ":"),
            let port = PlainNumber.integer(String(text[text.index(after: colon)...])),
            (1...65535).contains(port), isAddress(text[..<colon])
        else {
            throw UsageError("'\(text)' is not IP:PORT, such as 10.0.0.7:8080 or [fd00::7]:8080")
        }
        return text
    }

    /// Parses an address or a range of addresses, such as `203.0.113.0/24`, `fd00::/8` or
    /// `203.0.113.7`. As the download worker requires, the bits after the prefix must be zero.
    package static func addressRange(_ text: String) throws(UsageError) -> String {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let bytes = addressBytes(parts[0]),
            let shared = parts.count == 1 ? 8 * bytes.count : PlainNumber.integer(parts[1]),
            (0...8 * bytes.count).contains(shared),
            (shared..<8 * bytes.count).allSatisfy({ bytes[$0 / 8] & 0x80 >> ($0 % 8) == 0 })
        else {
            throw UsageError(
                "'\(text)' is not an address range, such as 203.0.113.0/24 or fd00::/8")
        }
        return text
    }

    /// Returns an absolute path; a relative path is resolved against the working directory.
    package static func path(_ text: String) throws(UsageError) -> String {
        guard !text.isEmpty else { throw UsageError("the path is empty") }
        if text.hasPrefix("/") { return text }
        guard let directory = getcwd(nil, 0) else {
            throw UsageError("'\(text)' is relative, but the working directory is gone")
        }
        defer { free(directory) }
        return String(cString: directory) + "/" + text
    }
}

extension OptionValue {
    /// Whether a text is an IPv6 address in brackets or an IPv4 address.
    private static func isAddress(_ text: Substring) -> Bool {
        let isIPv6 = text.hasPrefix("[") && text.hasSuffix("]")
        return addressBytes(isIPv6 ? text.dropFirst().dropLast() : text)?.count
            == (isIPv6 ? 16 : 4)
    }

    /// Returns 4 or 16 bytes in network order; `nil` if the text is not an address.
    private static func addressBytes(_ text: Substring) -> [UInt8]? {
        let isIPv6 = text.contains(":")
        var bytes = [UInt8](repeating: 0, count: isIPv6 ? 16 : 4)
        return inet_pton(isIPv6 ? AF_INET6 : AF_INET, String(text), &bytes) == 1 ? bytes : nil
    }
}

extension OptionValue {
    /// Returns the value, or throws an error that only states what is expected.
    package static func expect<Value>(
        _ value: Value?, _ expected: String, _ text: String
    ) throws(UsageError) -> Value {
        guard let value else { throw UsageError("'\(text)' is not \(expected)") }
        return value
    }

    /// Parses a token or group.
    package static func identifier(_ text: String) throws(UsageError) -> Identifier128 {
        try expect(Identifier128(hex: text), "32 hex digits", text)
    }

    /// Parses a size such as `512x418`.
    package static func size(_ text: String) throws(UsageError) -> PixelSize {
        let expected =
            "WIDTHxHEIGHT in pixels, such as 512x418, at most \(RequestLimits.sideMax) each"
        return try expect(PixelSize(text), expected, text)
    }

    /// Parses the box of a resize: `512x418`, `512x` or `x418`.
    package static func box(_ text: String) throws(UsageError) -> PixelSize {
        let expected =
            "WIDTHxHEIGHT in pixels, such as 512x418, 512x or x418, at most "
            + "\(RequestLimits.sideMax) each"
        return try expect(PixelSize(box: text), expected, text)
    }

    /// Parses a ratio of device pixels per pixel.
    package static func pixelRatio(_ text: String) throws(UsageError) -> Double {
        let range = RequestLimits.pixelRatios
        let ratio = PlainNumber.decimal(text).flatMap { range.contains($0) ? $0 : nil }
        let limits = "\(range.lowerBound) and \(Int(range.upperBound))"
        return try expect(ratio, "a number between \(limits), such as 2", text)
    }

    /// Parses the value of a step.
    package static func step(
        _ syntax: StepSyntax, _ text: String
    ) throws(UsageError) -> TransformStep {
        guard let step = syntax.parse(text) else {
            guard let fault = syntax.fault(text) else {
                throw UsageError("'\(text)' is not \(syntax.expected)")
            }
            let end = fault.hasSuffix("?") ? "" : "."
            throw UsageError("\(fault)\(end) Expected \(syntax.expected)")
        }
        return step
    }

    package static func resizeMode(_ text: String) throws(UsageError) -> ResizeMode {
        try word(text, ResizeMode.named)
    }

    /// Parses a format that this version or a plug-in can encode.
    package static func format(_ text: String) throws(UsageError) -> ImageFormat {
        let known = ImageFormat.encodable.map(\.name)
        guard let format = ImageFormat(name: text), format.mayBeEncoded else {
            throw UsageError(
                "'\(text)' is not one of \(known.joined(separator: ", ")) (or jpg)"
                    + SpellingSuggestion.question(text, known))
        }
        return format
    }

    /// Parses names of image properties, such as `exif,blurhash`.
    static func properties(_ text: String) throws(UsageError) -> RequestedProperties {
        try expect(RequestedProperties(text), RequestedProperties.expected, text)
    }

    /// Parses a `Fallback`. The coordinator decides whether the URL may be loaded.
    package static func fallback(_ text: String) throws(UsageError) -> Fallback {
        guard let fallback = Fallback(text) else {
            // A URL may contain a password.
            let shown = text.contains("@") ? "the value" : "'\(text)'"
            throw UsageError(
                "\(shown) is not a fallback: use none, a color such as #AARRGGBB or #RRGGBB, or "
                    + "an http or https URL")
        }
        return fallback
    }
}
