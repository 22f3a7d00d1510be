import Model

/// The arguments of an option, in order.
struct OptionArguments: Hashable, Sendable {
    /// The name of the option as written in the URL.
    let option: String
    let values: [String]

    init(_ option: String, _ values: [String]) {
        (self.option, self.values) = (option, values)
    }

    /// Returns the arguments after the first `count`.
    func dropFirst(_ count: Int) -> OptionArguments {
        OptionArguments(option, Array(values.dropFirst(count)))
    }

    /// Returns a nonempty argument; `nil` if it is missing or empty.
    subscript(_ index: Int) -> String? {
        values.indices.contains(index) && !values[index].isEmpty ? values[index] : nil
    }

    /// Returns an error about this option.
    func malformed(_ message: String) -> GrammarError { .malformed(option, message) }

    /// Returns an error about arguments that this server doesn't support.
    func notOffered(_ message: String) -> GrammarError { .notOffered(option, message) }

    func require(_ isValid: Bool, _ message: @autoclosure () -> String) throws(GrammarError) {
        try WebGrammar.require(isValid, message(), of: option)
    }

    func requireSupported(
        _ isSupported: Bool, _ message: @autoclosure () -> String
    ) throws(GrammarError) {
        try WebGrammar.requireSupported(isSupported, message(), of: option)
    }

    func atMost(_ count: Int) throws(GrammarError) {
        try require(
            values.count <= count, "\(values.count) arguments given, at most \(count) allowed")
    }

    /// Returns the argument at an index as an integer; `nil` if it is missing.
    func whole(_ index: Int, in range: ClosedRange<Int>) throws(GrammarError) -> Int? {
        guard let text = self[index] else { return nil }
        guard let number = PlainNumber.integer(text), range.contains(number) else {
            throw malformed(
                "\(shown(text)) is not an integer between \(range.lowerBound) and "
                    + "\(range.upperBound)")
        }
        return number
    }

    /// Returns the argument at an index as a number; `nil` if it is missing.
    func decimal(_ index: Int, in range: ClosedRange<Double>) throws(GrammarError) -> Double? {
        guard let text = self[index] else { return nil }
        guard let number = PlainNumber.decimal(text), range.contains(number) else {
            throw malformed(
                "\(shown(text)) is not a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Returns the argument at an index as a Boolean; `nil` if it is missing.
    func flag(_ index: Int) throws(GrammarError) -> Bool? {
        guard let text = self[index] else { return nil }
        switch text {
        case "1", "t", "T", "true", "True", "TRUE": return true
        case "0", "f", "F", "false", "False", "FALSE": return false
        default: throw malformed("\(shown(text)) is neither 1 (t, true) nor 0 (f, false)")
        }
    }

    /// Returns the required arguments at some indexes as integers.
    func wholes(
        _ places: Range<Int>, in range: ClosedRange<Int>
    ) throws(GrammarError) -> [Int] {
        var numbers: [Int] = []
        for place in places { numbers.append(try needed(whole(place, in: range))) }
        return numbers
    }

    /// Returns three arguments from an index on, red, green and blue, as an opaque color.
    func color(rgbFrom first: Int) throws(GrammarError) -> Color {
        let argb = try wholes(first..<first + 3, in: 0...255).reduce(0xFF as UInt32) {
            $0 << 8 | UInt32($1)
        }
        return Color(argb: argb)
    }

    /// Returns the rectangle between two corners, given as left, top, right and bottom.
    func rectangle() throws(GrammarError) -> PixelRect {
        let sides = try wholes(0..<4, in: 0...RequestSides.most)
        try require(
            sides[2] > sides[0] && sides[3] > sides[1],
            "the second corner must be to the lower right of the first")
        return PixelRect(
            x: sides[0], y: sides[1],
            size: PixelSize(width: sides[2] - sides[0], height: sides[3] - sides[1]))
    }

    /// Returns the first argument, an angle in degrees, as a quarter turn from 0 to 270.
    func quarterTurn() throws(GrammarError) -> Int {
        let degrees = try needed(whole(0, in: -360_000...360_000))
        try require(degrees % 90 == 0, "the angle must be a multiple of 90")
        return ((degrees % 360) + 360) % 360
    }

    /// Returns a decoded file name; throws if it is too long or has slashes.
    func fileName(_ name: String) throws(GrammarError) -> String {
        try require(
            name.utf8.count <= GrammarLimits.textBytesMax && !name.contains("/")
                && !name.contains("\\"),
            "names have no slashes and at most \(GrammarLimits.textBytesMax) bytes")
        return name
    }

    /// Throws if a time until which the URL is valid is in the past. Both are in seconds since
    /// 1970.
    func requireCurrent(_ moment: Int, at now: Int) throws(GrammarError) {
        guard moment >= now else {
            throw GrammarError(
                .expired, "this URL has expired: request a new one", option: option)
        }
    }

    /// Returns the first argument as a choice for damaged images.
    func damagedImages() throws(GrammarError) -> DamagedImages {
        let text = values.first ?? ""
        return try needed(
            DamagedImages(name: text), "\(shown(text)) is neither show nor refuse")
    }

    /// Returns a required value; throws if it is `nil`.
    func needed<Value>(
        _ value: Value?, _ message: @autoclosure () -> String = "an argument is missing"
    ) throws(GrammarError) -> Value {
        guard let value else { throw malformed(message()) }
        return value
    }

    /// Returns an argument quoted for a message, truncated if it is long.
    func shown(_ text: String) -> String {
        text.utf8.count > 40 ? "'\(text.prefix(40))…'" : "'\(text)'"
    }
}

/// An option of a URL grammar: its names, and its effect on what a URL asks for.
struct GrammarOption<Target>: Sendable {
    typealias Effect = @Sendable (inout Target, OptionArguments) throws(GrammarError) -> Void

    /// The names, the long one first.
    let names: [String]
    /// The maximum number of arguments.
    private let most: Int
    /// Whether it affects what happens before all other options.
    let isEarly: Bool
    private let effect: Effect

    private init(_ names: [String], _ most: Int, _ isEarly: Bool, _ effect: @escaping Effect) {
        (self.names, self.most, self.isEarly, self.effect) = (names, most, isEarly, effect)
    }

    init(
        _ names: String..., most: Int = .max, isEarly: Bool = false, effect: @escaping Effect
    ) {
        self.init(names, most, isEarly, effect)
    }

    func apply(to target: inout Target, _ arguments: OptionArguments) throws(GrammarError) {
        try arguments.atMost(most)
        try effect(&target, arguments)
    }

    /// Creates an option without arguments.
    static func bare(
        _ names: String..., isEarly: Bool = false,
        set: @escaping @Sendable (inout Target) -> Void
    ) -> GrammarOption {
        GrammarOption(names, 0, isEarly) { target, _ in set(&target) }
    }

    /// Creates an option whose only argument is a Boolean.
    static func flag(
        _ names: String..., set: @escaping @Sendable (inout Target, Bool) -> Void
    ) -> GrammarOption {
        GrammarOption(names, 1, false) { target, arguments throws(GrammarError) in
            set(&target, try arguments.needed(arguments.flag(0)))
        }
    }

    /// Creates an option whose only argument is an integer.
    static func whole(
        _ names: String..., in range: ClosedRange<Int>, isEarly: Bool = false,
        set: @escaping @Sendable (inout Target, Int) -> Void
    ) -> GrammarOption {
        GrammarOption(names, 1, isEarly) { target, arguments throws(GrammarError) in
            set(&target, try arguments.needed(arguments.whole(0, in: range)))
        }
    }

    /// Creates an option whose only argument is a number.
    static func decimal(
        _ names: String..., in range: ClosedRange<Double>,
        set: @escaping @Sendable (inout Target, Double) -> Void
    ) -> GrammarOption {
        GrammarOption(names, 1, false) { target, arguments throws(GrammarError) in
            set(&target, try arguments.needed(arguments.decimal(0, in: range)))
        }
    }
}

extension Double {
    /// A fraction in percent, rounded to millionths, so that three thirds add up to the whole.
    var inPercent: Double { (self * 100_000_000).rounded() / 1_000_000 }
}

extension TransformStep {
    /// Returns the steps that crop to a rectangle in percent of the image; none for all of it.
    static func crop(
        percentX x: Double, y: Double, width: Double, height: Double
    ) -> [TransformStep] {
        if (width, height) == (100, 100) { return [] }
        return [
            .cropTo(
                RelativeSize(width: .percent(width), height: .percent(height)),
                .point(x: (x + width / 2) / 100, y: (y + height / 2) / 100))
        ]
    }
}

/// Decodes percent-encoded text (RFC 3986, section 2.1).
enum PercentText {
    /// Returns the decoded bytes. Throws if a percent sign is not followed by two hexadecimal
    /// digits.
    static func bytes(_ text: some StringProtocol, of option: String? = nil) throws(GrammarError)
        -> [UInt8]
    {
        guard let bytes = PercentCoding.decode(text.utf8) else {
            throw GrammarError(
                .malformed, "a % is not followed by two hexadecimal digits: write it as %25",
                option: option)
        }
        return bytes
    }

    /// Encodes a source URL as a part of a path in which it is decoded once: characters that end a
    /// path or have a special meaning in it are encoded.
    static func source(_ url: String) -> String {
        PercentCoding.encode(url.utf8) { (0x21...0x7E).contains($0) && !ending.contains($0) }
    }

    private static let ending = Set("%?#@\"<>\\^`{|}".utf8)

    /// Returns decoded text without control characters; throws for bytes that are not UTF-8.
    static func text(_ text: some StringProtocol, of option: String) throws(GrammarError) -> String
    {
        let bytes = try bytes(text, of: option)
        guard let decoded = String(validating: bytes, as: UTF8.self) else {
            throw .malformed(option, "not UTF-8")
        }
        try require(
            bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }), "control characters are not allowed",
            of: option)
        return decoded
    }
}

/// Base64 with the URL-safe alphabet, with or without padding (RFC 4648, section 5).
enum Base64URL {
    /// Encodes bytes without padding.
    static func encode(_ bytes: [UInt8]) -> String {
        Base64Text.text(bytes).replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }

    /// Decodes a text; returns `nil` for other characters, an impossible length, and nonzero bits
    /// after the last byte.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var digits = Array(text)
        var padding = 0
        while padding < 2, digits.last == UInt8(ascii: "=") {
            digits.removeLast()
            padding += 1
        }
        guard digits.count % 4 != 1, padding == 0 || (digits.count + padding) % 4 == 0 else {
            return nil
        }
        return Base64.bytes(ofDigits: digits, last: (UInt8(ascii: "-"), UInt8(ascii: "_")))
    }
}

/// Colors as written in URLs: hexadecimal digits without `#`, which would begin a fragment.
enum ColorWord {
    /// Parses `rgb` or `rrggbb` to an opaque color; returns `nil` for other texts.
    static func hexadecimal(_ text: String) -> Color? {
        switch text.utf8.count {
        case 3: Color("#" + text.map { "\($0)\($0)" }.joined())
        case 6: Color("#" + text)
        default: nil
        }
    }

    /// Parses a hexadecimal color, one of HTML's sixteen names (CSS Color Module Level 4, basic
    /// colors), or `transparent`.
    static func named(_ text: String) -> Color? {
        let word = text.lowercased()
        return names[word].map { Color(argb: $0) } ?? hexadecimal(word)
    }

    private static let names: [String: UInt32] = [
        "transparent": 0, "black": 0xFF00_0000, "silver": 0xFFC0_C0C0, "gray": 0xFF80_8080,
        "grey": 0xFF80_8080, "white": 0xFFFF_FFFF, "maroon": 0xFF80_0000, "red": 0xFFFF_0000,
        "purple": 0xFF80_0080, "fuchsia": 0xFFFF_00FF, "green": 0xFF00_8000,
        "lime": 0xFF00_FF00, "olive": 0xFF80_8000, "yellow": 0xFFFF_FF00, "navy": 0xFF00_0080,
        "blue": 0xFF00_00FF, "teal": 0xFF00_8080, "aqua": 0xFF00_FFFF,
    ]
}

extension StringProtocol {
    /// The text without surrounding blanks and tabs.
    package var trimmedOfBlanks: SubSequence { trimmed(of: " \t") }

    /// Returns the text without these characters at its ends.
    package func trimmed(of characters: String) -> SubSequence {
        let start = firstIndex { !characters.contains($0) } ?? endIndex
        let end = lastIndex { !characters.contains($0) }.map { index(after: $0) } ?? start
        return self[start..<end]
    }
}
