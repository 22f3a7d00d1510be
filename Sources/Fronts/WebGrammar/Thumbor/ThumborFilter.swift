import ImageModel

/// One filter of thumbor's.
struct ThumborFilter: Sendable {
    let name: String
    /// Whether it says something of what is done before all filters.
    let isEarly: Bool
    let take: @Sendable (inout ThumborPlan, OptionArguments) throws(GrammarError) -> Void

    private init(
        _ name: String, isEarly: Bool = false,
        take: @escaping @Sendable (inout ThumborPlan, OptionArguments) throws(GrammarError) -> Void
    ) {
        (self.name, self.isEarly, self.take) = (name, isEarly, take)
    }

    /// A filter with its arguments.
    struct Use {
        let filter: ThumborFilter
        let arguments: OptionArguments
    }

    /// All that are read, in the order of the document.
    static let all = sizes + looks + files

    private static let byName: [String: ThumborFilter] = Dictionary(
        uniqueKeysWithValues: all.map { ($0.name, $0) })

    private static let sizes = [
        ThumborFilter("no_upscale", isEarly: true) { plan, said throws(GrammarError) in
            try said.atMost(0)
            plan.isNeverEnlarged = true
        },
        ThumborFilter("stretch", isEarly: true) { plan, said throws(GrammarError) in
            try said.atMost(0)
            plan.isStretched = true
        },
        ThumborFilter("focal", isEarly: true) { plan, said throws(GrammarError) in
            plan.focus(on: try ThumborFocus(said))
        },
        ThumborFilter("proportion") { plan, said throws(GrammarError) in
            try said.atMost(1)
            let part = try said.needed(said.decimal(0, in: 0...1))
            guard part >= 0.000_001 else {
                throw .malformed(said.option, "no pixels are left: say more")
            }
            let side = RelativeSize.Side.percent((part * 100_000_000).rounded() / 1_000_000)
            plan.add(.resizeTo(RelativeSize(width: side, height: side), .stretch))
        },
        ThumborFilter("upscale") { plan, said throws(GrammarError) in
            try said.atMost(0)
            plan.upscale()
        },
        ThumborFilter("fill") { plan, said throws(GrammarError) in
            try said.atMost(2)
            let word = try said.needed(said[0])
            guard word != "auto", word != "blur" else {
                throw .notOffered(said.option, "\(word) is not done here: name a colour")
            }
            try plan.fill(said.named(word), under: said.flag(1) ?? false)
        },
        ThumborFilter("rotate") { plan, said throws(GrammarError) in
            try said.atMost(1)
            let degrees = try said.needed(said.whole(0, in: -360_000...360_000))
            guard degrees % 90 == 0 else {
                throw .malformed(said.option, "an angle is a multiple of 90")
            }
            let clockwise = ((-degrees % 360) + 360) % 360
            guard clockwise != 0 else { return }
            plan.add(.rotate(Rotation(degreesClockwise: Double(clockwise))))
        },
    ]

    private static let looks = [
        ThumborFilter("blur") { plan, said throws(GrammarError) in
            try said.atMost(2)
            let radius = try said.needed(said.whole(0, in: 1...150))
            let sigma = try said.decimal(1, in: 0...100) ?? 0
            let wanted = sigma > 0 ? sigma : Double(radius)
            guard (2...100).contains(wanted) else {
                throw .notOffered(said.option, "a blur is from 2 to 100 here")
            }
            plan.add(.blur(radius: wanted))
        },
        ThumborFilter("sharpen") { plan, said throws(GrammarError) in
            try said.atMost(3)
            let amount = try said.needed(said.decimal(0, in: 0...100))
            let radius = try said.needed(said.decimal(1, in: 0...10))
            let isOfLight = try said.needed(said.flag(2))
            guard amount == 1, !isOfLight else {
                throw .notOffered(
                    said.option, "the amount is 1, of all colours: use sharpen(1,RADIUS,false)"
                )
            }
            plan.add(.sharpen(radius: radius))
        },
        ThumborFilter("brightness") { plan, said throws(GrammarError) in
            try said.atMost(1)
            plan.add(.brightness(Double(try said.needed(said.whole(0, in: -100...100)))))
        },
        ThumborFilter("contrast") { plan, said throws(GrammarError) in
            try said.atMost(1)
            plan.add(.contrast(contrast(try said.needed(said.whole(0, in: -100...100)))))
        },
        ThumborFilter("grayscale") { plan, said throws(GrammarError) in
            try said.atMost(0)
            plan.add(.grayscale)
        },
        ThumborFilter("round_corner") { plan, said throws(GrammarError) in
            try said.takeRoundCorner(into: &plan)
        },
        ThumborFilter("background_color") { plan, said throws(GrammarError) in
            try said.atMost(1)
            let colour = try said.named(said.needed(said[0]))
            if colour != .clear { plan.add(.flatten(colour)) }
        },
        ThumborFilter("watermark") { plan, said throws(GrammarError) in
            plan.add(.overlay(try ThumborWatermark(said).overlay))
        },
    ]

    private static let files = [
        ThumborFilter("format", isEarly: true) { plan, said throws(GrammarError) in
            try said.atMost(1)
            let word = try said.needed(said[0])
            guard let format = ImageFormat(name: word) else {
                throw .malformed(
                    said.option, "\(said.shown(word)) is no format: use jpeg, png, webp, …")
            }
            guard format.isEncodable else {
                throw .notOffered(said.option, "\(format.name) is not written here: use another")
            }
            plan.output.format = format
        },
        ThumborFilter("quality", isEarly: true) { plan, said throws(GrammarError) in
            try said.atMost(1)
            plan.output.quality = try said.needed(said.whole(0, in: 0...100))
        },
        ThumborFilter("max_bytes", isEarly: true) { plan, said throws(GrammarError) in
            try said.atMost(1)
            plan.output.maxBytes = try said.needed(said.whole(0, in: 1...(1 << 30)))
        },
        ThumborFilter("max_age", isEarly: true) { plan, said throws(GrammarError) in
            try said.atMost(1)
            plan.maxAge = try said.needed(said.whole(0, in: 0...Int(Int32.max)))
        },
        ThumborFilter("damaged", isEarly: true) { plan, said throws(GrammarError) in
            plan.damaged = try said.onlyDamaged()
        },
        ThumborFilter("strip_exif", isEarly: true) { plan, said throws(GrammarError) in
            try said.atMost(0)
            plan.output.metadata = .nothing
        },
        ThumborFilter("strip_icc", isEarly: true) { plan, said throws(GrammarError) in
            try said.atMost(0)
            _ = plan.output.take(settings: ["icc": "srgb"])
        },
    ]

    /// Those that thumbor has, and nobody here.
    static let absent: Set<String> = [
        "extract_focal", "saturation", "colorize", "rgb", "noise",
        "equalize", "convolution", "curve", "frame", "autojpg", "redeye", "cover", "gifv",
        // Its documentation has these two, and its code drops them.
        "horizontal_align", "vertical_align",
    ]

    /// The contrast, in thousandths, with the slope of thumbor's: the square of so many hundredths
    /// more than one.
    private static func contrast(_ said: Int) -> Double {
        let factor = Double(100 + said) / 100
        let slope = factor * factor
        let contrast = slope < 1 ? (slope - 1) * 100 : 100 * (slope - 1) / (slope + 1)
        return (contrast * 1_000).rounded() / 1_000
    }

    // MARK: - Reading

    /// The filters in a text such as `blur(3):grayscale(`, whose last bracket was taken off.
    static func uses(in text: String) throws(GrammarError) -> [Use] {
        let calls = text.split("):")
        guard calls.count <= GrammarLimits.optionsMax else {
            throw GrammarError(
                .malformed, "there are more than \(GrammarLimits.optionsMax) filters: use fewer")
        }
        var uses: [Use] = []
        for call in calls {
            guard let bracket = call.firstIndex(of: "(") else {
                throw .malformed(
                    String(call.prefix(40)), "a filter has brackets, such as grayscale()")
            }
            let name = String(call[..<bracket])
            guard let filter = byName[name] else { throw unknown(String(name.prefix(40))) }
            let values = try arguments(call[call.index(after: bracket)...], of: name)
            uses.append(Use(filter: filter, arguments: OptionArguments(name, values)))
        }
        return uses
    }

    private static func unknown(_ name: String) -> GrammarError {
        absent.contains(name)
            ? .notOffered(name, "thumbor has this filter, and this server does not")
            : .malformed(name, "there is no such filter: see the list of filters")
    }

    /// What stands between commas, without blanks and quotes around it, decoded. Within quotes a
    /// comma is no end.
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
        var value = try PercentText.text(text, of: name)[...]
        while value.first == " " { value.removeFirst() }
        while value.last == " " { value.removeLast() }
        let isQuoted = value.utf8.count > 2 && value.first == "'" && value.last == "'"
        return String(isQuoted ? value.dropFirst().dropLast() : value)
    }
}

extension OptionArguments {
    /// The colour of a word.
    fileprivate func named(_ word: String) throws(GrammarError) -> Colour {
        guard let colour = ColourWord.named(word) else {
            throw .malformed(
                option, "\(shown(word)) is no colour: use rrggbb, or a name such as white")
        }
        return colour
    }

    /// `RADIUS,R,G,B[,TRANSPARENT]`
    fileprivate func takeRoundCorner(into plan: inout ThumborPlan) throws(GrammarError) {
        try atMost(5)
        guard self[0]?.contains("|") != true else {
            throw .notOffered(option, "corners are parts of circles here: name one radius")
        }
        let radius = try needed(whole(0, in: 0...RequestSides.most))
        var argb: UInt32 = 0xFF
        for place in 1...3 {
            argb = argb << 8 | UInt32(try needed(whole(place, in: 0...255)))
        }
        let isTransparent = try flag(4) ?? false
        plan.add(.round(radius: Double(radius)))
        if !isTransparent { plan.add(.flatten(Colour(argb: argb))) }
    }
}
