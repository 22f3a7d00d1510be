import Model

/// URLs of the IIIF Image API 3.0: `/ID/REGION/SIZE/ROTATION/QUALITY.FORMAT`, `/ID/info.json` and
/// `/ID` (`Proto/WEB.md`).
package struct IIIFGrammar: URLGrammar {
    /// The settings that apply to every URL.
    package struct Settings: Hashable, Sendable {
        /// The prefix of the identifier, such as `iiif/3`, without enclosing slashes.
        package var prefix = ""
        /// The URL template of a source, in which `{id}` is replaced by the identifier.
        package var source: String
        /// The rules for the resulting sources.
        package var sources = SourceRules()

        /// Creates settings with a source template.
        package init(source: String) { self.source = source }
    }

    private let settings: Settings
    private let template: IIIFTemplate

    /// Throws for a template that doesn't contain `{id}` exactly once.
    package init(_ settings: Settings) throws(GrammarError) {
        template = try IIIFTemplate(settings.source)
        self.settings = settings
    }

    /// Parses a request target; see `URLGrammar`.
    package func read(_ target: [UInt8], now: Int) throws(GrammarError) -> WebRequest {
        let text = try RequestTarget.text(of: RequestTarget.path(of: target))
        let parts = try withoutPrefix(text).split("/")
        let identifier = try PercentText.text(parts[0], of: "identifier")
        let url = try settings.sources.url(template.url(of: identifier))
        var request = WebRequest(ImageRequest(url: url))
        request.identifier = identifier
        switch parts.count {
        case 1:
            request.kind = .redirect(path: "/\(text)/info.json")
        case 2 where parts[1] == "info.json":
            request.kind = .properties
            request.image.infoOnly = true
        case 5:
            try IIIFParameters(Array(parts.dropFirst())).apply(to: &request)
        default:
            throw GrammarError(
                .nowhere,
                "the path has \(parts.count) parts after its prefix: "
                    + "expected ID/REGION/SIZE/ROTATION/QUALITY.FORMAT; encode / in ID as %2F")
        }
        return try request.checked()
    }

    /// Returns the identifier followed by the parameters; without parameters, those of the full
    /// image as JPEG. See `URLGrammar`.
    package func path(options: String, source: String) -> String {
        let parameters = options.isEmpty ? "full/max/0/default.jpg" : options
        let identifier = PercentCoding.encode(source.utf8, keeping: \.isUnreserved)
        return (settings.prefix.isEmpty ? "" : "\(settings.prefix)/")
            + "\(identifier)/\(parameters)"
    }

    /// Returns the path unsigned, because there are no signatures; see `URLGrammar`.
    package func target(ofPath path: String) throws(GrammarError) -> String { "/\(path)" }

    private func withoutPrefix(_ text: String) throws(GrammarError) -> String {
        if settings.prefix.isEmpty { return text }
        guard text.hasPrefix("\(settings.prefix)/") else {
            throw GrammarError(.nowhere, "the path does not begin with \(settings.prefix)/")
        }
        return String(text.dropFirst(settings.prefix.utf8.count + 1))
    }
}

/// A template that converts identifiers to source URLs.
struct IIIFTemplate: Hashable, Sendable {
    private let start: [UInt8]
    private let end: [UInt8]
    /// Whether the identifier is the complete URL.
    private let isWhole: Bool

    init(_ text: String) throws(GrammarError) {
        let parts = text.split("{id}")
        try require(parts.count == 2, "the source template must contain {id} exactly once")
        (start, end) = (Array(parts[0].utf8), Array(parts[1].utf8))
        isWhole = start.isEmpty && end.isEmpty
    }

    /// Returns the URL for an identifier. Within the template, the identifier is a part of the
    /// path: characters that would end the path are encoded, and it can't escape the directory that
    /// the template specifies.
    func url(of identifier: String) throws(GrammarError) -> [UInt8] {
        try require(!identifier.isEmpty, "must not be empty", of: "identifier")
        if isWhole { return Array(identifier.utf8) }
        let segments = identifier.split("/")
        try require(
            !segments.contains(where: { [".", "..", ""].contains($0) })
                && !identifier.contains("\\"), "empty parts, '.' and '..' are not allowed",
            of: "identifier")
        let path = PercentCoding.encode(identifier.utf8) {
            $0.isUnreserved || "/!$&'()*+,;=:@".utf8.contains($0)
        }
        return start + Array(path.utf8) + end
    }
}

/// The four parameters of an image, in order (IIIF Image API 3.0, section 4).
struct IIIFParameters {
    private let region: IIIFRegion
    private let size: IIIFSize
    /// Degrees clockwise, at least 0 and less than 360.
    private let angle: Double
    private let isMirrored: Bool
    private let isGray: Bool
    private let format: ImageFormat

    /// Parses region, size, rotation, and quality with format.
    init(_ texts: [String]) throws(GrammarError) {
        region = try IIIFRegion(texts[0])
        size = try IIIFSize(texts[1])
        (isMirrored, angle) = try Self.rotation(texts[2])
        guard let dot = texts[3].lastIndex(of: ".") else {
            throw .malformed("format", "missing: append .jpg to the quality")
        }
        isGray = try Self.isGray(String(texts[3][..<dot]))
        format = try Self.format(String(texts[3][texts[3].index(after: dot)...]))
    }

    /// Applies the parameters to a request, with steps in the order of the parameters.
    func apply(to request: inout WebRequest) {
        var steps: [TransformStep] = []
        if region == .square {
            steps += size.squareSteps
        } else {
            if let step = region.step { steps.append(step) }
            if let step = size.step { steps.append(step) }
        }
        if isMirrored { steps.append(.flip(horizontal: true, vertical: false)) }
        if angle != 0 { steps.append(.rotate(Rotation(degreesClockwise: angle))) }
        if isGray { steps.append(.grayscale) }
        request.image.steps = steps
        request.image.output.format = format
        request.leastSize = size.least.flatMap(turned)
    }

    /// Returns a size as it appears in the rotated result: quarter turns exchange width and height;
    /// for other angles it is unknown.
    private func turned(_ size: PixelSize) -> PixelSize? {
        switch angle {
        case 0, 180: size
        case 90, 270: PixelSize(width: size.height, height: size.width)
        default: nil
        }
    }

    private static func rotation(
        _ text: String
    ) throws(GrammarError) -> (isMirrored: Bool, angle: Double) {
        let isMirrored = text.hasPrefix("!")
        let number = isMirrored ? String(text.dropFirst()) : text
        let arguments = OptionArguments("rotation", [number])
        try require(
            number.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }),
            "invalid rotation: use 0 to 360, optionally prefixed by !", of: "rotation")
        let angle = try arguments.needed(arguments.decimal(0, in: 0...360))
        return (isMirrored, angle == 360 ? 0 : angle)
    }

    private static func isGray(_ text: String) throws(GrammarError) -> Bool {
        switch text {
        case "default", "color": return false
        case "gray": return true
        case "bitonal":
            // Unsupported values result in 400 (IIIF Image API 3.0, section 4.4).
            throw .malformed("quality", "bitonal is not supported: use gray")
        default:
            let arguments = OptionArguments("quality", [text])
            throw .malformed("quality", "\(arguments.shown(text)) is not default, color or gray")
        }
    }

    private static func format(_ text: String) throws(GrammarError) -> ImageFormat {
        let arguments = OptionArguments("format", [text])
        guard let format = ImageFormat(fileExtension: text), text == text.lowercased() else {
            throw .malformed(
                "format", "\(arguments.shown(text)) is invalid: use jpg, png, webp or gif")
        }
        guard format.isEncodable else {
            // Likewise for formats (section 4.5).
            throw .malformed(
                "format", "\(text) output is not supported: use jpg, png, webp, gif or tif")
        }
        return format
    }
}

/// The requested region of an image (IIIF Image API 3.0, section 4.1).
enum IIIFRegion: Hashable {
    case full
    case square
    case pixels(PixelRect)
    /// In percent of width and height.
    case percent(x: Double, y: Double, width: Double, height: Double)

    init(_ text: String) throws(GrammarError) {
        if text == "full" || text == "square" {
            self = text == "full" ? .full : .square
            return
        }
        let isPercent = text.hasPrefix("pct:")
        let numbers = isPercent ? String(text.dropFirst(4)) : text
        let arguments = OptionArguments("region", numbers.split(","))
        try require(
            arguments.values.count == 4,
            "\(arguments.shown(numbers)) is invalid: use full, square, x,y,w,h or pct:x,y,w,h",
            of: "region")
        self = isPercent ? try Self.percent(arguments) : try Self.pixels(arguments)
    }

    private static func percent(_ arguments: OptionArguments) throws(GrammarError) -> IIIFRegion {
        var numbers: [Double] = []
        for place in 0..<4 {
            numbers.append(try arguments.needed(arguments.decimal(place, in: 0...100)))
        }
        try require(
            numbers[0] < 100 && numbers[1] < 100 && numbers[2] > 0 && numbers[3] > 0,
            "the region is empty or outside the image", of: "region")
        return .percent(
            x: numbers[0], y: numbers[1], width: min(numbers[2], 100 - numbers[0]),
            height: min(numbers[3], 100 - numbers[1]))
    }

    private static func pixels(_ arguments: OptionArguments) throws(GrammarError) -> IIIFRegion {
        let corner = try arguments.wholes(0..<2, in: 0...RequestSides.most)
        let size = try arguments.wholes(2..<4, in: 1...RequestSides.most)
        return .pixels(
            PixelRect(
                x: corner[0], y: corner[1], size: PixelSize(width: size[0], height: size[1])))
    }

    /// The step that extracts the region; `nil` for the full image.
    var step: TransformStep? {
        switch self {
        case .full, .percent(0, 0, 100, 100): nil
        case .square: .cropRatio(AspectRatio(width: 1, height: 1), .center)
        case .pixels(let rect): .crop(rect)
        case .percent(let x, let y, let width, let height):
            .cropTo(
                RelativeSize(width: .percent(width), height: .percent(height)),
                .point(x: (x + width / 2) / 100, y: (y + height / 2) / 100))
        }
    }
}

/// The size to which a region is scaled (IIIF Image API 3.0, section 4.2).
struct IIIFSize: Hashable {
    /// The form of the parameter.
    enum Form: Hashable {
        /// Unchanged.
        case max
        /// An exact size; a side of 0 is determined by the aspect ratio.
        case exact(PixelSize)
        /// The largest size that fits inside a box.
        case inside(PixelSize)
        /// In percent.
        case percent(Double)
    }

    let form: Form
    /// Whether the region may be enlarged.
    let enlarges: Bool

    init(_ text: String) throws(GrammarError) {
        enlarges = text.hasPrefix("^")
        form = try Self.form(enlarges ? String(text.dropFirst()) : text, enlarges)
    }

    private static func form(_ text: String, _ enlarges: Bool) throws(GrammarError) -> Form {
        if text == "max" { return .max }
        if text.hasPrefix("pct:") {
            let arguments = OptionArguments("size", [String(text.dropFirst(4))])
            let most = enlarges ? 10_000.0 : 100
            let number = try arguments.needed(arguments.decimal(0, in: 0...most))
            try require(number > 0, "the percentage must be above 0", of: "size")
            return number == 100 ? .max : .percent(number)
        }
        let isInside = text.hasPrefix("!")
        let sides = (isInside ? String(text.dropFirst()) : text).split(",")
        let arguments = OptionArguments("size", sides)
        let range = 1...RequestSides.most
        try require(
            sides.count == 2 && sides != ["", ""] && (!isInside || !sides.contains("")),
            "\(arguments.shown(text)) is invalid: use max, w, or ,h or w,h or !w,h or pct:n",
            of: "size")
        let box = PixelSize(
            width: try arguments.whole(0, in: range) ?? 0,
            height: try arguments.whole(1, in: range) ?? 0)
        return isInside ? .inside(box) : .exact(box)
    }

    /// The step that scales the extracted region; `nil` if its size is unchanged.
    var step: TransformStep? {
        switch form {
        case .max: nil
        case .exact(let box) where box.isPositive: .resize(box, .stretch, enlarges: enlarges)
        case .exact(let box): .resize(box, .fit, enlarges: enlarges)
        case .inside(let box): .resize(box, .fit, enlarges: enlarges)
        case .percent(let number):
            .resizeTo(RelativeSize(width: .percent(number), height: .percent(number)), .stretch)
        }
    }

    /// The steps that extract the largest centered square and scale it: a square box is filled, and
    /// for another box, the result is stretched.
    var squareSteps: [TransformStep] {
        switch form {
        case .max, .percent: return [IIIFRegion.square.step, step].compactMap { $0 }
        case .inside(let box): return [square(min(box.width, box.height))]
        case .exact(let box):
            let first = square(max(box.width, box.height))
            let isSquare = box.width == box.height || !box.isPositive
            return isSquare ? [first] : [first, .resize(box, .stretch, enlarges: enlarges)]
        }
    }

    private func square(_ side: Int) -> TransformStep {
        .resize(PixelSize(width: side, height: side), .fill, enlarges: enlarges)
    }

    /// The minimum size of the result if it must not be enlarged: a smaller source is an error.
    var least: PixelSize? {
        guard !enlarges, case .exact(let box) = form else { return nil }
        return box
    }
}
