import Model
package import Nettle

/// The server whose URLs are parsed; imagor's are thumbor's with differences.
package enum ThumborDialect: Hashable, Sendable {
    case thumbor
    /// imagor 1.9.
    case imagor

    /// The name in errors.
    var name: String {
        switch self {
        case .thumbor: "thumbor"
        case .imagor: "imagor"
        }
    }

    /// The scheme of sources without one.
    var defaultScheme: String {
        switch self {
        case .thumbor: "http"
        case .imagor: "https"
        }
    }
}

/// thumbor's URLs: `/SIGNATURE/trim/AxB:CxD/fit-in/WxH/ALIGN/smart/filters:…/URL`, and imagor's
/// dialect of them (`Proto/WEB.md`).
package struct ThumborGrammar: URLGrammar {
    /// The settings that apply to every URL.
    package struct Settings: Hashable, Sendable {
        /// The server whose URLs are parsed.
        package let dialect: ThumborDialect
        /// Keys without salt; a signature by any of them is accepted.
        package var keys: [SigningKey] = []
        /// Whether `unsafe` is accepted as a signature.
        package var permitsUnsigned = false
        /// The algorithm of signatures.
        package var algorithm = HMAC.sha1
        /// The length of a signature in bytes, from 8: the code truncated to its first bytes; `nil`
        /// for the whole code.
        package var signatureBytes: Int?
        /// The rules for source URLs; the default scheme is thumbor's http or imagor's https.
        package var sources = SourceRules()

        /// Creates settings that accept no URLs.
        package init(_ dialect: ThumborDialect = .thumbor) {
            self.dialect = dialect
            sources.defaultScheme = dialect.defaultScheme
        }
    }

    private let settings: Settings
    private let signature: PathSignature

    /// Throws for a key with a salt, and for an impossible length of signatures.
    package init(_ settings: Settings) throws(GrammarError) {
        let dialect = settings.dialect
        try require(
            settings.keys.allSatisfy(\.salt.isEmpty),
            "\(dialect.name) keys have no salt: leave it out")
        let whole = settings.algorithm.byteCount
        let bytes = settings.signatureBytes ?? whole
        try require(
            (8...whole).contains(bytes),
            "the signature size must be between 8 and \(whole) bytes for "
                + settings.algorithm.rawValue)
        self.settings = settings
        signature = PathSignature(
            algorithm: settings.algorithm, keys: settings.keys, byteCount: bytes)
    }

    private var dialect: ThumborDialect { settings.dialect }

    /// Parses a request target; see `URLGrammar`.
    package func read(_ target: [UInt8], now: Int) throws(GrammarError) -> WebRequest {
        let path = try RequestTarget.path(of: target)
        let parts = try ThumborPath(RequestTarget.text(of: signedPart(of: path)), dialect)
        var plan = ThumborPlan(parts, now: now)
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
        let source = PercentText.source(source)
        return (options.isEmpty ? "" : "\(options)/")
            + (dialect == .imagor ? source.replacing("+", with: "%2B") : source)
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
        if dialect == .imagor, first.elementsEqual("params".utf8) {
            throw .notOffered("params", "not supported: use `imagebus url explain URL`")
        }
        if settings.permitsUnsigned, first.elementsEqual("unsafe".utf8) { return rest }
        // Some clients percent-encode the padding.
        guard let text = try? PercentText.bytes(String(decoding: first, as: UTF8.self)),
            let code = Base64URL.decode(text)
        else { throw .notSigned(signature) }
        if signature.verifies(code, of: rest)
            || signature.verifies(code, of: ThumborPath.withBrackets(rest))
        {
            return rest
        }
        // imagor then verifies the decoded path, and parses that.
        guard dialect == .imagor, let decoded = PercentCoding.decode(ImagorSource.withBlanks(rest)),
            signature.verifies(code, of: decoded)
        else { throw .notSigned(signature) }
        return Array(PercentCoding.encode(decoded) { (0x21...0x7E).contains($0) }.utf8)
    }

    /// Returns the URL of a source, which is decoded once. A `data:` URL is not decoded.
    private func url(of source: String) throws(GrammarError) -> String {
        let sources = settings.sources
        if source.hasPrefix("data:") { return try sources.url(Array(source.utf8)) }
        let decoded =
            switch dialect {
            case .thumbor: try PercentText.bytes(source)
            case .imagor: try ImagorSource.decoded(source)
            }
        if !SourceRules.namesScheme(decoded), sources.base.isEmpty,
            let slip = ThumborPath.slip(in: source, dialect)
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

    let dialect: ThumborDialect
    private(set) var isMeta = false
    private(set) var trim: [TransformStep] = []
    private(set) var crop: ThumborArea?
    private(set) var fit: Fit?
    /// Whether imagor's `stretch` is among the parts.
    private(set) var isStretched = false
    private(set) var width = RelativeSize.Side.pixels(0)
    private(set) var height = RelativeSize.Side.pixels(0)
    private(set) var flipsAcross = false
    private(set) var flipsDown = false
    /// The margins that imagor's filter `fill` adds.
    private(set) var padding = Margins()
    /// The alignment words, if they differ from the default.
    private(set) var across: String?
    private(set) var down: String?
    private(set) var isSmart = false
    private(set) var filters: [ThumborFilter.Use] = []
    let source: String

    init(_ path: String, _ dialect: ThumborDialect) throws(GrammarError) {
        self.dialect = dialect
        var reader = SegmentReader(path, dialect)
        if dialect == .thumbor, reader.accept("debug") {
            throw .notOffered("debug", "drawing focal points is not supported: leave it out")
        }
        isMeta = reader.accept("meta")
        if let word = reader.next(where: { $0 == "trim" || $0.hasPrefix("trim:") }) {
            trim = try Self.trim(word, dialect)
        }
        if let word = reader.next(where: { Self.isCrop($0, dialect) }) {
            crop = try Self.crop(word, dialect)
        }
        if let word = reader.next(where: { Fit(rawValue: $0) != nil }) { fit = Fit(rawValue: word) }
        isStretched = dialect == .imagor && reader.accept("stretch")
        if let word = reader.next(where: { Self.isSize($0, dialect) }) {
            let sides = word.split("x")
            (flipsAcross, width) = try Self.side(sides[0])
            (flipsDown, height) = try Self.side(sides[1])
        }
        if dialect == .imagor, let word = reader.next(where: Self.isPadding) {
            padding = try Self.padding(word)
        }
        let columns = reader.next { ["left", "center", "right"].contains($0) }
        across = columns == "center" ? nil : columns
        let rows = reader.next { ["top", "middle", "bottom"].contains($0) }
        down = rows == "middle" ? nil : rows
        isSmart = reader.accept("smart")
        if let text = try reader.readFilters() {
            filters = try ThumborFilter.uses(in: text, dialect)
        }
        source = reader.rest
    }

    /// Decodes encoded filter brackets; both clients and proxies encode them.
    static func withBrackets(_ path: [UInt8]) -> [UInt8] {
        let text = String(decoding: path, as: UTF8.self)
        return Array(text.replacing("%28", with: "(").replacing("%29", with: ")").utf8)
    }

    /// Returns an error if a supposed source begins with an unsupported option; `nil` if it may be
    /// a source.
    static func slip(in source: String, _ dialect: ThumborDialect) -> GrammarError? {
        let parts = source.split("/")
        guard let first = parts.first, parts.count > 1 else { return nil }
        if dialect == .thumbor, first == "stretch" || first == "params" {
            return .notOffered(first, "imagor syntax: requires the grammar imagor")
        }
        if isSize(first, .thumbor) || isCrop(first, dialect) || Fit(rawValue: first) != nil
            || first == "stretch"
        {
            return .notOffered(
                String(first.prefix(40)),
                "not an option of \(dialect.name) at this position: the order is "
                    + "meta/trim/crop/fit-in/size")
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
    private static func trim(
        _ word: String, _ dialect: ThumborDialect
    ) throws(GrammarError) -> [TransformStep] {
        var words = word.split(":").dropFirst()
        let isFromBelow = words.first == "bottom-right"
        if isFromBelow || words.first == "top-left" || words.first == "" {
            words = words.dropFirst()
        }
        let arguments = OptionArguments("trim", Array(words))
        try arguments.atMost(1)
        return try trim(arguments, isFromBelow: isFromBelow, dialect)
    }

    /// Returns the steps of a trim whose tolerance, if there is one, is the first argument.
    static func trim(
        _ arguments: OptionArguments, isFromBelow: Bool, _ dialect: ThumborDialect
    ) throws(GrammarError) -> [TransformStep] {
        // imagor's smallest tolerance is 1.
        let least = dialect == .imagor ? 1 : 0
        let tolerance = max(least, try arguments.whole(0, in: 0...255) ?? 0)
        let trim = TransformStep.trim(tolerance: Double(tolerance))
        let turn = TransformStep.flip(horizontal: true, vertical: true)
        return isFromBelow ? [turn, trim, turn] : [trim]
    }

    private static func isCrop(_ word: String, _ dialect: ThumborDialect) -> Bool {
        let corners = word.split(":")
        return corners.count == 2
            && corners.allSatisfy { corner in
                let numbers = corner.split("x")
                return numbers.count == 2
                    && numbers.allSatisfy {
                        isDigits($0) || (dialect == .imagor && isFraction($0))
                    }
            }
    }

    /// Parses `LEFTxTOP:RIGHTxBOTTOM`; all zeros mean no crop.
    private static func crop(
        _ word: String, _ dialect: ThumborDialect
    ) throws(GrammarError) -> ThumborArea? {
        let arguments = OptionArguments("crop", word.split(":").flatMap { $0.split("x") })
        if arguments.values.allSatisfy({ PlainNumber.decimal($0) == 0 }) { return nil }
        return try ThumborArea(arguments, dialect, isOpen: true)
    }

    private static func isPadding(_ word: String) -> Bool {
        let corners = word.split(":").map { $0.split("x") }
        return corners.count <= 2
            && corners.allSatisfy { $0.count == 2 && $0.allSatisfy(isDigits) }
    }

    /// Parses `LEFTxTOP:RIGHTxBOTTOM`; without the second corner, opposite margins are equal.
    private static func padding(_ word: String) throws(GrammarError) -> Margins {
        let numbers = word.split(":").flatMap { $0.split("x") }
        let arguments = OptionArguments("padding", numbers + numbers)
        let sides = try arguments.wholes(0..<4, in: 0...RequestSides.most)
        return Margins(left: sides[0], top: sides[1], right: sides[2], bottom: sides[3])
    }

    /// imagor has no `orig`.
    private static func isSize(_ word: String, _ dialect: ThumborDialect) -> Bool {
        let sides = word.split("x")
        return sides.count == 2
            && sides.allSatisfy { side in
                let number = side.hasPrefix("-") ? String(side.dropFirst()) : side
                return number.isEmpty || isDigits(number)
                    || (dialect == .thumbor && number == "orig")
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

    private static func isFraction(_ text: String) -> Bool {
        let parts = text.split(".")
        return parts.count == 2 && ["", "0", "1"].contains(parts[0]) && isDigits(parts[1])
    }
}

/// A part of an image between two corners, in pixels or, in imagor's URLs, in fractions of its
/// sides.
struct ThumborArea: Hashable {
    let left, top, right, bottom: Double
    let isRelative: Bool

    /// Parses left, top, right and bottom. If `isOpen`, imagor's 0 is the right or bottom edge.
    init(
        _ arguments: OptionArguments, _ dialect: ThumborDialect, isOpen: Bool = false
    ) throws(GrammarError) {
        let most = Double(RequestSides.most)
        var sides: [Double] = []
        for place in 0..<4 {
            let number =
                switch dialect {
                case .thumbor: try arguments.whole(place, in: 0...Int(most)).map { Double($0) }
                case .imagor: try arguments.decimal(place, in: 0...most)
                }
            sides.append(try arguments.needed(number))
        }
        isRelative =
            dialect == .imagor && sides[..<2].allSatisfy { $0 < 1 }
            && sides[2...].allSatisfy { $0 <= 1 }
        try arguments.require(
            isRelative || sides.allSatisfy { $0 == $0.rounded() },
            "mixes pixels and fractions: use one of them")
        if dialect == .imagor, isOpen {
            for place in 2...3 where sides[place] == 0 { sides[place] = isRelative ? 1 : most }
        }
        (left, top, right, bottom) = (sides[0], sides[1], sides[2], sides[3])
        try arguments.require(
            right > left && bottom > top,
            "the second corner must be to the lower right of the first")
    }

    var width: Double { right - left }
    var height: Double { bottom - top }

    /// The steps that crop to this part; none if it is the whole image.
    var steps: [TransformStep] {
        guard isRelative else {
            let size = PixelSize(width: Int(width), height: Int(height))
            return [.crop(PixelRect(x: Int(left), y: Int(top), size: size))]
        }
        return TransformStep.crop(
            percentX: left.inPercent, y: top.inPercent, width: width.inPercent,
            height: height.inPercent)
    }

    /// Whether a point, in the same unit, is inside or on an edge.
    func contains(x: Double, y: Double) -> Bool {
        (left...right).contains(x) && (top...bottom).contains(y)
    }
}

/// Reads the parts of a path that end with a slash, one after the other.
private struct SegmentReader {
    private(set) var rest: String
    private let dialect: ThumborDialect

    init(_ path: String, _ dialect: ThumborDialect) { (rest, self.dialect) = (path, dialect) }

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

    /// Reads the text between `filters:` and the first bracket followed by a slash; in imagor's
    /// URLs, brackets are nested.
    mutating func readFilters() throws(GrammarError) -> String? {
        guard rest.hasPrefix("filters:") else { return nil }
        if rest.firstRange(of: ")/") == nil {
            rest = String(decoding: ThumborPath.withBrackets(Array(rest.utf8)), as: UTF8.self)
        }
        let end =
            switch dialect {
            case .thumbor: rest.firstRange(of: ")/")
            case .imagor: rest.endOfBrackets
            }
        guard let end else {
            throw .malformed("filters", "')/' is missing after the last filter")
        }
        defer { rest = String(rest[end.upperBound...]) }
        return String(rest[..<end.lowerBound].dropFirst("filters:".utf8.count))
    }
}

/// Converts the parts and filters of a thumbor path to steps.
struct ThumborPlan {
    let parts: ThumborPath
    /// The current time in seconds since 1970.
    let now: Int
    private(set) var steps: [TransformStep] = []
    /// The index of the resize among the steps, if there is one.
    private var resizePlace: Int?
    /// The number of steps that produce the size.
    private(set) var sizeStepCount = 0

    var isNeverEnlarged = false
    /// Whether `fit-in` and `adaptive-fit-in` enlarge smaller images.
    var enlargesFit = false
    var isStretched: Bool
    /// The rotation before all other steps, in degrees clockwise.
    var firstTurn = 0
    /// What needs no further computation, apart from the URL.
    var request = WebRequest(ImageRequest(url: ""))
    /// Points and rectangles of the source, weighted by their areas.
    var foci: [ThumborFocus] = []

    init(_ parts: ThumborPath, now: Int) {
        (self.parts, self.now, isStretched) = (parts, now, parts.isStretched)
    }

    mutating func add(_ step: TransformStep) { steps.append(step) }

    /// Adds the steps that precede all filters: trim, crop, size and flips.
    mutating func beginWithSize() throws(GrammarError) {
        if !parts.trim.isEmpty, parts.crop != nil {
            throw .notOffered("trim", "trim cannot be combined with a crop: leave one out")
        }
        if firstTurn != 0 { add(.rotate(Rotation(degreesClockwise: Double(firstTurn)))) }
        for step in parts.trim + (parts.crop?.steps ?? []) { add(step) }
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
        if request.kind == .source {
            request.image = ImageRequest(url: url)
            request.framesMax = nil
            return try request.checked()
        }
        guard parts.isMeta else {
            request.image.steps = steps
            return try request.checked()
        }
        try requireSupported(
            steps.isEmpty && request.image.output.isDefault && request.image.frame == nil,
            "meta describes the source: leave the other options out", of: "meta")
        (request.kind, request.image.infoOnly) = (.properties, true)
        return try request.checked()
    }

    // MARK: - Size

    /// The requested size in pixels; 0 for sides not specified in pixels.
    var box: PixelSize {
        func pixels(_ side: RelativeSize.Side) -> Int {
            if case .pixels(let count) = side { count } else { 0 }
        }
        return PixelSize(width: pixels(parts.width), height: pixels(parts.height))
    }

    private func sizeSteps() throws(GrammarError) -> [TransformStep] {
        guard box != PixelSize(width: 0, height: 0) else { return [] }
        guard let fit = parts.fit else { return try cutSteps() }
        switch fit {
        case .inside: return [.resize(box, .fit, enlarges: enlargesFit)]
        case .adaptive where hasOriginal: return [.resizeTo(relativeBox, .fitTurned)]
        case .adaptive:
            return [.resize(box, mayBeTurned ? .fitTurned : .fit, enlarges: enlargesFit)]
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

    /// Returns the center of the focus rectangles, relative to the crop; `nil` if there are none.
    private func focus() throws(GrammarError) -> Gravity? {
        if foci.isEmpty { return nil }
        try requireSupported(
            parts.trim.isEmpty, "focal cannot be combined with trim: leave one out", of: "focal")
        return try ThumborFocus.middle(of: foci, in: parts.crop, parts.dialect)
    }

    /// Whether the box is rotated to match the orientation of the source.
    var isTurned: Bool {
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
