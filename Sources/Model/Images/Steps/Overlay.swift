/// An image composited over another one and clipped to it.
public struct Overlay: Hashable, Sendable {
    /// The URL, percent-encoded like that of a request. Empty in jobs: the worker receives the
    /// overlay's pixels.
    public let url: String
    /// The horizontal distance between the left edges or, if negative, between the right edges.
    /// With a gravity it is an offset: to the right, or to the left if the gravity is right of the
    /// center.
    public let x: Int
    /// The vertical distance between the top edges or, if negative, between the bottom edges. With
    /// a gravity it is an offset: down, or up if the gravity is below the center.
    public let y: Int
    /// The opacity, 0 to 1 in thousandths, by which the overlay's alpha is multiplied.
    public let opacity: Double
    /// The point at which the overlay is placed; `nil` if only `x` and `y` determine it.
    public let gravity: Gravity?
    /// A box in pixels or percent of the image into which the overlay is fitted, enlarging it if
    /// necessary; `nil` for its own size.
    public let size: RelativeSize?
    /// Whether the overlay is tiled over the whole image.
    public let repeats: Bool
    /// How overlay and image are blended.
    public let mode: BlendMode

    /// Creates an overlay; by default at the top left corner and in its own size. An invalid
    /// opacity (NaN, or too large for thousandths) is kept and rejected later.
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

    /// The placement without the URL.
    public var placed: Overlay {
        Overlay(
            url: "", x: x, y: y, opacity: opacity, gravity: gravity, size: size, repeats: repeats,
            mode: mode)
    }

    /// Returns the position of the top left corner on an image.
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

    /// Returns the size at which the overlay is placed on an image; `own` is its original size.
    public func laidSize(of own: PixelSize, on base: PixelSize) -> PixelSize {
        guard let size else { return own }
        return ResizeGeometry(
            source: own, box: size.resolved(in: base), mode: .fit, enlarges: true
        ).scaled
    }

    /// Returns the transformer key, in which `name` identifies the original of the overlay.
    func key(named name: String) -> String {
        "ImagebusOverlayTransformer(\(Self.escaped(name)),{\(x).000000,\(y).000000},"
            + "\(decimalText(opacity))\(settingsKey))"
    }

    /// The optional parts of the key; empty if all have their defaults.
    private var settingsKey: String {
        let words = [
            gravity?.description, size.map { "{\($0)}" }, repeats ? Self.repeatWord : nil,
            mode == .normal ? nil : mode.name,
        ]
        return words.compactMap { $0.map { ",\($0)" } }.joined()
    }

    static let repeatWord = "repeat"

    /// Escapes a name so that no part of it can be mistaken for the surrounding key.
    private static func escaped(_ text: String) -> String {
        PercentCoding.encode(text.utf8) { $0.isLetterOrDigit || $0 == UInt8(ascii: "_") }
    }
}

extension ImageRequest {
    /// The overlays, in step order.
    public var overlays: [Overlay] { steps.compactMap(\.overlay) }

    /// Returns the load of an overlay: the original of another URL, using the tiers of originals,
    /// with the same priority class and options. It omits everything meant for the origin of the
    /// image, is not stored under that image because other images may share it, and is not
    /// revalidated on its own; a refreshing request reloads it.
    public func loading(overlay: Overlay) -> ImageRequest {
        var image = self
        image.url = overlay.url
        image.headers = []
        image.thumbnail = nil
        image.steps = []
        image.output = OutputOptions()
        image.infoOnly = false
        image.properties = RequestedProperties()
        image.context.key = nil
        image.context.fallback = nil
        image.context.serializer = nil
        image.options.subtract([.refreshCached, .respectCacheControl, .decodeFirstFrameOnly])
        return image
    }

    /// The loads of the overlays, without a configuration.
    public var preparedOverlays: [Resolution] {
        overlays.map { Resolution(loading(overlay: $0)) }
    }
}

extension TransformStep {
    /// The overlay, if this is an overlay step.
    public var overlay: Overlay? {
        if case .overlay(let overlay) = self { return overlay }
        return nil
    }

    /// The step as sent to workers, without the URL of the overlay.
    public var forJobs: TransformStep { overlay.map { .overlay($0.placed) } ?? self }
}

extension Overlay {
    /// Parses `URL`, `URL,X,Y` or `URL,X,Y,OPACITY` with an http or https URL without user info. It
    /// may be preceded by words for the placement, each at most once, in any order: a gravity, a
    /// size, `repeat`, a mode and an opacity. Returns `nil` for anything else, including numbers
    /// out of range.
    ///
    /// Because a URL may contain commas, the number of trailing numeric parts decides: with none,
    /// the text is the URL; with two, they are X and Y; with three or more, the last three are X, Y
    /// and OPACITY; one is ambiguous. So all three must be given for a URL that ends in a comma and
    /// a number.
    public init?(_ text: String) {
        var parts = text.split(separator: ",", omittingEmptySubsequences: false)[...]
        var words = Words()
        while let part = parts.first, words.accept(String(part)) { parts = parts.dropFirst() }
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

    /// Returns the error in the words before the URL of an invalid text; `nil` if the words are
    /// valid.
    static func fault(_ text: String) -> String? {
        var words = Words()
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let word = String(part)
            if words.accept(word) { continue }
            if part.contains(":") { return nil }
            var other = Words()
            if other.accept(word) { return "'\(word)' repeats a setting of an earlier word" }
            return "'\(word)' is neither an overlay word nor a URL"
                + SpellingSuggestion.question(word, known)
        }
        return "the URL is missing"
    }

    private static let known =
        Gravity.words.map(\.name) + BlendMode.allCases.map(\.name) + [repeatWord]

    /// The words before the URL.
    private struct Words {
        var gravity: Gravity?
        var size: RelativeSize?
        var repeats = false
        var mode: BlendMode?
        var opacity: Double?

        /// Returns false for an unknown or repeated word.
        mutating func accept(_ word: String) -> Bool {
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

    /// Returns whether the part looks like a number: digits, points, signs and an exponent letter
    /// that is not the first character. Its validity is checked later.
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

/// Composites another image over this one.
package struct OverlayStep: StepForm {
    package let overlay: Overlay

    package var name: String { "overlay" }

    package var key: String { overlay.key(named: overlay.url) }

    package var demand: StepDemand { .everything }

    package func scaled(by ratio: Double) -> TransformStep? {
        .overlay(
            Overlay(
                url: overlay.url, x: Model.scaled(overlay.x, by: ratio),
                y: Model.scaled(overlay.y, by: ratio), opacity: overlay.opacity,
                gravity: overlay.gravity?.scaled(by: ratio), size: overlay.size?.scaled(by: ratio),
                repeats: overlay.repeats, mode: overlay.mode))
    }

    package func check(pixelsMax: Int) throws(ImageError) {
        let places = -RequestLimits.sideMax...RequestLimits.sideMax
        try ImageError.require(
            places.contains(overlay.x) && places.contains(overlay.y),
            "overlay: X and Y must be at most \(RequestLimits.sideMax) pixels from an edge")
        try ImageError.require(
            (0...1).contains(overlay.opacity), "overlay: the opacity must be a number from 0 to 1")
        try ImageError.require(
            overlay.hasPlace,
            "overlay: the gravity must be a position, such as southeast or fp:0.3:0.7")
        try ImageError.require(
            overlay.size?.isPermitted ?? true,
            "overlay: the size must be WIDTHxHEIGHT, each from 1 to \(RequestLimits.sideMax) "
                + "pixels, or above 0 and at most 100%")
        guard let url = try? SourceURL(overlay.url), url.hasAuthority, url.userInfo == nil else {
            throw ImageError(
                .invalidRequest,
                "overlay: expected a URL without user info, such as https://host/mark.png")
        }
    }

    static let syntax: StepSyntax = {
        var syntax = written
        syntax.fault = Overlay.fault
        return syntax
    }()

    private static let written = StepSyntax(
        "overlay", value: "[WORDS,]URL[,X,Y[,OPACITY]]",
        expected: "[WORDS,]URL[,X,Y[,OPACITY]] with an http or https URL and an opacity from 0 to "
            + "1, such as http://host/mark.png,-10,-10,0.5 or "
            + "southeast,20%x20%,multiply,0.5,http://host/mark.png; WORDS are a position, a "
            + "size, repeat, a mode and an opacity, each once; a URL that ends in a comma and a "
            + "number requires X, Y and OPACITY"
    ) { Overlay($0).map { .overlay($0) } }
}

extension Overlay {
    /// Whether the gravity, if set, doesn't depend on the pixels.
    var hasPlace: Bool {
        guard let gravity else { return true }
        return gravity.isPlace && gravity.isPermitted
    }
}

/// The blend mode of a color or an image over another image. Raw values are those of `CGBlendMode`,
/// formulas those of Core Graphics: PDF modes for the first 16, Porter-Duff for the others.
public enum BlendMode: UInt8, Hashable, Sendable, CaseIterable {
    /// The source over the image.
    case normal
    /// The product; never lighter.
    case multiply
    /// The product of the inverses, inverted; never darker.
    case screen
    /// Multiply if the image is dark, screen if it is light.
    case overlay
    /// The darker sample.
    case darken
    /// The lighter sample.
    case lighten
    /// Lightens the image depending on the source.
    case colorDodge
    /// Darkens the image depending on the source.
    case colorBurn
    /// A diffuse light shining on the image.
    case softLight
    /// Multiply if the source is dark, screen if it is light.
    case hardLight
    /// The absolute difference.
    case difference
    /// A difference with lower contrast.
    case exclusion
    /// The hue of the source with saturation and luminosity of the image.
    case hue
    /// The saturation of the source with hue and luminosity of the image.
    case saturation
    /// Hue and saturation of the source with the luminosity of the image.
    case color
    /// The luminosity of the source with hue and saturation of the image.
    case luminosity
    /// Transparent.
    case clear
    /// The source, replacing the image.
    case copy
    /// The source inside the image's shape.
    case sourceIn
    /// The source outside the image's shape.
    case sourceOut
    /// The source over the image, inside the image's shape.
    case sourceAtop
    /// The image over the source.
    case destinationOver
    /// The image inside the source's shape.
    case destinationIn
    /// The image outside the source's shape.
    case destinationOut
    /// The image over the source, inside the source's shape.
    case destinationAtop
    /// Source and image outside each other's shape.
    case xor
    /// The sum minus white.
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

    /// The name on the command line, in configurations and on the wire.
    public var name: String { Self.names[Int(rawValue)] }

    /// Looks up a mode by name; returns `nil` for other words.
    public init?(name: String) {
        guard let mode = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = mode
    }
}
