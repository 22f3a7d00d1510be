import Model

/// The filters of imagor that thumbor lacks, or that differ from thumbor's.
enum ImagorFilter {
    typealias Filter = GrammarOption<ThumborPlan>

    /// All supported ones, in the order of the documentation.
    static let all = sizes + looks + files + answers + properties

    private static let sizes: [Filter] = [
        .bare("upscale", isEarly: true) { ($0.isNeverEnlarged, $0.enlargesFit) = (false, true) },
        Filter("focal", isEarly: true) { plan, arguments throws(GrammarError) in
            plan.foci.append(try ThumborFocus(ofImagor: arguments))
        },
        // Up to 1 it is a fraction.
        Filter("proportion", most: 1) { plan, arguments throws(GrammarError) in
            let number = try arguments.needed(arguments.decimal(0, in: 0...100))
            try arguments.require(number >= 0.000_001, "the percentage must be above 0")
            plan.scale(by: number > 1 ? number / 100 : number)
        },
        // imagor ignores everything after the color.
        Filter("fill", most: 2) { plan, arguments throws(GrammarError) in
            try plan.fillCanvas(arguments.imagorFill(0))
        },
        // `COLOR,LEFT[,TOP[,RIGHT,BOTTOM]]`; missing margins are those on the other side.
        Filter("padding", most: 5) { plan, arguments throws(GrammarError) in
            let color = try arguments.imagorFill(0)
            try arguments.require(
                arguments.values.count != 4, "expected COLOR,LEFT[,TOP[,RIGHT,BOTTOM]]")
            let sides = 0...RequestSides.most
            let left = try arguments.needed(arguments.whole(1, in: sides))
            let top = try arguments.whole(2, in: sides) ?? left
            plan.extend(
                Margins(
                    left: left, top: top, right: try arguments.whole(3, in: sides) ?? left,
                    bottom: try arguments.whole(4, in: sides) ?? top), color)
        },
        // `LEFT,TOP,WIDTH,HEIGHT`: pixels from 1, fractions below.
        Filter("crop", most: 4) { plan, arguments throws(GrammarError) in
            for step in try cropSteps(arguments) { plan.add(step) }
        },
        // `TOLERANCE[,CORNER]`.
        Filter("trim", most: 2) { plan, arguments throws(GrammarError) in
            let corner = arguments[1] ?? "top-left"
            let isFromBelow = corner == "bottom-right"
            try arguments.require(
                isFromBelow || corner == "top-left",
                "\(arguments.shown(corner)) is neither top-left nor bottom-right")
            let steps = try ThumborPath.trim(arguments, isFromBelow: isFromBelow, .imagor)
            for step in steps { plan.add(step) }
        },
        Filter("orient", most: 1, isEarly: true) { plan, arguments throws(GrammarError) in
            plan.firstTurn = try arguments.imagorTurn()
        },
        Filter("rotate", most: 1) { plan, arguments throws(GrammarError) in
            let angle = try arguments.imagorTurn()
            if angle != 0 { plan.add(.rotate(Rotation(degreesClockwise: Double(angle)))) }
        },
    ]

    private static let looks: [Filter] = [
        // A single argument is twice the sigma of `RADIUS,SIGMA`.
        Filter("blur", most: 2) { plan, arguments throws(GrammarError) in
            let radius = try arguments.needed(arguments.decimal(0, in: 0...1_000))
            let sigma = try arguments.decimal(1, in: 0...500) ?? radius / 2
            guard sigma > 0 else { return }
            try arguments.requireSupported(
                (2...100).contains(sigma),
                "the sigma, half of a single argument, must be between 2 and 100")
            plan.add(.blur(radius: sigma))
        },
        // `SIGMA`, or thumbor's `AMOUNT,SIGMA,LUMINANCE`, of which imagor uses the second.
        Filter("sharpen", most: 3) { plan, arguments throws(GrammarError) in
            let place = arguments.values.count > 1 ? 1 : 0
            let sigma = try arguments.needed(arguments.decimal(place, in: 0...1_000))
            try arguments.requireSupported(sigma <= 4.5, "the sigma must be at most 4.5")
            plan.add(.sharpen(radius: 1 + 2 * sigma))
        },
        .decimal("brightness", in: -100...100) { $0.add(.brightness($1)) },
        .decimal("contrast", in: -100...100) { plan, percent in
            let amount = percent * 255 / 100
            plan.add(.contrast(slope: 259 * (amount + 255) / (255 * (259 - amount))))
        },
        // `RX[,RY[,COLOR]]`.
        Filter("round_corner", most: 3) { plan, arguments throws(GrammarError) in
            let sides = 0...RequestSides.most
            let radius = try arguments.needed(arguments.whole(0, in: sides))
            try arguments.requireSupported(
                try arguments.whole(1, in: sides) ?? radius == radius,
                "elliptical corners are not supported: use one radius")
            plan.add(.round(radius: Double(radius)))
            if arguments[2] != nil { plan.add(.flatten(try arguments.imagorColor(2))) }
        },
        Filter("background_color", most: 1) { plan, arguments throws(GrammarError) in
            plan.add(.flatten(try arguments.imagorColor(0)))
        },
        Filter("pixelate", most: 1) { plan, arguments throws(GrammarError) in
            let side = try arguments.whole(0, in: 1...1_000) ?? 10
            if side > 1 { plan.add(.pixelate(side)) }
        },
        Filter("watermark", most: 6) { plan, arguments throws(GrammarError) in
            plan.add(.overlay(try ThumborWatermark.overlay(arguments, .imagor)))
        },
    ]

    private static let files: [Filter] = [
        // 0 is the default.
        .whole("quality", in: 0...100, isEarly: true) {
            $0.request.image.output.quality = $1 > 0 ? $1 : nil
        },
        .bare("autojpg", isEarly: true) { $0.request.image.output.format = .jpeg },
        .bare("strip_metadata", isEarly: true) { plan in
            plan.request.image.output.metadata = .nothing
            plan.convertToSRGB()
        },
        Filter("to_colorspace", most: 1, isEarly: true) { plan, arguments throws(GrammarError) in
            try arguments.requireSupported(
                (arguments[0] ?? "srgb").lowercased() == "srgb", "only srgb is supported")
            plan.convertToSRGB()
        },
        // From 1; the first page leaves animations as they are.
        .whole("page", in: 1...RequestLimits.framesMax, isEarly: true) { plan, page in
            plan.request.image.frame = page > 1 ? page - 1 : nil
            plan.request.framesMax = page > 1 ? 1 : plan.request.framesMax
        },
        Filter("max_frames", most: 1, isEarly: true) { plan, arguments throws(GrammarError) in
            let count = try arguments.needed(arguments.whole(0, in: 1...RequestLimits.framesMax))
            try arguments.requireSupported(
                count == 1, "animations cannot be shortened: use max_frames(1)")
            plan.request.framesMax = 1
        },
    ]

    private static let answers: [Filter] = [
        Filter("attachment", most: 1, isEarly: true) { plan, arguments throws(GrammarError) in
            plan.request.isAttachment = true
            guard var name = arguments[0] else { return }
            // The answer adds the extension of its format.
            if let dot = name.lastIndex(of: "."), dot > name.startIndex,
                ImageFormat(fileExtension: String(name[name.index(after: dot)...])) != nil
            {
                name = String(name[..<dot])
            }
            plan.request.fileName = try arguments.fileName(name)
        },
        // Unix time in milliseconds.
        Filter("expire", most: 1, isEarly: true) { plan, arguments throws(GrammarError) in
            let moment = try arguments.needed(arguments.whole(0, in: 0...Int.max)) / 1_000
            try arguments.requireCurrent(moment, at: plan.now)
            plan.request.expires = moment
        },
        .bare("raw", isEarly: true) { $0.request.kind = .source },
        .bare("preview", isEarly: true) { $0.request.image.storeCacheTypes = .memory },
    ]

    private static let properties: [Filter] = [
        Filter("avgcolor", most: 0, isEarly: true) { plan, arguments throws(GrammarError) in
            try plan.describe(.colors, arguments)
        },
        Filter("thumbhash", most: 0, isEarly: true) { plan, arguments throws(GrammarError) in
            try plan.describe(.thumbHash, arguments)
        },
        Filter("blurhash", most: 2, isEarly: true) { plan, arguments throws(GrammarError) in
            let sides = try arguments.wholes(0..<2, in: 1...9)
            try plan.describe(.blurHash, arguments)
            plan.request.image.properties.blurHash = PixelSize(width: sides[0], height: sides[1])
        },
    ]

    /// imagor filters that are not supported.
    static let absent: Set<String> = [
        "image", "label", "text", "hue", "saturation", "rgb", "modulate", "invert", "dpi",
        "draw_detections", "redact", "redact_oval", "palette", "bitdepth", "compression",
        "lossless", "fallback_format",
    ]

    // MARK: - Reading

    /// Splits filters whose brackets may be nested; the last closing bracket has been removed.
    static func calls(in text: String) throws(GrammarError) -> [String] {
        var calls: [String] = []
        for call in "\(text))".split(outsideBrackets: ":") {
            guard call.hasSuffix(")") else {
                throw .malformed(
                    String(call.prefix(40)), "filters end with ), and : separates them")
            }
            calls.append(String(call.dropLast()))
        }
        return calls
    }

    private static func cropSteps(
        _ arguments: OptionArguments
    ) throws(GrammarError) -> [TransformStep] {
        var sides: [Double] = []
        for place in 0..<4 {
            let range = 0...Double(RequestSides.most)
            sides.append(try arguments.needed(arguments.decimal(place, in: range)))
        }
        let (x, y, width, height) = (sides[0], sides[1], sides[2], sides[3])
        try arguments.require(width > 0 && height > 0, "the width and height must be above 0")
        if sides.allSatisfy({ $0 == $0.rounded() }) {
            let size = PixelSize(width: Int(width), height: Int(height))
            return [.crop(PixelRect(x: Int(x), y: Int(y), size: size))]
        }
        try arguments.requireSupported(
            sides.allSatisfy { $0 < 1 },
            "a mixture of pixels and fractions is not supported: use one of them")
        return TransformStep.crop(
            percentX: x.inPercent, y: y.inPercent, width: min(width, 1 - x).inPercent,
            height: min(height, 1 - y).inPercent)
    }
}

extension ThumborPlan {
    /// Adds margins of a color, which is also visible behind transparent pixels.
    fileprivate mutating func extend(_ margins: Margins, _ color: Color) {
        if margins != Margins() { add(.extend(margins, .color(color))) }
        if color != .clear { add(.flatten(color)) }
    }

    fileprivate mutating func convertToSRGB() {
        _ = request.image.output.apply(settings: ["icc": "srgb"])
    }

    /// Requests a property of the image.
    fileprivate mutating func describe(
        _ kind: FactKinds, _ arguments: OptionArguments
    ) throws(GrammarError) {
        try arguments.require(parts.isMeta, "requires meta at the beginning of the path")
        request.image.properties.kinds.insert(kind)
    }

    /// Puts the image on a canvas of the requested size, extended by the path's margins. Quarter
    /// turns by filters also turn both.
    fileprivate mutating func fillCanvas(_ color: Color) throws(GrammarError) {
        let isFull = parts.fit == .full || parts.fit == .adaptiveFull
        try requireSupported(
            isFull ? !isNeverEnlarged : !isTurned,
            "fill is not supported with adaptive-fit-in, and with no_upscale after full-fit-in: "
                + "use fit-in", of: "fill")
        try requireSupported(
            !isResized || (box.isPositive && !isFull),
            "fill after filters that change the size requires WIDTHxHEIGHT or fit-in", of: "fill")
        var (canvas, margins) = (
            PixelSize(width: max(1, box.width), height: max(1, box.height)), parts.padding
        )
        if isOnItsSide {
            canvas = PixelSize(width: canvas.height, height: canvas.width)
            margins = Margins(
                left: margins.top, top: margins.left, right: margins.bottom, bottom: margins.right)
        }
        if isResized { add(.cropTo(canvas.wholeIfOpen, .center)) }
        let mayBeSmaller = parts.fit == .inside || parts.fit == .adaptive || isNeverEnlarged
        if isResized || (mayBeSmaller && box != PixelSize(width: 0, height: 0)) {
            add(.pad(canvas, .center, color))
        }
        extend(margins, color)
    }

    private var filterSteps: ArraySlice<TransformStep> { steps[sizeStepCount...] }

    /// Whether filters have rotated the image by an odd number of quarter turns.
    private var isOnItsSide: Bool {
        let turns = filterSteps.filter { step in
            guard case .rotate(let rotation) = step else { return false }
            return rotation.quarterTurnsClockwise.map { $0 % 2 == 1 } ?? false
        }
        return turns.count % 2 == 1
    }

    /// Whether filters have changed the size other than by quarter turns.
    private var isResized: Bool {
        filterSteps.contains { step in
            switch step {
            case .resizeTo, .crop, .cropTo, .trim, .extend: true
            default: false
            }
        }
    }
}

extension OptionArguments {
    /// Returns the first argument, an angle of 0, 90, 180 or 270 degrees counterclockwise, as
    /// degrees clockwise.
    fileprivate func imagorTurn() throws(GrammarError) -> Int {
        let angle = try needed(whole(0, in: 0...270))
        try require(angle % 90 == 0, "the angle must be 0, 90, 180 or 270")
        return (360 - angle) % 360
    }

    /// Parses an opaque color: a name, or 3, 6 or 8 hexadecimal digits, whose alpha imagor ignores.
    fileprivate func imagorColor(_ place: Int) throws(GrammarError) -> Color {
        let word = try needed(self[place])
        try requireSupported(word != "auto", "'auto' is not supported: use a color")
        let digits = word.hasPrefix("#") ? String(word.dropFirst()) : word
        let isLong = digits.utf8.count == 8 && digits.allSatisfy(\.isHexDigit)
        guard let color = ColorWord.named(isLong ? String(digits.dropLast(2)) : digits),
            color != .clear
        else {
            throw malformed("\(shown(word)) is not a color: use rrggbb, or a name such as white")
        }
        return color
    }

    /// Parses the color of a canvas, which may be transparent.
    fileprivate func imagorFill(_ place: Int) throws(GrammarError) -> Color {
        let word = try needed(self[place])
        try requireSupported(word != "blur", "'blur' is not supported: use a color")
        return ["none", "transparent"].contains(word) ? .clear : try imagorColor(place)
    }
}

extension ThumborFocus {
    /// Parses `LEFTxTOP:RIGHTxBOTTOM` or `XxY`, also with other separators; fractions below 1.
    init(ofImagor arguments: OptionArguments) throws(GrammarError) {
        let words = arguments.values.flatMap { $0.split(":") }.flatMap { $0.split("x") }
        let numbers = OptionArguments(arguments.option, words)
        try numbers.require(
            words.count == 2 || words.count == 4, "expected LEFTxTOP:RIGHTxBOTTOM or X,Y")
        guard words.count == 2 else {
            self.init(try ThumborArea(numbers, .imagor))
            return
        }
        let range = 0...Double(RequestSides.most)
        let x = try numbers.needed(numbers.decimal(0, in: range))
        let y = try numbers.needed(numbers.decimal(1, in: range))
        let isRelative = x < 1 && y < 1
        // Otherwise a pixel, whose center is meant.
        self.init(
            x: isRelative ? x : x + 0.5, y: isRelative ? y : y + 0.5, weight: 1,
            unit: isRelative ? .points : .pixels)
    }
}

extension ThumborWatermark {
    /// Parses a position: a word, pixels, percent such as `20p`, or a fraction such as `0.2`, from
    /// the other edge if negative. An edge with an offset, such as `left-20`, is beyond it.
    static func imagorPlace(
        _ arguments: OptionArguments, _ index: Int, _ first: String, _ last: String
    ) throws(GrammarError) -> Place {
        guard let text = arguments[index], text != first else { return Place() }
        switch text {
        case last: return Place(origin: 1)
        case "center": return Place(origin: 0.5)
        case "repeat": return Place(isTiled: true)
        default: break
        }
        let most = RequestSides.most
        for (edge, origin) in [(first, 0.0), (last, 1.0)] {
            for start in ["\(edge)-", "\(edge.prefix(1))-"] where text.hasPrefix(start) {
                let rest = String(text.dropFirst(start.count))
                let offset = OptionArguments(arguments.option, [rest])
                let pixels = try offset.needed(offset.whole(0, in: -most...most))
                return Place(origin: origin, pixels: -pixels)
            }
        }
        let isPercent = text.hasSuffix("p")
        guard isPercent || text.contains(".") else {
            let pixels = try arguments.whole(index, in: -most...most) ?? 0
            return Place(origin: pixels < 0 ? 1 : 0, pixels: abs(pixels))
        }
        let number = OptionArguments(arguments.option, [isPercent ? String(text.dropLast()) : text])
        let limit = isPercent ? 100.0 : 1
        let part = try number.needed(number.decimal(0, in: -limit...limit))
        return Place(origin: part < 0 ? 1 : 0, part: isPercent ? abs(part) : abs(part).inPercent)
    }

    /// Returns the maximum size in percent of the image. imagor ignores a width without a height,
    /// and uses the watermark's own size if one is 0.
    static func imagorSize(_ arguments: OptionArguments) throws(GrammarError) -> RelativeSize? {
        try arguments.requireSupported(
            arguments.values.count != 5, "a width requires a height: add it, or none")
        if arguments[4] == "0" || arguments[5] == "0" { return nil }
        return try size(arguments)
    }
}

/// The sources of imagor's URLs.
enum ImagorSource {
    /// Encodes plus signs as blanks, which they are in imagor's URLs.
    static func withBlanks(_ text: some Collection<UInt8>) -> [UInt8] {
        text.flatMap { $0 == UInt8(ascii: "+") ? Array("%20".utf8) : [$0] }
    }

    /// Decodes a source once, and then its Base64 if it begins with `b64:`.
    static func decoded(_ source: String) throws(GrammarError) -> [UInt8] {
        let bytes = try PercentText.bytes(
            String(decoding: withBlanks(source.utf8), as: UTF8.self))
        try requireSupported(
            !String(decoding: bytes.prefix(6), as: UTF8.self).lowercased().hasPrefix("color:"),
            "images of a color are not supported: use a source", of: "color")
        return base64(bytes) ?? bytes
    }

    /// Returns the text behind `b64:`, if it is Base64 of text, else the whole text.
    static func fromBase64(_ text: String) -> String {
        base64(Array(text.utf8)).flatMap { String(validating: $0, as: UTF8.self) } ?? text
    }

    /// Returns `nil` for sources that only look like Base64, as imagor does.
    private static func base64(_ bytes: [UInt8]) -> [UInt8]? {
        let start = Array("b64:".utf8)
        return bytes.starts(with: start) ? Base64URL.decode(bytes.dropFirst(start.count)) : nil
    }
}

extension StringProtocol {
    /// The range of `)/` where the slash is the first one outside brackets; `nil` if there is none.
    var endOfBrackets: Range<Index>? {
        var (depth, place) = (0, startIndex)
        for index in indices {
            switch self[index] {
            case "(": depth += 1
            case ")": depth -= 1
            case "/" where depth == 0:
                return self[place] == ")" ? place..<self.index(after: index) : nil
            default: break
            }
            place = index
        }
        return nil
    }

    /// Splits at separators outside brackets and keeps empty parts.
    func split(outsideBrackets separator: Character) -> [String] {
        var (parts, part, depth) = ([String](), "", 0)
        for character in self {
            if character == separator, depth == 0 {
                parts.append(part)
                part = ""
                continue
            }
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            part.append(character)
        }
        return parts + [part]
    }
}
