import Model

/// The filters of thumbor.
enum ThumborFilter {
    typealias Filter = GrammarOption<ThumborPlan>

    /// A filter with its arguments.
    struct Use {
        let filter: Filter
        let arguments: OptionArguments
    }

    /// All supported filters, in the order of the documentation.
    static let all = sizes + looks + files

    private static let byName: [String: Filter] = Dictionary(
        uniqueKeysWithValues: all.flatMap { filter in filter.names.map { ($0, filter) } })

    private static let sizes: [Filter] = [
        .bare("no_upscale", isEarly: true) { $0.isNeverEnlarged = true },
        .bare("stretch", isEarly: true) { $0.isStretched = true },
        Filter("focal", most: 1, isEarly: true) { plan, arguments throws(GrammarError) in
            plan.foci.append(try ThumborFocus(arguments))
        },
        Filter("proportion", most: 1) { plan, arguments throws(GrammarError) in
            let part = try arguments.needed(arguments.decimal(0, in: 0...1))
            try arguments.require(part >= 0.000_001, "the percentage must be above 0")
            let side = RelativeSize.Side.percent((part * 100_000_000).rounded() / 1_000_000)
            plan.add(.resizeTo(RelativeSize(width: side, height: side), .stretch))
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
        .whole("contrast", in: -100...100) { $0.add(.contrast(contrast($1))) },
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
            plan.add(.overlay(try ThumborWatermark.overlay(arguments)))
        },
    ]

    private static let files: [Filter] = [
        Filter("format", most: 1, isEarly: true) { plan, arguments throws(GrammarError) in
            let word = try arguments.needed(arguments[0])
            let format = try arguments.needed(
                ImageFormat(name: word),
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

    /// Converts thumbor's contrast to ours, rounded to thousandths. thumbor's slope is the square
    /// of 1 plus the value in percent.
    private static func contrast(_ percent: Int) -> Double {
        let factor = Double(100 + percent) / 100
        return (ContrastStep(slope: factor * factor).number * 1_000).rounded() / 1_000
    }

    // MARK: - Reading

    /// Parses filters such as `blur(3):grayscale(`; the last closing bracket has been removed.
    static func uses(in text: String) throws(GrammarError) -> [Use] {
        let calls = text.split("):")
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
            guard let filter = byName[name] else {
                let shown = String(name.prefix(40))
                throw absent.contains(shown)
                    ? .notOffered(shown, "this thumbor filter is not supported")
                    : .malformed(
                        shown, "unknown filter: Proto/WEB.md, section 3, lists the filters")
            }
            let values = try arguments(call[call.index(after: bracket)...], of: name)
            uses.append(Use(filter: filter, arguments: OptionArguments(name, values)))
        }
        return uses
    }

    /// Splits arguments at commas outside quotes, removes surrounding blanks and quotes, and
    /// decodes them.
    private static func arguments(
        _ text: Substring, of name: String
    ) throws(GrammarError) -> [String] {
        guard !text.isEmpty else { return [] }
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
        values.append(value)
        var decoded: [String] = []
        for value in values { decoded.append(try plain(value, of: name)) }
        return decoded
    }

    private static func plain(_ text: String, of name: String) throws(GrammarError) -> String {
        let value = try PercentText.text(text, of: name).trimmed(of: " ")
        let isQuoted = value.utf8.count > 2 && value.first == "'" && value.last == "'"
        return String(isQuoted ? value.dropFirst().dropLast() : value)
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

/// The value of the filter `focal`: a rectangle of the source, `LEFTxTOP:RIGHTxBOTTOM`.
struct ThumborFocus: Hashable {
    /// Its center, in pixels of the source.
    let x: Double
    let y: Double
    /// Its area in pixels, which is its weight.
    let weight: Double

    init(_ arguments: OptionArguments) throws(GrammarError) {
        let corners = try arguments.needed(arguments[0]).split(":")
        let numbers = OptionArguments(arguments.option, corners.flatMap { $0.split("x") })
        try arguments.require(
            corners.count == 2 && numbers.values.count == 4,
            "expected LEFTxTOP:RIGHTxBOTTOM in pixels of the source")
        try arguments.requireSupported(
            !numbers.values.contains(where: { $0.contains(".") }),
            "relative focal points are not supported: use pixels")
        let area = try numbers.rectangle()
        x = Double(area.x) + Double(area.size.width) / 2
        y = Double(area.y) + Double(area.size.height) / 2
        weight = Double(area.size.width) * Double(area.size.height)
    }

    /// Returns the weighted center of several rectangles, in pixels of a region of the source.
    /// Rectangles outside the region are ignored; `nil` if all are.
    static func middle(of foci: [ThumborFocus], in crop: PixelRect?) -> (x: Double, y: Double)? {
        let (left, top) = (Double(crop?.x ?? 0), Double(crop?.y ?? 0))
        let inside = foci.filter { focus in
            guard let size = crop?.size else { return true }
            return (left...left + Double(size.width)).contains(focus.x)
                && (top...top + Double(size.height)).contains(focus.y)
        }
        let weight = inside.reduce(0) { $0 + $1.weight }
        guard weight > 0 else { return nil }
        return (
            inside.reduce(0) { $0 + $1.x * $1.weight } / weight - left,
            inside.reduce(0) { $0 + $1.y * $1.weight } / weight - top
        )
    }
}

/// The value of the filter `watermark`: `URL,X,Y,ALPHA[,WIDTH[,HEIGHT]]`.
enum ThumborWatermark {
    /// A coordinate of its position.
    private struct Place {
        /// The point of the image from which it is measured, from 0 to 1.
        var origin = 0.0
        /// The offset in pixels.
        var pixels = 0
        /// The offset in percent of the image; `nil` if there is none.
        var part: Double?
        /// Whether the watermark is repeated.
        var isTiled = false
    }

    static func overlay(_ arguments: OptionArguments) throws(GrammarError) -> Overlay {
        let url = try arguments.needed(arguments[0])
        let (x, y) = (try place(arguments, 1), try place(arguments, 2))
        let alpha = try arguments.needed(arguments.whole(3, in: 0...100))
        let size = try size(arguments)
        try arguments.requireSupported(
            x.isTiled == y.isTiled, "use repeat for both positions or for neither")
        return Overlay(
            url: try address(url, arguments), x: x.pixels, y: y.pixels,
            opacity: Double(100 - alpha) / 100,
            gravity: x.isTiled ? nil : gravity(x, y),
            size: size, repeats: x.isTiled)
    }

    /// Returns the URL of the watermark; as for sources, the scheme is optional.
    private static func address(
        _ url: String, _ arguments: OptionArguments
    ) throws(GrammarError) -> String {
        let whole = url.contains("://") ? url : "http://\(url)"
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
    private static func size(_ arguments: OptionArguments) throws(GrammarError) -> RelativeSize? {
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
