import Model

/// The filters of thumbor. imagor's dialect replaces some and adds others (`ImagorFilter`).
enum ThumborFilter {
    typealias Filter = GrammarOption<ThumborPlan>

    /// A filter with its arguments.
    struct Use {
        let filter: Filter
        let arguments: OptionArguments
    }

    /// All supported filters, in the order of the documentation.
    static let all = sizes + looks + files

    private static let byName: [ThumborDialect: [String: Filter]] = [
        .thumbor: table(all), .imagor: table(all).merging(table(ImagorFilter.all)) { $1 },
    ]

    private static func table(_ filters: [Filter]) -> [String: Filter] {
        Dictionary(
            uniqueKeysWithValues: filters.flatMap { filter in filter.names.map { ($0, filter) } })
    }

    private static let sizes: [Filter] = [
        .bare("no_upscale", isEarly: true) { ($0.isNeverEnlarged, $0.enlargesFit) = (true, false) },
        .bare("stretch", isEarly: true) { $0.isStretched = true },
        Filter("focal", most: 1, isEarly: true) { plan, arguments throws(GrammarError) in
            plan.foci.append(try ThumborFocus(arguments))
        },
        Filter("proportion", most: 1) { plan, arguments throws(GrammarError) in
            let part = try arguments.needed(arguments.decimal(0, in: 0...1))
            try arguments.require(part >= 0.000_001, "the percentage must be above 0")
            plan.scale(by: part)
        },
        .bare("upscale") { $0.upscale() },
        Filter("fill", most: 2) { plan, arguments throws(GrammarError) in
            let word = try arguments.needed(arguments[0])
            try arguments.requireSupported(
                word != "auto" && word != "blur", "'\(word)' is not supported: use a color")
            try plan.fill(arguments.named(word), under: arguments.flag(1) ?? false)
        },
        Filter("rotate", most: 1) { plan, arguments throws(GrammarError) in
            let angle = try arguments.quarterTurn()
            guard angle != 0 else { return }
            plan.add(.rotate(Rotation(degreesClockwise: Double(360 - angle))))
        },
    ]

    private static let looks: [Filter] = [
        Filter("blur", most: 2) { plan, arguments throws(GrammarError) in
            let radius = try arguments.needed(arguments.whole(0, in: 1...150))
            let sigma = try arguments.decimal(1, in: 0...100) ?? 0
            let wanted = sigma > 0 ? sigma : Double(radius)
            try arguments.requireSupported(
                (2...100).contains(wanted), "the radius must be between 2 and 100")
            plan.add(.blur(radius: wanted))
        },
        Filter("sharpen", most: 3) { plan, arguments throws(GrammarError) in
            let amount = try arguments.needed(arguments.decimal(0, in: 0...100))
            let radius = try arguments.needed(arguments.decimal(1, in: 0...10))
            let isOfLight = try arguments.needed(arguments.flag(2))
            try arguments.requireSupported(
                amount == 1 && !isOfLight, "only sharpen(1,RADIUS,false) is supported")
            plan.add(.sharpen(radius: radius))
        },
        .whole("brightness", in: -100...100) { $0.add(.brightness(Double($1))) },
        // thumbor's slope is the square of 1 plus the value in percent.
        .whole("contrast", in: -100...100) { plan, percent in
            let factor = Double(100 + percent) / 100
            plan.add(.contrast(slope: factor * factor))
        },
        .bare("grayscale") { $0.add(.grayscale) },
        // `RADIUS,R,G,B[,TRANSPARENT]`.
        Filter("round_corner", most: 5) { plan, arguments throws(GrammarError) in
            try arguments.requireSupported(
                arguments[0]?.contains("|") != true,
                "elliptical corners are not supported: use one radius")
            let radius = try arguments.needed(arguments.whole(0, in: 0...RequestSides.most))
            let color = try arguments.color(rgbFrom: 1)
            let isTransparent = try arguments.flag(4) ?? false
            plan.add(.round(radius: Double(radius)))
            if !isTransparent { plan.add(.flatten(color)) }
        },
        Filter("background_color", most: 1) { plan, arguments throws(GrammarError) in
            let color = try arguments.named(arguments.needed(arguments[0]))
            if color != .clear { plan.add(.flatten(color)) }
        },
        Filter("watermark", most: 6) { plan, arguments throws(GrammarError) in
            plan.add(.overlay(try ThumborWatermark.overlay(arguments, .thumbor)))
        },
    ]

    private static let files: [Filter] = [
        Filter("format", most: 1, isEarly: true) { plan, arguments throws(GrammarError) in
            let word = try arguments.needed(arguments[0])
            let format = try arguments.needed(
                ImageFormat(name: word) ?? ImageFormat(fileExtension: word),
                "\(arguments.shown(word)) is not a format: use jpeg, png, webp, …")
            try arguments.requireSupported(
                format.isEncodable, "\(format.name) output is not supported")
            plan.request.image.output.format = format
        },
        .whole("quality", in: 0...100, isEarly: true) { $0.request.image.output.quality = $1 },
        .whole("max_bytes", in: 1...1 << 30, isEarly: true) {
            $0.request.image.output.maxBytes = $1
        },
        .whole("max_age", in: 0...Int(Int32.max), isEarly: true) {
            $0.request.maxAge = $1
        },
        Filter("damaged", most: 1, isEarly: true) { plan, arguments throws(GrammarError) in
            plan.request.image.context.damaged = try arguments.damagedImages()
        },
        .bare("strip_exif", isEarly: true) { $0.request.image.output.metadata = .nothing },
        .bare("strip_icc", isEarly: true) {
            _ = $0.request.image.output.apply(settings: ["icc": "srgb"])
        },
    ]

    /// thumbor filters that are not supported.
    static let absent: Set<String> = [
        "extract_focal", "saturation", "colorize", "rgb", "noise",
        "equalize", "convolution", "curve", "frame", "autojpg", "redeye", "cover", "gifv",
        // Documented by thumbor, but ignored by its code.
        "horizontal_align", "vertical_align",
    ]

    // MARK: - Reading

    /// Parses filters such as `blur(3):grayscale(`; the last closing bracket has been removed.
    static func uses(
        in text: String, _ dialect: ThumborDialect
    ) throws(GrammarError) -> [Use] {
        let calls =
            switch dialect {
            case .thumbor: text.split("):")
            case .imagor: try ImagorFilter.calls(in: text)
            }
        try require(
            calls.count <= GrammarLimits.optionsMax,
            "at most \(GrammarLimits.optionsMax) filters are allowed")
        var uses: [Use] = []
        for call in calls {
            guard let bracket = call.firstIndex(of: "(") else {
                throw .malformed(
                    String(call.prefix(40)), "filters require parentheses, such as grayscale()")
            }
            let name = String(call[..<bracket])
            guard let filter = byName[dialect]?[name] else {
                let shown = String(name.prefix(40))
                let absent = dialect == .imagor ? ImagorFilter.absent : absent
                throw absent.contains(shown)
                    ? .notOffered(shown, "this \(dialect.name) filter is not supported")
                    : .malformed(
                        shown, "unknown filter: Proto/WEB.md, section 3, lists the filters")
            }
            let values = try arguments(call[call.index(after: bracket)...], of: name, dialect)
            uses.append(Use(filter: filter, arguments: OptionArguments(name, values)))
        }
        return uses
    }

    /// Splits arguments at commas, except within thumbor's quotes and imagor's brackets, removes
    /// surrounding blanks and quotes, and decodes them.
    private static func arguments(
        _ text: Substring, of name: String, _ dialect: ThumborDialect
    ) throws(GrammarError) -> [String] {
        guard !text.isEmpty else { return [] }
        let values =
            switch dialect {
            case .thumbor: outsideQuotes(text)
            case .imagor: text.split(outsideBrackets: ",")
            }
        var decoded: [String] = []
        for value in values {
            let value = try PercentText.text(value, of: name).trimmed(of: " ")
            let isQuoted =
                dialect == .thumbor && value.utf8.count > 2 && value.first == "'"
                && value.last == "'"
            decoded.append(String(isQuoted ? value.dropFirst().dropLast() : value))
        }
        return decoded
    }

    private static func outsideQuotes(_ text: Substring) -> [String] {
        var (values, value, isQuoted) = ([String](), "", false)
        for character in text {
            if character == "'" { isQuoted.toggle() }
            if character == ",", !isQuoted {
                values.append(value)
                value = ""
            } else {
                value.append(character)
            }
        }
        return values + [value]
    }
}

extension TransformStep {
    /// Returns a contrast with this slope of the tone curve, at least 0, rounded to thousandths.
    static func contrast(slope: Double) -> TransformStep {
        .contrast((ContrastStep(slope: slope).number * 1_000).rounded() / 1_000)
    }
}

extension ThumborPlan {
    /// Scales both sides by the same factor.
    mutating func scale(by part: Double) {
        let side = RelativeSize.Side.percent(part.inPercent)
        add(.resizeTo(RelativeSize(width: side, height: side), .stretch))
    }
}

extension OptionArguments {
    /// Parses a color.
    fileprivate func named(_ word: String) throws(GrammarError) -> Color {
        try needed(
            ColorWord.named(word),
            "\(shown(word)) is not a color: use rrggbb, or a name such as white")
    }
}

/// The value of the filter `focal`: a rectangle of the source, `LEFTxTOP:RIGHTxBOTTOM`, or imagor's
/// points.
struct ThumborFocus: Hashable {
    /// The unit of the coordinates; those of different units have no common weight.
    enum Unit: Hashable {
        case pixels
        /// Fractions of the sides of the source.
        case regions, points
    }

    /// Its center.
    let x: Double
    let y: Double
    /// Its area, which is its weight.
    let weight: Double
    let unit: Unit

    init(x: Double, y: Double, weight: Double, unit: Unit) {
        (self.x, self.y, self.weight, self.unit) = (x, y, weight, unit)
    }

    /// Creates the focus on a rectangle.
    init(_ area: ThumborArea) {
        self.init(
            x: area.left + area.width / 2, y: area.top + area.height / 2,
            weight: area.width * area.height, unit: area.isRelative ? .regions : .pixels)
    }

    init(_ arguments: OptionArguments) throws(GrammarError) {
        let corners = try arguments.needed(arguments[0]).split(":")
        let numbers = OptionArguments(arguments.option, corners.flatMap { $0.split("x") })
        try arguments.require(
            corners.count == 2 && numbers.values.count == 4,
            "expected LEFTxTOP:RIGHTxBOTTOM in pixels of the source")
        try arguments.requireSupported(
            !numbers.values.contains(where: { $0.contains(".") }),
            "relative focal points are not supported: use pixels")
        self.init(try ThumborArea(numbers, .thumbor))
    }

    /// Returns the weighted center, relative to a region of the source. thumbor ignores those
    /// outside the region; `nil` if all are.
    static func middle(
        of foci: [ThumborFocus], in crop: ThumborArea?, _ dialect: ThumborDialect
    ) throws(GrammarError) -> Gravity? {
        let unit = foci.first?.unit ?? .pixels
        let isRelative = unit != .pixels
        try requireSupported(
            foci.allSatisfy { $0.unit == unit } && crop?.isRelative ?? isRelative == isRelative,
            "points, regions and the crop must have the same unit: use pixels", of: "focal")
        let counted = foci.filter {
            dialect == .imagor || crop?.contains(x: $0.x, y: $0.y) ?? true
        }
        let weight = counted.reduce(0) { $0 + $1.weight }
        guard weight > 0 else { return nil }
        let x = counted.reduce(0) { $0 + $1.x * $1.weight } / weight - (crop?.left ?? 0)
        let y = counted.reduce(0) { $0 + $1.y * $1.weight } / weight - (crop?.top ?? 0)
        guard isRelative else { return .pixel(x: max(0, x), y: max(0, y)) }
        return .point(
            x: min(max(0, x / (crop?.width ?? 1)), 1), y: min(max(0, y / (crop?.height ?? 1)), 1))
    }
}

/// The value of the filter `watermark`: `URL,X,Y,ALPHA[,WIDTH[,HEIGHT]]`.
enum ThumborWatermark {
    /// A coordinate of its position.
    struct Place {
        /// The point of the image from which it is measured, from 0 to 1.
        var origin = 0.0
        /// The offset in pixels.
        var pixels = 0
        /// The offset in percent of the image; `nil` if there is none.
        var part: Double?
        /// Whether the watermark is repeated.
        var isTiled = false
    }

    static func overlay(
        _ arguments: OptionArguments, _ dialect: ThumborDialect
    ) throws(GrammarError) -> Overlay {
        let url = try address(arguments, dialect)
        let (x, y, alpha, size): (Place, Place, Double, RelativeSize?)
        switch dialect {
        case .thumbor:
            (x, y) = (try place(arguments, 1), try place(arguments, 2))
            alpha = Double(try arguments.needed(arguments.whole(3, in: 0...100)))
            size = try self.size(arguments)
        case .imagor:
            (x, y) = (
                try imagorPlace(arguments, 1, "left", "right"),
                try imagorPlace(arguments, 2, "top", "bottom")
            )
            alpha = try arguments.decimal(3, in: 0...100) ?? 0
            size = try imagorSize(arguments)
        }
        try arguments.requireSupported(
            x.isTiled == y.isTiled, "use repeat for both positions or for neither")
        return Overlay(
            url: url, x: x.pixels, y: y.pixels, opacity: (100 - alpha) / 100,
            gravity: x.isTiled ? nil : gravity(x, y),
            size: size, repeats: x.isTiled)
    }

    /// Returns the URL of the watermark; as for sources, the scheme is optional.
    private static func address(
        _ arguments: OptionArguments, _ dialect: ThumborDialect
    ) throws(GrammarError) -> String {
        var url = try arguments.needed(arguments[0])
        if dialect == .imagor { url = ImagorSource.fromBase64(url) }
        let whole = url.contains("://") ? url : "\(dialect.defaultScheme)://\(url)"
        do throws(GrammarError) {
            return try SourceSchemes(["http", "https"]).url(Array(whole.utf8))
        } catch {
            throw arguments.malformed(error.message)
        }
    }

    private static func place(_ arguments: OptionArguments, _ index: Int) throws(GrammarError)
        -> Place
    {
        let text = try arguments.needed(arguments[index])
        if text == "center" { return Place(origin: 0.5) }
        if text == "repeat" { return Place(isTiled: true) }
        let origin = text.hasPrefix("-") ? 1.0 : 0
        if text.last == "p" {
            let part = OptionArguments(arguments.option, [String(text.dropLast())])
            let hundredths = try part.needed(part.whole(0, in: -100...100))
            return Place(origin: origin, part: Double(abs(hundredths)))
        }
        let range = -RequestSides.most...RequestSides.most
        let number = try arguments.needed(arguments.whole(index, in: range))
        return Place(origin: origin, pixels: abs(number))
    }

    /// Returns the position, including offsets that are fractions of the image.
    private static func gravity(_ x: Place, _ y: Place) -> Gravity {
        guard x.part != nil || y.part != nil else { return .point(x: x.origin, y: y.origin) }
        func side(_ place: Place) -> RelativeSize.Side {
            place.part.map(RelativeSize.Side.percent) ?? .pixels(0)
        }
        return .moved(x: x.origin, y: y.origin, by: GravityOffset(x: side(x), y: side(y)))
    }

    /// Returns the maximum size in percent of the image; an unspecified side is not limited.
    static func size(_ arguments: OptionArguments) throws(GrammarError) -> RelativeSize? {
        var sides: [RelativeSize.Side?] = []
        for index in 4...5 {
            guard let text = arguments[index], text != "none", text != "0" else {
                sides.append(nil)
                continue
            }
            let number = try arguments.needed(arguments.whole(index, in: 1...100))
            sides.append(.percent(Double(number)))
        }
        guard sides[0] != nil || sides[1] != nil else { return nil }
        return RelativeSize(width: sides[0] ?? .percent(100), height: sides[1] ?? .percent(100))
    }
}
