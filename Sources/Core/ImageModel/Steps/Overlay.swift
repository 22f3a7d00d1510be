/// An image that is laid over another one; where it reaches beyond that, it is cut off.
public struct Overlay: Hashable, Sendable {
    /// Where it is, percent-encoded as that of a request. Empty in jobs: who lays it over is given
    /// its pixels.
    public let url: String
    /// Columns from the left edge to its left edge; negative: from its right edge to the right one.
    /// With a gravity: columns that it is moved, to the left where the gravity is right of the
    /// middle.
    public let x: Int
    /// Rows from the top edge to its top edge; negative: from its bottom edge to the bottom one.
    /// With a gravity: rows that it is moved, up where the gravity is below the middle.
    public let y: Int
    /// How much of it is seen, 0 to 1, in thousandths: what it is multiplied with where it is
    /// opaque.
    public let opacity: Double
    /// Where it is, if it is not where `x` and `y` alone say: a place of the image.
    public let gravity: Gravity?
    /// A box in pixels or in hundredths of the image, which it fills as far as its ratio permits,
    /// enlarged too; `nil`: it has its own size.
    public let size: RelativeSize?
    /// Whether it is laid side by side in both directions, all over the image.
    public let repeats: Bool
    /// How its pixels and those below are put together.
    public let mode: BlendMode

    /// At the top left corner, as it is, unless something else is said. What is no number is no
    /// opacity: NaN, and what is too large for thousandths, stays as it is and is refused.
    public init(
        url: String, x: Int = 0, y: Int = 0, opacity: Double = 1, gravity: Gravity? = nil,
        size: RelativeSize? = nil, repeats: Bool = false, mode: BlendMode = .normal
    ) {
        self.url = SourceURL.percentEncodingNonASCII(url)
        (self.x, self.y) = (x, y)
        let thousandths = (opacity * 1_000).rounded()
        self.opacity = thousandths.isInfinite ? opacity : thousandths / 1_000
        (self.gravity, self.size) = (gravity, size)
        (self.repeats, self.mode) = (repeats, mode)
    }

    /// Where and how it is laid, without what it is.
    public var placed: Overlay {
        Overlay(
            url: "", x: x, y: y, opacity: opacity, gravity: gravity, size: size, repeats: repeats,
            mode: mode)
    }

    /// Where its top left corner is on an image.
    public func origin(of size: PixelSize, on base: PixelSize) -> (x: Int, y: Int) {
        if let gravity, let origin = gravity.origin(of: size, on: base) {
            return (
                origin.x + (gravity.isRight ? -x : x), origin.y + (gravity.isLow ? -y : y)
            )
        }
        return (
            x < 0 ? base.width - size.width + x : x,
            y < 0 ? base.height - size.height + y : y
        )
    }

    /// The size in which it is laid over an image; `own` is its own.
    public func laidSize(of own: PixelSize, on base: PixelSize) -> PixelSize {
        guard let size else { return own }
        return ResizeGeometry(
            source: own, box: size.resolved(in: base), mode: .fit, enlarges: true
        ).scaled
    }

    /// The transformer key, in which the overlay has the name of its original.
    func key(named name: String) -> String {
        "ImagebusOverlayTransformer(\(Self.escaped(name)),{\(x).000000,\(y).000000},"
            + "\(decimalText(opacity))\(keyOfManner))"
    }

    /// What is said besides, and nothing where nothing is.
    private var keyOfManner: String {
        let words = [
            gravity?.description, size.map { "{\($0)}" }, repeats ? Self.repeatWord : nil,
            mode == .normal ? nil : mode.name,
        ]
        return words.compactMap { $0.map { ",\($0)" } }.joined()
    }

    /// The word for `repeats`.
    static let repeatWord = "repeat"

    /// So that nothing in a name can be taken for a part of the key around it.
    private static func escaped(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let bytes = text.utf8.flatMap { byte -> [UInt8] in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                [byte]
            default: [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension ImageRequest {
    /// What is laid over the image, in the order of its steps.
    public var overlays: [Overlay] { steps.compactMap(\.overlay) }

    /// The load of one of its overlays: the original of another URL, from and into the tiers of
    /// originals, in the same class and on the same wishes. It has nothing that was said to the
    /// origin of the image, is not kept as that is, since others lay it over theirs, and is not
    /// refreshed by itself: a request that is, loads it anew.
    public func loading(overlay: Overlay) -> ImageRequest {
        var image = self
        image.url = overlay.url
        image.headers = []
        image.thumbnail = nil
        image.steps = []
        image.output = OutputOptions()
        image.infoOnly = false
        image.facts = WantedFacts()
        image.context.key = nil
        image.context.fallback = nil
        image.context.serializer = nil
        image.options.subtract([.refreshCached, .respectCacheControl, .decodeFirstFrameOnly])
        return image
    }

    /// The loads of its overlays, without a configuration.
    public var preparedOverlays: [Resolution] {
        overlays.map { Resolution(loading(overlay: $0)) }
    }
}

extension TransformStep {
    /// What is laid over, if that is the step.
    public var overlay: Overlay? {
        if case .overlay(let overlay) = self { return overlay }
        return nil
    }

    /// The step for who does it, without the URL of what is laid over.
    public var forJobs: TransformStep { overlay.map { .overlay($0.placed) } ?? self }
}

extension Overlay {
    /// `URL`, `URL,X,Y` or `URL,X,Y,OPACITY` with an http or https URL without user info, and
    /// before it words for how it is laid, each at most once, in any order: a place, a size,
    /// `repeat`, a mode and an opacity. `nil` for anything else, numbers out of range included.
    ///
    /// A URL may have commas. How many parts behind the last ones of it read as numbers decides:
    /// with none the text is the URL, with two they are X and Y, with three or more the last three
    /// are X, Y and OPACITY; with one nobody knows what is meant. So a URL that ends in a comma and
    /// a number is given all three.
    public init?(_ text: String) {
        var parts = text.split(separator: ",", omittingEmptySubsequences: false)[...]
        var words = Words()
        while let part = parts.first, words.take(String(part)) { parts = parts.dropFirst() }
        let count = min(3, parts.dropFirst().reversed().prefix(while: Self.readsAsNumber).count)
        let url = parts.dropLast(count).joined(separator: ",")
        let numbers = parts.suffix(count).map { String($0) }
        guard count != 1, count < 3 || words.opacity == nil,
            let parsed = try? SourceURL(url), ["http", "https"].contains(parsed.scheme),
            parsed.userInfo == nil
        else { return nil }
        guard let x = count > 0 ? Self.place(numbers[0]) : 0,
            let y = count > 0 ? Self.place(numbers[1]) : 0,
            let opacity = count > 2 ? PlainNumber.decimal(numbers[2]) : words.opacity ?? 1,
            (0...1).contains(opacity)
        else { return nil }
        self.init(
            url: url, x: x, y: y, opacity: opacity, gravity: words.gravity, size: words.size,
            repeats: words.repeats, mode: words.mode ?? .normal)
        guard hasPlace, size?.isPermitted ?? true else { return nil }
    }

    /// What is wrong with the words before the URL of a text that is none; `nil` where they are
    /// right.
    static func fault(_ text: String) -> String? {
        var words = Words()
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let word = String(part)
            if words.take(word) { continue }
            if part.contains(":") { return nil }
            var other = Words()
            if other.take(word) { return "'\(word)' says again what a word before it said" }
            return "'\(word)' is no word of an overlay and no URL"
                + Nearness.question(word, known)
        }
        return "there is no URL"
    }

    private static let known =
        Gravity.words.map(\.name) + BlendMode.allCases.map(\.name) + [repeatWord]

    /// What stands before the URL.
    private struct Words {
        var gravity: Gravity?
        var size: RelativeSize?
        var repeats = false
        var mode: BlendMode?
        var opacity: Double?

        /// False for what is no such word, or one that was there before.
        mutating func take(_ word: String) -> Bool {
            if let place = Gravity(word) { return Self.fill(&gravity, place) }
            if let box = RelativeSize(word) { return Self.fill(&size, box) }
            if let named = BlendMode(name: word) { return Self.fill(&mode, named) }
            if let number = PlainNumber.decimal(word) { return Self.fill(&opacity, number) }
            guard word == Overlay.repeatWord, !repeats else { return false }
            repeats = true
            return true
        }

        private static func fill<Value>(_ place: inout Value?, _ value: Value) -> Bool {
            guard place == nil else { return false }
            place = value
            return true
        }
    }

    /// Digits, points, signs and the letter of an exponent, which is not the first of them; whether
    /// it is one is asked later.
    private static func readsAsNumber(_ part: Substring) -> Bool {
        let letters = Set("eE".utf8)
        let others = Set("0123456789.-+".utf8)
        return part.utf8.first.map(others.contains) == true
            && part.utf8.allSatisfy { letters.contains($0) || others.contains($0) }
    }

    private static func place(_ text: String) -> Int? {
        PlainNumber.integer(text).flatMap {
            (-RequestLimits.sideMax...RequestLimits.sideMax).contains($0) ? $0 : nil
        }
    }
}

/// Another image laid over this one.
package struct OverlayStep: StepForm {
    package let overlay: Overlay

    package var name: String { "overlay" }

    package var key: String { overlay.key(named: overlay.url) }

    package var demand: StepDemand { .everything }

    package func scaled(by ratio: Double) -> TransformStep? {
        .overlay(
            Overlay(
                url: overlay.url, x: ImageModel.scaled(overlay.x, by: ratio),
                y: ImageModel.scaled(overlay.y, by: ratio), opacity: overlay.opacity,
                gravity: overlay.gravity?.scaled(by: ratio), size: overlay.size?.scaled(by: ratio),
                repeats: overlay.repeats, mode: overlay.mode))
    }

    package func check(pixelsMax: Int) throws(ImageError) {
        let places = -RequestLimits.sideMax...RequestLimits.sideMax
        guard places.contains(overlay.x), places.contains(overlay.y) else {
            throw ImageError(
                .invalidRequest,
                "overlay: at most \(RequestLimits.sideMax) pixels from an edge")
        }
        guard (0...1).contains(overlay.opacity) else {
            throw ImageError(.invalidRequest, "overlay: the opacity is a number from 0 to 1")
        }
        guard overlay.hasPlace else {
            throw ImageError(
                .invalidRequest,
                "overlay: the gravity is a place of the image, such as southeast or fp:0.3:0.7")
        }
        guard overlay.size?.isPermitted ?? true else {
            throw ImageError(
                .invalidRequest,
                "overlay: the size is WIDTHxHEIGHT, each from 1 to \(RequestLimits.sideMax) pixels "
                    + "or above 0 and at most 100%")
        }
        guard let url = try? SourceURL(overlay.url), url.hasAuthority, url.userInfo == nil else {
            throw ImageError(
                .invalidRequest,
                "overlay: a URL without user info is expected, such as https://host/mark.png")
        }
    }

    static let syntax: StepSyntax = {
        var syntax = written
        syntax.fault = Overlay.fault
        return syntax
    }()

    private static let written = StepSyntax(
        "overlay", value: "[WORDS,]URL[,X,Y[,OPACITY]]",
        "lay another image over it, at X, Y from the left and top edge,\n"
            + "negative: from the right and bottom one (repeatable, 4);\n"
            + "WORDS: a place (GRAVITY as of pad; X, Y move it inwards), a size\n"
            + "(WxH, 20%x20% of the image), repeat, a MODE (as of tint), an opacity;\n"
            + "a URL that ends in a comma and a number needs X, Y and OPACITY",
        expected: "[WORDS,]URL[,X,Y[,OPACITY]] with an http or https URL and an opacity from 0 to "
            + "1, such as http://host/mark.png,-10,-10,0.5 or "
            + "southeast,20%x20%,multiply,0.5,http://host/mark.png; WORDS are a place, a size, "
            + "repeat, a mode and an opacity, each once; a URL that ends in a comma and a number "
            + "needs X, Y and OPACITY"
    ) { Overlay($0).map { .overlay($0) } }
}

extension Overlay {
    /// Whether its gravity, if it has one, is a place: nobody looks at the pixels for it.
    var hasPlace: Bool {
        guard let gravity else { return true }
        return gravity.isPlace && gravity.isPermitted
    }
}

/// How a colour or an image is laid over another image. The raw values are those of `CGBlendMode`,
/// the formulas those of Core Graphics: of PDF for the first 16, of Porter and Duff for the others.
public enum BlendMode: UInt8, Hashable, Sendable, CaseIterable {
    /// Over the image.
    case normal
    /// The product: never lighter.
    case multiply
    /// The product of what is missing to white: never darker.
    case screen
    /// Multiplies where the image is dark, screens where it is light.
    case overlay
    /// The darker sample.
    case darken
    /// The lighter sample.
    case lighten
    /// Lightens the image.
    case colorDodge
    /// Darkens the image.
    case colorBurn
    /// A diffuse light on the image.
    case softLight
    /// Multiplies where the source is dark, screens where it is light.
    case hardLight
    /// The difference.
    case difference
    /// A difference of less contrast.
    case exclusion
    /// The hue of the source, all else of the image.
    case hue
    /// The saturation of the source, all else of the image.
    case saturation
    /// Hue and saturation of the source, the light of the image.
    case color
    /// The light of the source, all else of the image.
    case luminosity
    /// Nothing.
    case clear
    /// The source in place of the image.
    case copy
    /// The source where the image is.
    case sourceIn
    /// The source where the image is not.
    case sourceOut
    /// The source over the image, where that is.
    case sourceAtop
    /// The source below the image.
    case destinationOver
    /// The image where the source is.
    case destinationIn
    /// The image where the source is not.
    case destinationOut
    /// The image over the source, where that is.
    case destinationAtop
    /// Each where the other is not.
    case xor
    /// The sum, less white.
    case plusDarker
    /// The sum.
    case plusLighter

    private static let names = [
        "normal", "multiply", "screen", "overlay", "darken", "lighten", "color-dodge",
        "color-burn", "soft-light", "hard-light", "difference", "exclusion", "hue", "saturation",
        "color", "luminosity", "clear", "copy", "source-in", "source-out", "source-atop",
        "destination-over", "destination-in", "destination-out", "destination-atop", "xor",
        "plus-darker", "plus-lighter",
    ]

    static let expected = names.joined(separator: ", ")

    /// The word on the command line, in configurations and on the wire.
    public var name: String { Self.names[Int(rawValue)] }

    /// By its name; `nil` for other words.
    public init?(name: String) {
        guard let mode = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = mode
    }
}
