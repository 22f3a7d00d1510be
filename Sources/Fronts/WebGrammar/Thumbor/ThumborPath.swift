import ImageModel

/// The parts of a path of thumbor's, which stand in one order; each may be missing but the last.
struct ThumborPath {
    /// One side of the size that is wanted.
    enum Side: Equatable {
        /// It follows from the other one.
        case open
        case pixels(Int)
        /// That of the source.
        case original
    }

    /// How a box is filled.
    enum Fit: String {
        case inside = "fit-in"
        case adaptive = "adaptive-fit-in"
        case full = "full-fit-in"
        case adaptiveFull = "adaptive-full-fit-in"
    }

    private(set) var isMeta = false
    private(set) var trim: [TransformStep] = []
    private(set) var crop: PixelRect?
    private(set) var fit: Fit?
    private(set) var width = Side.open
    private(set) var height = Side.open
    private(set) var flipsAcross = false
    private(set) var flipsDown = false
    /// Words that say what counts most, by what is not usual.
    private(set) var across: String?
    private(set) var down: String?
    private(set) var isSmart = false
    private(set) var filters: [ThumborFilter.Use] = []
    let source: String

    init(_ path: String) throws(GrammarError) {
        var reader = SegmentReader(path)
        if reader.take("debug") {
            throw .notOffered("debug", "focal points are not drawn here: leave it out")
        }
        isMeta = reader.take("meta")
        if let word = reader.next(where: { $0 == "trim" || $0.hasPrefix("trim:") }) {
            trim = try Self.trim(word)
        }
        if let word = reader.next(where: Self.isCrop) { crop = try Self.crop(word) }
        if let word = reader.next(where: { Fit(rawValue: $0) != nil }) { fit = Fit(rawValue: word) }
        if let word = reader.next(where: Self.isSize) {
            let sides = word.split("x")
            (flipsAcross, width) = try Self.side(sides[0])
            (flipsDown, height) = try Self.side(sides[1])
        }
        let columns = reader.next { ["left", "center", "right"].contains($0) }
        across = columns == "center" ? nil : columns
        let rows = reader.next { ["top", "middle", "bottom"].contains($0) }
        down = rows == "middle" ? nil : rows
        isSmart = reader.take("smart")
        if let text = try reader.takeFilters() { filters = try ThumborFilter.uses(in: text) }
        source = reader.rest
    }

    /// Clients and proxies encode the brackets of filters. Both are undone.
    static func withBrackets(_ path: [UInt8]) -> [UInt8] {
        var text = String(decoding: path, as: UTF8.self)
        for (code, bracket) in [("%28", "("), ("%29", ")")] {
            text = text.replacing(code, with: bracket)
        }
        return Array(text.utf8)
    }

    /// What is wrong with what seems to be a source, where an option that is none stands before it;
    /// `nil` where it may be one.
    static func slip(in source: String) -> GrammarError? {
        let parts = source.split("/")
        guard let first = parts.first, parts.count > 1 else { return nil }
        if first == "stretch" {
            return .notOffered("stretch", "it is imagor's: write filters:stretch() behind the size")
        }
        if first == "params" {
            return .notOffered("params", "it is imagor's: use thumbor's meta for facts")
        }
        if isSize(first) || isCrop(first) || Fit(rawValue: first) != nil {
            return .notOffered(
                String(first.prefix(40)),
                "it is none of thumbor's here: the order is meta/trim/crop/fit-in/size")
        }
        let namesScheme = parts.dropFirst().contains { $0.hasSuffix(":") }
        guard namesScheme, !first.contains("."), !first.contains(":") else { return nil }
        return .malformed(
            String(first.prefix(40)), "this is neither an option nor the host of a source")
    }

    /// What counts most, of those that are places or found by looking; a focus is said by filters.
    var gravity: Gravity {
        if isSmart { return .attention }
        let x = across == "left" ? 0 : across == "right" ? 1 : 0.5
        let y = down == "top" ? 0 : down == "bottom" ? 1 : 0.5
        return .point(x: x, y: y)
    }

    // MARK: - Parts

    /// `trim`, `trim:top-left`, `trim:10` and `trim:top-left:10`, or with `bottom-right`, whose
    /// colour is at the top left of the image that is turned.
    private static func trim(_ word: String) throws(GrammarError) -> [TransformStep] {
        var words = word.split(":").dropFirst()
        let isFromBelow = words.first == "bottom-right"
        if isFromBelow || words.first == "top-left" || words.first == "" {
            words = words.dropFirst()
        }
        let said = OptionArguments("trim", Array(words))
        try said.atMost(1)
        let trim = TransformStep.trim(tolerance: Double(try said.whole(0, in: 0...255) ?? 0))
        let turn = TransformStep.flip(horizontal: true, vertical: true)
        return isFromBelow ? [turn, trim, turn] : [trim]
    }

    private static func isCrop(_ word: String) -> Bool {
        let corners = word.split(":")
        return corners.count == 2
            && corners.allSatisfy { corner in
                let numbers = corner.split("x")
                return numbers.count == 2 && numbers.allSatisfy(Self.isDigits)
            }
    }

    /// `LEFTxTOP:RIGHTxBOTTOM`; zeros say nothing.
    private static func crop(_ word: String) throws(GrammarError) -> PixelRect? {
        let said = OptionArguments("crop", word.split(":").flatMap { $0.split("x") })
        var sides: [Int] = []
        for place in 0..<4 {
            sides.append(try said.needed(said.whole(place, in: 0...RequestSides.most)))
        }
        if sides.allSatisfy({ $0 == 0 }) { return nil }
        guard sides[2] > sides[0], sides[3] > sides[1] else {
            throw .malformed("crop", "the second corner is right of the first one and below it")
        }
        return PixelRect(
            x: sides[0], y: sides[1],
            size: PixelSize(width: sides[2] - sides[0], height: sides[3] - sides[1]))
    }

    private static func isSize(_ word: String) -> Bool {
        let sides = word.split("x")
        return sides.count == 2
            && sides.allSatisfy { side in
                let number = side.hasPrefix("-") ? String(side.dropFirst()) : side
                return number.isEmpty || number == "orig" || isDigits(number)
            }
    }

    private static func side(_ text: String) throws(GrammarError) -> (isFlipped: Bool, Side) {
        let isFlipped = text.hasPrefix("-")
        let number = isFlipped ? String(text.dropFirst()) : text
        if number == "orig" { return (isFlipped, .original) }
        let said = OptionArguments("size", [number])
        let pixels = try said.whole(0, in: 0...RequestSides.most) ?? 0
        return (isFlipped, pixels == 0 ? .open : .pixels(pixels))
    }

    private static func isDigits(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}

/// Takes what stands before slashes, one after the other.
private struct SegmentReader {
    private(set) var rest: String

    init(_ path: String) { rest = path }

    /// Takes this word.
    mutating func take(_ word: String) -> Bool { next { $0 == word } != nil }

    /// Takes the next word where it is such a one. What no slash follows is the source.
    mutating func next(where isWanted: (String) -> Bool) -> String? {
        guard let slash = rest.firstIndex(of: "/") else { return nil }
        let word = String(rest[..<slash])
        guard isWanted(word) else { return nil }
        rest = String(rest[rest.index(after: slash)...])
        return word
    }

    /// Takes what stands between `filters:` and the first bracket that a slash follows.
    mutating func takeFilters() throws(GrammarError) -> String? {
        guard rest.hasPrefix("filters:") else { return nil }
        if rest.firstRange(of: ")/") == nil {
            rest = String(decoding: ThumborPath.withBrackets(Array(rest.utf8)), as: UTF8.self)
        }
        guard let end = rest.firstRange(of: ")/") else {
            throw .malformed("filters", "a bracket and a slash are missing behind the last one: )/")
        }
        defer { rest = String(rest[end.upperBound...]) }
        return String(rest[..<end.lowerBound].dropFirst("filters:".utf8.count))
    }
}
