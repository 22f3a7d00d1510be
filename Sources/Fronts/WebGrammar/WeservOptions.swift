import Model

/// The parameters of a weserv query; the first one of each name counts. Like weserv, it ignores
/// unknown parameters, and replaces invalid values by defaults.
struct WeservOptions: Sendable {
    /// How an image is fitted to a size.
    enum Fit: Sendable {
        case inside, outside, cover, contain, fill
    }

    /// The parameter `url`, not decoded.
    var source: String?
    /// What needs no further computation, apart from the URL.
    var request = WebRequest(ImageRequest(url: ""))

    // MARK: - Size

    /// The width; a side of 0 pixels is determined by the other one.
    var width = RelativeSize.Side.pixels(0)
    var height = RelativeSize.Side.pixels(0)
    var ratio = 1.0
    var fit = Fit.inside
    var isNeverEnlarged: Bool?
    /// What `cover` keeps, and where `contain` places the image, unless it is a focal point.
    var position = Gravity.center
    var isFocal = false
    var focus: (x: Double?, y: Double?)
    var canvas = Color.clear

    // MARK: - Regions

    var trim: Double?
    var trimmed: Color?
    var cropLeft: RelativeSize.Side?
    var cropTop: RelativeSize.Side?
    var cropWidth: RelativeSize.Side?
    var cropHeight: RelativeSize.Side?
    var cropsFirst = false
    /// Degrees clockwise.
    var angle = 0
    var flipsAcross = false
    var flipsDown = false
    /// The color behind the corners of a rotated image; `nil` if they are transparent.
    var corners: Color?
    var mask: WeservMask?
    var trimsMask = false
    /// The color around the mask; `nil` if it is transparent.
    var frame: Color?

    // MARK: - Appearance and output

    var brightness = 0
    /// The factor of the saturation.
    var saturation: Double?
    var contrast = 0
    var gamma: Double?
    var sharpen: Double?
    var filter: TransformStep?
    var blur: Double?
    var background: Color?
    /// The names of the parameters so far.
    private var seen: Set<String> = []

    init() { request.framesMax = 1 }

    /// Applies a parameter, `NAME=VALUE` or `NAME`.
    mutating func apply(_ parameter: String) throws(GrammarError) {
        let words = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            .map(String.init)
        if WeservOption.absent.contains(words[0]) {
            throw .notOffered(words[0], "this weserv parameter is not supported")
        }
        guard let option = WeservOption.byName[words[0]],
            seen.insert(option.names[0]).inserted
        else { return }
        try option.apply(to: &self, OptionArguments(words[0], Array(words.dropFirst())))
    }
}

/// The shapes of masks that are supported.
enum WeservMask: String, Sendable {
    case circle, ellipse
}

/// Reads values as weserv does, whose numbers may be followed by other text.
extension OptionArguments {
    /// The decoded value; `nil` if there is none. A percent sign that begins no escape is kept.
    fileprivate var text: String? {
        guard let value = values.first else { return nil }
        return PercentCoding.decode(value.utf8).flatMap { String(validating: $0, as: UTF8.self) }
            ?? value
    }

    /// The maximum of a number.
    private static let most = 10_000_000

    /// The integer that begins the value; `nil` if there is none.
    fileprivate var integer: Int? { text.flatMap { Self.integer($0) } }

    /// The number that begins the value; `nil` if there is none.
    fileprivate var number: Double? { text.flatMap { Self.number($0) } }

    /// Whether a flag is set, as it is by any value but `0` and `false`.
    fileprivate var isOn: Bool { text != "0" && text != "false" }

    /// The numbers in a list, which are `nil` if invalid.
    fileprivate var numbers: [Double?] {
        (text ?? "").split(separator: ",").map { Self.number(String($0)) }
    }

    fileprivate static func integer(_ text: String) -> Int? {
        let number = Int(text.prefix { $0 == "-" || $0 == "+" } + digits(text.drop(while: isSign)))
        return number.flatMap { $0 <= most ? $0 : nil }
    }

    private static func number(_ text: String) -> Double? {
        let rest = text.drop(while: isSign)
        let whole = digits(rest)
        let fraction = digits(rest.dropFirst(whole.count + 1))
        let hasFraction = rest.dropFirst(whole.count).first == "." && !fraction.isEmpty
        guard !whole.isEmpty || hasFraction else { return nil }
        let sign = text.prefix(while: isSign)
        let number = Double("\(sign)\(whole.isEmpty ? "0" : whole).\(hasFraction ? fraction : "0")")
        return number.flatMap { $0.magnitude <= Double(most) ? $0 : nil }
    }

    private static func isSign(_ character: Character) -> Bool {
        character == "-" || character == "+"
    }

    private static func digits(_ text: Substring) -> Substring {
        text.prefix { ("0"..."9").contains($0) }
    }

    /// Returns a length in pixels or percent; `nil` for invalid texts.
    fileprivate func side() throws(GrammarError) -> RelativeSize.Side? {
        guard let text else { return nil }
        if text.last == "%" {
            guard let percent = number, (0...100).contains(percent) else { return nil }
            return percent > 0 ? .percent(percent) : .pixels(0)
        }
        guard let pixels = integer, pixels >= 0 else { return nil }
        try require(
            pixels <= RequestSides.most, "\(shown(text)) is more than \(RequestSides.most) pixels")
        return .pixels(pixels)
    }

    /// Returns a color: a name of CSS, or `rgb`, `argb`, `rrggbb` or `aarrggbb`; `nil` for other
    /// texts and transparent colors, which have no effect.
    fileprivate func color() -> Color? {
        guard let text else { return nil }
        let word = (text.hasPrefix("#") ? String(text.dropFirst()) : text).lowercased()
        if let rgb = CSSColor.rgb[word] { return Color(argb: 0xFF00_0000 | rgb) }
        let isShort = word.utf8.count == 3 || word.utf8.count == 4
        let color = Color("#" + (isShort ? word.map { "\($0)\($0)" }.joined() : word))
        return color.flatMap { $0.alpha > 0 ? $0 : nil }
    }

    /// Returns a color in the same way, which must be opaque.
    fileprivate func opaqueColor() throws(GrammarError) -> Color? {
        let color = color()
        try requireSupported(
            color.map { $0.alpha == UInt8.max } ?? true,
            "translucent colors are not supported: use rrggbb")
        return color
    }
}

/// The parameters of weserv.
enum WeservOption {
    typealias Option = GrammarOption<WeservOptions>

    /// All supported parameters, in the order of the documentation.
    static let all = sizes + regions + looks + files + answers

    /// The parameters by each of their names.
    static let byName: [String: Option] = Dictionary(
        uniqueKeysWithValues: all.flatMap { option in option.names.map { ($0, option) } })

    /// The names of all supported parameters but the source.
    static let names = Set(byName.keys).subtracting(["url"])

    /// The parameters of weserv that are not supported.
    static let absent: Set<String> = [
        "af", "default", "delay", "encoding", "errorredirect", "fsol", "hue", "loop", "sharpf",
        "sharpj", "start", "stop", "tint",
    ]

    private static func flag(
        _ name: String, set: @escaping @Sendable (inout WeservOptions, Bool) -> Void
    ) -> Option {
        Option(name) { options, arguments in set(&options, arguments.isOn) }
    }

    /// Creates an option for a length that `crop` may have set before.
    private static func length(
        _ name: String,
        _ path: any WritableKeyPath<WeservOptions, RelativeSize.Side?> & Sendable
    ) -> Option {
        Option(name) { options, arguments throws(GrammarError) in
            let side = try arguments.side()
            options[keyPath: path] = options[keyPath: path] ?? side
        }
    }

    private static let sizes: [Option] = [
        Option("url") { $0.source = $1.values.first },
        Option("w", "width") { options, arguments throws(GrammarError) in
            options.width = try arguments.side() ?? options.width
        },
        Option("h", "height") { options, arguments throws(GrammarError) in
            options.height = try arguments.side() ?? options.height
        },
        Option("dpr") { options, arguments in
            guard let ratio = arguments.number, (0...8).contains(ratio) else { return }
            (options.ratio, options.request.saysPixelRatio) = (ratio, true)
        },
        // Former words still work; two of them don't enlarge.
        Option("fit", "t") { options, arguments in
            let word = arguments.text ?? ""
            options.fit = fits[word] ?? (word.hasPrefix("crop") ? .cover : .inside)
            guard word == "fit" || word == "squaredown" else { return }
            options.isNeverEnlarged = options.isNeverEnlarged ?? true
        },
        Option("cbg") { $0.canvas = $1.color() ?? .clear },
        Option("we") { options, arguments in
            options.isNeverEnlarged = options.isNeverEnlarged ?? arguments.isOn
        },
        Option("a", "align") { options, arguments in options.apply(position: arguments.text ?? "")
        },
        Option("fpx") { $0.focus.x = $0.focus.x ?? $1.number.flatMap(part) },
        Option("fpy") { $0.focus.y = $0.focus.y ?? $1.number.flatMap(part) },
    ]

    private static let fits: [String: WeservOptions.Fit] = [
        "outside": .outside, "cover": .cover, "square": .cover, "squaredown": .cover,
        "contain": .contain, "letterbox": .contain, "fill": .fill, "absolute": .fill,
    ]

    private static func part(_ number: Double) -> Double? {
        (0...1).contains(number) ? number : nil
    }

    private static let regions: [Option] = [
        length("cx", \.cropLeft), length("cy", \.cropTop), length("cw", \.cropWidth),
        length("ch", \.cropHeight),
        // `WIDTH,HEIGHT,X,Y`.
        Option("crop") { options, arguments throws(GrammarError) in
            let words = (arguments.text ?? "").split(separator: ",").map(String.init)
            guard words.count >= 4 else { return }
            var sides: [RelativeSize.Side?] = []
            for word in words.prefix(4) {
                sides.append(try OptionArguments(arguments.option, [word]).side())
            }
            options.cropWidth = options.cropWidth ?? sides[0]
            options.cropHeight = options.cropHeight ?? sides[1]
            options.cropLeft = options.cropLeft ?? sides[2]
            options.cropTop = options.cropTop ?? sides[3]
        },
        flag("precrop") { $0.cropsFirst = $1 },
        Option("trim") { options, arguments in
            let tolerance = arguments.integer ?? 10
            guard tolerance != 0 else { return }
            options.trim = (1...254).contains(tolerance) ? Double(tolerance) : 10
        },
        Option("tbg") { options, arguments throws(GrammarError) in
            options.trimmed = try arguments.opaqueColor()
        },
        Option("mask", "shape") { options, arguments throws(GrammarError) in
            let word = arguments.text ?? ""
            try arguments.requireSupported(
                !absentMasks.contains(word),
                "\(arguments.shown(word)) is not supported: use "
                    + "circle or ellipse")
            options.mask = WeservMask(rawValue: word)
        },
        Option("mtrim", "strim") { $0.trimsMask = $1.isOn },
        Option("mbg") { options, arguments throws(GrammarError) in
            options.frame = try arguments.opaqueColor()
        },
        flag("flip") { $0.flipsDown = $1 },
        flag("flop") { $0.flipsAcross = $1 },
        Option("ro", "or") { $0.angle = $1.integer ?? 0 },
        Option("rbg") { options, arguments throws(GrammarError) in
            options.corners = try arguments.opaqueColor()
        },
    ]

    private static let absentMasks: Set<String> = [
        "triangle", "triangle-180", "pentagon", "pentagon-180", "hexagon", "square", "star",
        "heart",
    ]

    private static let looks: [Option] = [
        Option("bg") { options, arguments throws(GrammarError) in
            options.background = try arguments.opaqueColor()
        },
        Option("blur") { options, arguments throws(GrammarError) in
            guard arguments.number != 0 else { return }
            let sigma = arguments.number.flatMap { (2...100).contains($0) ? $0 : nil }
            try arguments.requireSupported(
                sigma != nil,
                "the mild blur, and those below 2 or above 100, are not supported: "
                    + "use 2 to 100")
            options.blur = sigma
        },
        Option("bri") { options, arguments in
            options.brightness = arguments.integer.flatMap(percentage) ?? 0
        },
        Option("con") { options, arguments in
            options.contrast = arguments.integer.flatMap(percentage) ?? 0
        },
        Option("filt") { options, arguments throws(GrammarError) in
            let word = arguments.text ?? ""
            try arguments.requireSupported(
                word != "duotone", "duotone is not supported: use greyscale, sepia or negate")
            options.filter = filters[word]
        },
        Option("gam") { options, arguments in
            guard arguments.number != 0 else { return }
            options.gamma = arguments.number.flatMap { (1...3).contains($0) ? $0 : nil } ?? 2.2
        },
        // `BRIGHTNESS,SATURATION,HUE`.
        Option("mod") { options, arguments throws(GrammarError) in
            let numbers = arguments.numbers
            try arguments.requireSupported(
                numbers.first.map { $0 ?? 1 } ?? 1 == 1,
                "brightness is not supported: use 1,SATURATION")
            try arguments.requireSupported(
                numbers.count < 3 || Int(numbers[2] ?? 0) % 360 == 0, "hue is not supported")
            guard numbers.count > 1 else { return }
            try options.apply(saturation: numbers[1], arguments)
        },
        Option("sat") { options, arguments throws(GrammarError) in
            try options.apply(saturation: arguments.number, arguments)
        },
        Option("sharp") { options, arguments throws(GrammarError) in
            guard arguments.number != 0 else { return }
            let sigma = arguments.number.flatMap { (0.1...10).contains($0) ? $0 : nil }
            try arguments.requireSupported(
                arguments.numbers.count == 1 && sigma != nil,
                "only sharp=SIGMA with a sigma from 0.1 to 10 is supported")
            options.sharpen = sigma
        },
    ]

    private static func percentage(_ number: Int) -> Int? {
        (-100...100).contains(number) ? number : nil
    }

    private static let filters: [String: TransformStep] = [
        "greyscale": .grayscale, "sepia": .sepia, "negate": .invert,
    ]

    private static let files: [Option] = [
        Option("q", "quality") { options, arguments in
            let quality = arguments.integer
            options.request.image.output.quality = quality.flatMap {
                (1...100).contains($0) ? $0 : nil
            }
        },
        Option("l", "level") { options, arguments throws(GrammarError) in
            let level = arguments.integer
            try arguments.requireSupported(level != 0, "uncompressed PNGs are not supported")
            options.request.image.output.compression = level.flatMap {
                (1...9).contains($0) ? $0 : nil
            }
        },
        Option("ll", "lossless") { $0.request.image.output.lossless = $1.isOn },
        flag("il") { $0.request.isProgressive = $1 },
        Option("output") { options, arguments throws(GrammarError) in
            let word = arguments.text ?? ""
            if word == "json" { options.request.kind = .properties }
            guard let format = formats[word] else { return }
            try arguments.requireSupported(
                format.isEncodable, "\(format.name) output is not supported")
            options.request.image.output.format = format
        },
        Option("page") { options, arguments throws(GrammarError) in
            let page = arguments.integer ?? -1
            try arguments.requireSupported(
                page != -1 && page != -2, "the largest and smallest page are not supported")
            guard (1...RequestLimits.framesMax).contains(page) else { return }
            options.request.image.frame = page
        },
        // Also without a number, `n` selects all pages.
        Option("n", "pages") { options, arguments throws(GrammarError) in
            let count = arguments.integer ?? -1
            try arguments.requireSupported(
                count <= 1, "a number of pages is not supported: use 1, or -1 for all")
            options.request.framesMax = count == -1 ? nil : 1
        },
    ]

    private static let formats: [String: ImageFormat] = [
        "jpg": .jpeg, "png": .png, "gif": .gif, "tiff": .tiff, "tif": .tiff, "webp": .webp,
        "avif": .avif, "av1": .avif, "jxl": .jxl,
    ]

    private static let answers: [Option] = [
        Option("maxage") { options, arguments in
            guard let text = arguments.text, let count = OptionArguments.integer(text) else {
                return
            }
            let unit = text.drop { ("0"..."9").contains($0) }
            let seconds = count.multipliedReportingOverflow(by: units[String(unit)] ?? 0)
            guard !seconds.overflow, (86_400...31_536_000).contains(seconds.partialValue) else {
                return
            }
            options.request.maxAge = seconds.partialValue
        },
        Option("filename") { options, arguments in
            let name = arguments.text ?? ""
            let isName = name.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
            }
            options.request.fileName =
                isName && (1...78).contains(name.utf8.count) ? name : nil
        },
    ]

    /// The units of durations in seconds, as in nginx.
    private static let units = [
        "": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800, "M": 2_592_000,
        "y": 31_536_000,
    ]
}

extension WeservOptions {
    fileprivate mutating func apply(position word: String) {
        isFocal = word.hasPrefix("focal") || word.hasPrefix("crop-")
        position = Self.positions[word] ?? .center
        // Formerly `focal-X-Y` in percent.
        guard isFocal, let dash = word.firstIndex(of: "-") else { return }
        let parts = word[dash...].split(separator: "-").map { OptionArguments.integer(String($0)) }
        let percents = parts.prefix(2).map { part in
            part.flatMap { (0...100).contains($0) ? Double($0) / 100 : nil }
        }
        focus.x = focus.x ?? percents.first.flatMap { $0 } ?? 0.5
        focus.y = focus.y ?? percents.dropFirst().first.flatMap { $0 } ?? 0.5
    }

    private static let positions: [String: Gravity] = [
        "top": .point(x: 0.5, y: 0), "t": .point(x: 0.5, y: 0), "right": .point(x: 1, y: 0.5),
        "r": .point(x: 1, y: 0.5), "bottom": .point(x: 0.5, y: 1), "b": .point(x: 0.5, y: 1),
        "left": .point(x: 0, y: 0.5), "l": .point(x: 0, y: 0.5), "top-left": .point(x: 0, y: 0),
        "bottom-left": .point(x: 0, y: 1), "bottom-right": .point(x: 1, y: 1),
        "top-right": .point(x: 1, y: 0), "entropy": .entropy, "attention": .attention,
    ]

    fileprivate mutating func apply(
        saturation factor: Double?, _ arguments: OptionArguments
    ) throws(GrammarError) {
        guard let factor, (0...10_000).contains(factor) else { return }
        try arguments.requireSupported(factor <= 2, "the saturation must be at most 2")
        saturation = saturation ?? factor
    }
}
