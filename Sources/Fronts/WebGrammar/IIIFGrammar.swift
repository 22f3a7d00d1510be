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
    /// The steps, in the order of the parameters.
    private var steps: [TransformStep] = []
    /// The minimum size before the rotation; `nil` for no minimum.
    private var least: PixelSize?
    private let format: ImageFormat
    /// Degrees clockwise, at least 0 and less than 360.
    private let angle: Double

    /// Parses region, size, rotation, and quality with format.
    init(_ texts: [String]) throws(GrammarError) {
        let region = try Self.region(texts[0])
        let size = try Size(texts[1])
        let (isMirrored, angle) = try Self.rotation(texts[2])
        guard let dot = texts[3].lastIndex(of: ".") else {
            throw .malformed("format", "missing: append .jpg to the quality")
        }
        let isGray = try Self.isGray(String(texts[3][..<dot]))
        format = try Self.format(String(texts[3][texts[3].index(after: dot)...]))
        self.angle = angle
        least = size.least
        steps = texts[0] == "square" ? size.squareSteps : region + size.steps
        if isMirrored { steps.append(.flip(horizontal: true, vertical: false)) }
        if angle != 0 { steps.append(.rotate(Rotation(degreesClockwise: angle))) }
        if isGray { steps.append(.grayscale) }
    }

    /// Applies the parameters to a request.
    func apply(to request: inout WebRequest) {
        request.image.steps = steps
        request.image.output.format = format
        request.leastSize = least.flatMap(turned)
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

    /// Returns the steps that extract a region (section 4.1): none for the full image, or for the
    /// square, whose steps depend on the size.
    private static func region(_ text: String) throws(GrammarError) -> [TransformStep] {
        if text == "full" || text == "square" { return [] }
        let isPercent = text.hasPrefix("pct:")
        let numbers = isPercent ? String(text.dropFirst(4)) : text
        let arguments = OptionArguments("region", numbers.split(","))
        try arguments.require(
            arguments.values.count == 4,
            "\(arguments.shown(numbers)) is invalid: use full, square, x,y,w,h or pct:x,y,w,h")
        guard isPercent else {
            let corner = try arguments.wholes(0..<2, in: 0...RequestSides.most)
            let size = try arguments.wholes(2..<4, in: 1...RequestSides.most)
            let box = PixelSize(width: size[0], height: size[1])
            return [.crop(PixelRect(x: corner[0], y: corner[1], size: box))]
        }
        var sides: [Double] = []
        for place in 0..<4 {
            sides.append(try arguments.needed(arguments.decimal(place, in: 0...100)))
        }
        try arguments.require(
            sides[0] < 100 && sides[1] < 100 && sides[2] > 0 && sides[3] > 0,
            "the region is empty or outside the image")
        let (x, y) = (sides[0], sides[1])
        return TransformStep.crop(
            percentX: x, y: y, width: min(sides[2], 100 - x), height: min(sides[3], 100 - y))
    }

    private static func rotation(
        _ text: String
    ) throws(GrammarError) -> (isMirrored: Bool, angle: Double) {
        let isMirrored = text.hasPrefix("!")
        let number = isMirrored ? String(text.dropFirst()) : text
        let arguments = OptionArguments("rotation", [number])
        try arguments.require(
            number.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E },
            "invalid rotation: use 0 to 360, optionally prefixed by !")
        let angle = try arguments.needed(arguments.decimal(0, in: 0...360))
        return (isMirrored, angle == 360 ? 0 : angle)
    }

    private static func isGray(_ text: String) throws(GrammarError) -> Bool {
        let arguments = OptionArguments("quality", [text])
        // Unsupported values result in 400 (section 4.4).
        try arguments.require(text != "bitonal", "bitonal is not supported: use gray")
        try arguments.require(
            ["default", "color", "gray"].contains(text),
            "\(arguments.shown(text)) is not default, color or gray")
        return text == "gray"
    }

    private static func format(_ text: String) throws(GrammarError) -> ImageFormat {
        let arguments = OptionArguments("format", [text])
        let format = try arguments.needed(
            text == text.lowercased() ? ImageFormat(fileExtension: text) : nil,
            "\(arguments.shown(text)) is invalid: use jpg, png, webp or gif")
        // Likewise for formats (section 4.5).
        try arguments.require(
            format.isEncodable, "\(text) output is not supported: use jpg, png, webp, gif or tif")
        return format
    }

    /// The size to which a region is scaled (section 4.2).
    private struct Size {
        /// The exact size, or that of the box in which the result fits; a side of 0 is determined
        /// by the aspect ratio. `nil` if no size in pixels is specified.
        private var box: PixelSize?
        private var isInside = false
        private var percent = 100.0
        /// Whether the region may be enlarged.
        private let enlarges: Bool

        init(_ text: String) throws(GrammarError) {
            enlarges = text.hasPrefix("^")
            let text = enlarges ? String(text.dropFirst()) : text
            if text == "max" { return }
            if text.hasPrefix("pct:") {
                let arguments = OptionArguments("size", [String(text.dropFirst(4))])
                let most = enlarges ? 10_000.0 : 100
                percent = try arguments.needed(arguments.decimal(0, in: 0...most))
                try arguments.require(percent > 0, "the percentage must be above 0")
                return
            }
            isInside = text.hasPrefix("!")
            let sides = (isInside ? String(text.dropFirst()) : text).split(",")
            let arguments = OptionArguments("size", sides)
            try arguments.require(
                sides.count == 2 && sides != ["", ""] && (!isInside || !sides.contains("")),
                "\(arguments.shown(text)) is invalid: use max, w, or ,h or w,h or !w,h or pct:n")
            let range = 1...RequestSides.most
            box = PixelSize(
                width: try arguments.whole(0, in: range) ?? 0,
                height: try arguments.whole(1, in: range) ?? 0)
        }

        /// The steps that scale the extracted region; none if its size is unchanged.
        var steps: [TransformStep] {
            if let box {
                let isExact = !isInside && box.isPositive
                return [.resize(box, isExact ? .stretch : .fit, enlarges: enlarges)]
            }
            let side = RelativeSize.Side.percent(percent)
            let size = RelativeSize(width: side, height: side)
            return percent == 100 ? [] : [.resizeTo(size, .stretch)]
        }

        /// The steps that extract the largest centered square and scale it: a square box is
        /// filled, and for another box, the result is stretched.
        var squareSteps: [TransformStep] {
            guard let box else {
                return [.cropRatio(AspectRatio(width: 1, height: 1), .center)] + steps
            }
            let side =
                isInside ? min(box.width, box.height) : max(box.width, box.height)
            let square = PixelSize(width: side, height: side)
            let isSquare = isInside || box == square || !box.isPositive
            return [.resize(square, .fill, enlarges: enlarges)] + (isSquare ? [] : steps)
        }

        /// The minimum size of the result if it must not be enlarged: a smaller source is an error.
        var least: PixelSize? { enlarges || isInside ? nil : box }
    }
}
