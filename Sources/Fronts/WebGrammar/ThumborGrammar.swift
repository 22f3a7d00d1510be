import Model
import Nettle

/// thumbor's URLs: `/SIGNATURE/trim/AxB:CxD/fit-in/WxH/ALIGN/smart/filters:…/URL` (`Proto/WEB.md`).
package struct ThumborGrammar: URLGrammar {
    /// The settings that apply to every URL.
    package struct Settings: Hashable, Sendable {
        /// Keys without salt; a signature by any of them is accepted.
        package var keys: [SigningKey] = []
        /// Whether `unsafe` is accepted as a signature.
        package var permitsUnsigned = false
        /// The rules for source URLs; the default scheme is http.
        package var sources = SourceRules()

        /// Creates settings that accept no URLs.
        package init() { sources.defaultScheme = "http" }
    }

    private let settings: Settings
    private let signature: PathSignature

    /// Throws for a key with a salt.
    package init(_ settings: Settings) throws(GrammarError) {
        try require(
            settings.keys.allSatisfy(\.salt.isEmpty), "thumbor keys have no salt: leave it out")
        self.settings = settings
        signature = PathSignature(
            algorithm: .sha1, keys: settings.keys, byteCount: HMAC.sha1.byteCount)
    }

    /// Parses a request target; see `URLGrammar`.
    package func read(_ target: [UInt8], now: Int) throws(GrammarError) -> WebRequest {
        let path = try RequestTarget.path(of: target)
        let parts = try ThumborPath(RequestTarget.text(of: signedPart(of: path)))
        var plan = ThumborPlan(parts)
        for filter in parts.filters where filter.filter.isEarly {
            try filter.filter.apply(to: &plan, filter.arguments)
        }
        try plan.beginWithSize()
        for filter in parts.filters where !filter.filter.isEarly {
            try filter.filter.apply(to: &plan, filter.arguments)
        }
        let request = try plan.request(for: url(of: parts.source))
        for overlay in request.image.overlays { try settings.sources.check(overlay.url) }
        return request
    }

    /// Returns the options followed by the source; see `URLGrammar`.
    package func path(options: String, source: String) -> String {
        (options.isEmpty ? "" : "\(options)/") + PercentText.source(source)
    }

    /// Returns the signed target; the leading slash is not part of the signed text, and the
    /// signature has padding as in thumbor; see `URLGrammar`.
    package func target(ofPath path: String) throws(GrammarError) -> String {
        if let text = signature.text(for: Array(path.utf8)) {
            let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
            return "/\(text)\(padding)/\(path)"
        }
        guard settings.permitsUnsigned else { throw .notSigned(signature) }
        return "/unsafe/\(path)"
    }

    private func signedPart(of path: [UInt8]) throws(GrammarError) -> [UInt8] {
        guard let (first, rest) = RequestTarget.split(path) else {
            throw .malformed("the path must be /SIGNATURE/…/URL")
        }
        if settings.permitsUnsigned, first.elementsEqual("unsafe".utf8) { return rest }
        // Some clients percent-encode the padding.
        guard let text = try? PercentText.bytes(String(decoding: first, as: UTF8.self)),
            let code = Base64URL.decode(text),
            signature.verifies(code, of: rest)
                || signature.verifies(code, of: ThumborPath.withBrackets(rest))
        else { throw .notSigned(signature) }
        return rest
    }

    /// Returns the URL of a source, which is decoded once. A `data:` URL is not decoded.
    private func url(of source: String) throws(GrammarError) -> String {
        let sources = settings.sources
        if source.hasPrefix("data:") { return try sources.url(Array(source.utf8)) }
        let decoded = try PercentText.bytes(source)
        if !SourceRules.namesScheme(decoded), sources.base.isEmpty,
            let slip = ThumborPath.slip(in: source)
        {
            throw slip
        }
        return try sources.url(decoded)
    }
}

/// The parts of a thumbor path, in their fixed order; all but the last are optional.
struct ThumborPath {
    /// A side of the requested size that is that of the source. One of no pixels is determined by
    /// the other side.
    static let original = RelativeSize.Side.percent(100)

    /// How the image is fitted into a box.
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
    private(set) var width = RelativeSize.Side.pixels(0)
    private(set) var height = RelativeSize.Side.pixels(0)
    private(set) var flipsAcross = false
    private(set) var flipsDown = false
    /// The alignment words, if they differ from the default.
    private(set) var across: String?
    private(set) var down: String?
    private(set) var isSmart = false
    private(set) var filters: [ThumborFilter.Use] = []
    let source: String

    init(_ path: String) throws(GrammarError) {
        var reader = SegmentReader(path)
        if reader.accept("debug") {
            throw .notOffered("debug", "drawing focal points is not supported: leave it out")
        }
        isMeta = reader.accept("meta")
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
        isSmart = reader.accept("smart")
        if let text = try reader.readFilters() { filters = try ThumborFilter.uses(in: text) }
        source = reader.rest
    }

    /// Decodes encoded filter brackets; both clients and proxies encode them.
    static func withBrackets(_ path: [UInt8]) -> [UInt8] {
        let text = String(decoding: path, as: UTF8.self)
        return Array(text.replacing("%28", with: "(").replacing("%29", with: ")").utf8)
    }

    /// Returns an error if a supposed source begins with an unsupported option; `nil` if it may be
    /// a source.
    static func slip(in source: String) -> GrammarError? {
        let parts = source.split("/")
        guard let first = parts.first, parts.count > 1 else { return nil }
        if first == "stretch" {
            return .notOffered("stretch", "imagor syntax: use filters:stretch() after the size")
        }
        if first == "params" {
            return .notOffered("params", "imagor syntax: use thumbor's meta")
        }
        if isSize(first) || isCrop(first) || Fit(rawValue: first) != nil {
            return .notOffered(
                String(first.prefix(40)),
                "not a thumbor option at this position: the order is meta/trim/crop/fit-in/size")
        }
        let namesScheme = parts.dropFirst().contains { $0.hasSuffix(":") }
        guard namesScheme, !first.contains("."), !first.contains(":") else { return nil }
        return .malformed(
            String(first.prefix(40)), "neither an option nor the host of a source")
    }

    /// The gravity from alignment or detection; filters specify a focus separately.
    var gravity: Gravity {
        if isSmart { return .attention }
        let x = across == "left" ? 0 : across == "right" ? 1 : 0.5
        let y = down == "top" ? 0 : down == "bottom" ? 1 : 0.5
        return .point(x: x, y: y)
    }

    // MARK: - Parts

    /// Parses `trim`, `trim:top-left`, `trim:10` or `trim:top-left:10`, or the same with
    /// `bottom-right`, which is implemented by rotating the image so that its color is at the top
    /// left.
    private static func trim(_ word: String) throws(GrammarError) -> [TransformStep] {
        var words = word.split(":").dropFirst()
        let isFromBelow = words.first == "bottom-right"
        if isFromBelow || words.first == "top-left" || words.first == "" {
            words = words.dropFirst()
        }
        let arguments = OptionArguments("trim", Array(words))
        try arguments.atMost(1)
        let trim = TransformStep.trim(tolerance: Double(try arguments.whole(0, in: 0...255) ?? 0))
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

    /// Parses `LEFTxTOP:RIGHTxBOTTOM`; all zeros mean no crop.
    private static func crop(_ word: String) throws(GrammarError) -> PixelRect? {
        let arguments = OptionArguments("crop", word.split(":").flatMap { $0.split("x") })
        if arguments.values.allSatisfy({ PlainNumber.integer($0) == 0 }) { return nil }
        return try arguments.rectangle()
    }

    private static func isSize(_ word: String) -> Bool {
        let sides = word.split("x")
        return sides.count == 2
            && sides.allSatisfy { side in
                let number = side.hasPrefix("-") ? String(side.dropFirst()) : side
                return number.isEmpty || number == "orig" || isDigits(number)
            }
    }

    private static func side(
        _ text: String
    ) throws(GrammarError) -> (isFlipped: Bool, RelativeSize.Side) {
        let isFlipped = text.hasPrefix("-")
        let number = isFlipped ? String(text.dropFirst()) : text
        if number == "orig" { return (isFlipped, original) }
        let arguments = OptionArguments("size", [number])
        return (isFlipped, .pixels(try arguments.whole(0, in: 0...RequestSides.most) ?? 0))
    }

    private static func isDigits(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}

/// Reads the parts of a path that end with a slash, one after the other.
private struct SegmentReader {
    private(set) var rest: String

    init(_ path: String) { rest = path }

    /// Reads a specific part; returns whether it was next.
    mutating func accept(_ word: String) -> Bool { next { $0 == word } != nil }

    /// Reads the next part if it satisfies a predicate. A part without a following slash is the
    /// source.
    mutating func next(where isWanted: (String) -> Bool) -> String? {
        guard let slash = rest.firstIndex(of: "/") else { return nil }
        let word = String(rest[..<slash])
        guard isWanted(word) else { return nil }
        rest = String(rest[rest.index(after: slash)...])
        return word
    }

    /// Reads the text between `filters:` and the first bracket followed by a slash.
    mutating func readFilters() throws(GrammarError) -> String? {
        guard rest.hasPrefix("filters:") else { return nil }
        if rest.firstRange(of: ")/") == nil {
            rest = String(decoding: ThumborPath.withBrackets(Array(rest.utf8)), as: UTF8.self)
        }
        guard let end = rest.firstRange(of: ")/") else {
            throw .malformed("filters", "')/' is missing after the last filter")
        }
        defer { rest = String(rest[end.upperBound...]) }
        return String(rest[..<end.lowerBound].dropFirst("filters:".utf8.count))
    }
}

/// Converts the parts and filters of a thumbor path to steps.
struct ThumborPlan {
    let parts: ThumborPath
    private(set) var steps: [TransformStep] = []
    /// The index of the resize among the steps, if there is one.
    private var resizePlace: Int?
    /// The number of steps that produce the size.
    private var sizeStepCount = 0

    var isNeverEnlarged = false
    var isStretched = false
    /// What needs no further computation, apart from the URL.
    var request = WebRequest(ImageRequest(url: ""))
    /// Rectangles of the source, weighted by their areas.
    var foci: [ThumborFocus] = []

    init(_ parts: ThumborPath) { self.parts = parts }

    mutating func add(_ step: TransformStep) { steps.append(step) }

    /// Adds the steps that precede all filters: trim, crop, size and flips.
    mutating func beginWithSize() throws(GrammarError) {
        if !parts.trim.isEmpty, parts.crop != nil {
            throw .notOffered("trim", "trim cannot be combined with a crop: leave one out")
        }
        for step in parts.trim { add(step) }
        if let crop = parts.crop { add(.crop(crop)) }
        let size = try sizeSteps()
        if !size.isEmpty { resizePlace = steps.count }
        for step in size { add(step) }
        if parts.flipsAcross || parts.flipsDown {
            add(.flip(horizontal: parts.flipsAcross, vertical: parts.flipsDown))
        }
        sizeStepCount = steps.count
    }

    /// Returns the request for the stack.
    func request(for url: String) throws(GrammarError) -> WebRequest {
        var request = request
        request.image.url = url
        guard parts.isMeta else {
            request.image.steps = steps
            return try request.checked()
        }
        try requireSupported(
            steps.isEmpty && request.image.output.isDefault,
            "meta describes the source: leave the other options out", of: "meta")
        (request.kind, request.image.infoOnly) = (.properties, true)
        return try request.checked()
    }

    // MARK: - Size

    /// The requested size in pixels; 0 for sides not specified in pixels.
    private var box: PixelSize {
        func pixels(_ side: RelativeSize.Side) -> Int {
            if case .pixels(let count) = side { count } else { 0 }
        }
        return PixelSize(width: pixels(parts.width), height: pixels(parts.height))
    }

    private func sizeSteps() throws(GrammarError) -> [TransformStep] {
        guard box != PixelSize(width: 0, height: 0) else { return [] }
        guard let fit = parts.fit else { return try cutSteps() }
        switch fit {
        case .inside: return [.resize(box, .fit)]
        case .adaptive where hasOriginal: return [.resizeTo(relativeBox, .fitTurned)]
        case .adaptive: return [.resize(box, mayBeTurned ? .fitTurned : .fit)]
        case .full where hasOriginal:
            return [.resizeTo(relativeBox, .cover, enlarges: !isNeverEnlarged)]
        case .adaptiveFull where hasOriginal:
            return [.resizeTo(relativeBox, .coverTurned, enlarges: !isNeverEnlarged)]
        case .full, .adaptiveFull:
            guard box.isPositive else { return [.resize(box, .fit, enlarges: !isNeverEnlarged)] }
            let mode: ResizeMode = fit == .adaptiveFull && mayBeTurned ? .coverTurned : .cover
            return [.resize(box, mode, enlarges: !isNeverEnlarged)]
        }
    }

    /// Whether the box can be rotated to match the orientation of the image.
    private var mayBeTurned: Bool { box.isPositive && box.width != box.height }

    private var hasOriginal: Bool {
        parts.width == ThumborPath.original || parts.height == ThumborPath.original
    }

    /// Returns the steps for an exact size, which cut off what exceeds it.
    private func cutSteps() throws(GrammarError) -> [TransformStep] {
        let enlarges = !isNeverEnlarged
        if hasOriginal {
            // Nothing is scaled unless the other side has to grow.
            let gravity = try focus() ?? parts.gravity
            if isStretched { return [.resizeTo(relativeBox, .stretch, enlarges: enlarges)] }
            return enlarges
                ? [.resizeTo(relativeBox, .fill, gravity)] : [.cropTo(relativeBox, gravity)]
        }
        guard box.isPositive else { return [.resize(box, .fit, enlarges: enlarges)] }
        if isStretched { return [.resize(box, .stretch, enlarges: enlarges)] }
        if let focus = try focus() {
            return [.resizeTo(relativeBox, .fill, enlarges: enlarges, focus)]
        }
        if parts.gravity == .center { return [.resize(box, .fill, enlarges: enlarges)] }
        return [
            .resize(box, .cover, enlarges: enlarges),
            .cropTo(relativeBox, parts.gravity),
        ]
    }

    /// The box, in which a side may be that of the source.
    private var relativeBox: RelativeSize {
        RelativeSize(width: parts.width, height: parts.height)
    }

    // MARK: - Filters that depend on the size

    /// Returns the center of the focus rectangles inside the crop, in pixels of the crop; `nil` if
    /// there are none.
    private func focus() throws(GrammarError) -> Gravity? {
        if foci.isEmpty { return nil }
        try requireSupported(
            parts.trim.isEmpty, "focal cannot be combined with trim: leave one out", of: "focal")
        guard let place = ThumborFocus.middle(of: foci, in: parts.crop) else { return nil }
        return .pixel(x: place.x, y: place.y)
    }

    /// Whether the box is rotated to match the orientation of the source.
    private var isTurned: Bool {
        (parts.fit == .adaptive || parts.fit == .adaptiveFull) && mayBeTurned
    }

    /// Enlarges an image that is smaller than its box because of a fit or an earlier filter.
    mutating func upscale() {
        guard box.isPositive, !isNeverEnlarged, let resizePlace else { return }
        guard parts.fit != nil else {
            if hasOtherSize { add(.resize(box, .fit, enlarges: true)) }
            return
        }
        guard case .resize(let box, let mode, _) = steps[resizePlace] else { return }
        let resize = TransformStep.resize(box, mode, enlarges: true)
        let isChanged = steps.count > sizeStepCount
        if isChanged { add(resize) } else { steps[resizePlace] = resize }
    }

    /// Whether a filter has changed the size since the image got the requested one.
    private var hasOtherSize: Bool {
        steps[sizeStepCount...].contains { step in
            switch step {
            case .rotate, .resizeTo, .resize: true
            default: false
            }
        }
    }

    /// Puts the image on a canvas of the requested size.
    mutating func fill(_ color: Color, under: Bool) throws(GrammarError) {
        try requireSupported(
            !hasOriginal, "'orig' is not supported with fill: use numbers", of: "fill")
        if parts.fit != nil || hasOtherSize, box != PixelSize(width: 0, height: 0) {
            try requireSupported(
                !isTurned, "fill is not supported with adaptive-fit-in: use fit-in", of: "fill")
            let canvas = PixelSize(width: max(1, box.width), height: max(1, box.height))
            if hasOtherSize { add(.cropTo(box.wholeIfOpen, .center)) }
            add(.pad(canvas, .center, color))
        }
        if under, color != .clear { add(.flatten(color)) }
    }
}
