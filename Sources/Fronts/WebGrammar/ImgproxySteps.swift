import Model

extension ImgproxyOptions {
    /// Returns the request for the stack.
    func request(
        for url: String, _ settings: ImgproxyGrammar.Settings
    ) throws(GrammarError) -> WebRequest {
        var request = request
        if request.kind == .source {
            request.image = ImageRequest(url: url)
            (request.formatQualities, request.skippedFormats, request.framesMax) = ([:], [], nil)
            return try request.checked()
        }
        request.image.url = url
        request.image.steps = try steps(settings)
        request.image.output = output()
        if isStill { request.framesMax = 1 }
        request.fallback = try fallbackURL?.url(settings.optionSources)
        if request.image.output.format != nil || quality > 0 { request.formatQualities = [:] }
        return try request.checked()
    }

    /// Returns the steps in imgproxy's order, regardless of that of the options: trim, rotate,
    /// flip, crop, scale, cut to the size, colors, blur, sharpen, pixelate, unsharp masking,
    /// extend, pad, background color, colorize, watermark. imgproxy crops before it rotates, but
    /// interprets the crop as if it had already rotated.
    private func steps(
        _ settings: ImgproxyGrammar.Settings
    ) throws(GrammarError) -> [TransformStep] {
        var steps: [TransformStep] = []
        if let trim { steps.append(trim) }
        if angle != 0 { steps.append(.rotate(Rotation(degreesClockwise: Double(angle)))) }
        if flipsAcross || flipsDown {
            steps.append(.flip(horizontal: flipsAcross, vertical: flipsDown))
        }
        if let step = cropStep() { steps.append(step) }
        steps += try sizeSteps()
        steps += colors.steps
        if blur > 0 { steps.append(.blur(radius: blur)) }
        if sharpen > 0 { steps.append(.sharpen(radius: sharpen)) }
        if pixelate > 1 { steps.append(.pixelate(pixelate)) }
        if let unsharp { steps.append(unsharp) }
        if let step = try extendStep() { steps.append(step) }
        if let step = paddingStep() { steps.append(step) }
        if let background { steps.append(.flatten(background)) }
        if let colorize { steps.append(colorize) }
        let url = try watermarkURL?.watermark(settings.optionSources) ?? settings.watermark
        if let overlay = try watermark?.overlay(
            url: url, opacity: settings.watermarkOpacity, watermarkSize, ratio: shownRatio)
        {
            steps.append(.overlay(overlay))
        }
        return steps
    }

    // MARK: - Crop

    private func cropStep() -> TransformStep? {
        guard let crop, crop.width > 0 || crop.height > 0 else { return nil }
        let size = RelativeSize(width: Self.side(crop.width), height: Self.side(crop.height))
        return .cropTo(size, (crop.gravity ?? gravity).cut())
    }

    private static func side(_ value: Double) -> RelativeSize.Side {
        if value == 0 { return .percent(100) }
        return value < 1 ? .percent(value * 100) : .pixels(Int(value))
    }

    // MARK: - Margins

    private func extendStep() throws(GrammarError) -> TransformStep? {
        if let extend, extend.isWanted, hasSize {
            let canvas = PixelSize(width: max(1, box.width), height: max(1, box.height))
            return .pad(canvas, extend.gravity.place(on: canvas, ratio), .clear)
        }
        guard let extendRatio, extendRatio.isWanted, box.isPositive else { return nil }
        try requireSupported(
            extendRatio.gravity.word != "fp",
            "the gravity fp is supported by extend only: use another gravity",
            of: extendRatio.option)
        return .padRatio(AspectRatio(of: box), extendRatio.gravity.cut(ratio), .clear)
    }

    private func paddingStep() -> TransformStep? {
        func side(_ value: Int) -> Int {
            Int((Double(value) * shownRatio).rounded(.toNearestOrEven))
        }
        let margins = Margins(
            left: side(padding.left), top: side(padding.top), right: side(padding.right),
            bottom: side(padding.bottom))
        return margins == Margins() ? nil : .extend(margins, .color(.clear))
    }
}

/// Computing sizes from the options.
extension ImgproxyOptions {
    /// The factor applied to sizes, without the zoom. If no size is specified and the image must
    /// not be enlarged, its size is unchanged.
    var shownRatio: Double { hasSize || enlarges ? ratio : min(ratio, mostRatio) }

    var hasSize: Bool { width > 0 || height > 0 }

    /// The requested size in pixels; a side of 0 is determined by the other one.
    var box: PixelSize {
        func side(_ value: Int, _ zoom: Double) -> Int {
            value == 0 ? 0 : max(1, Int((Double(value) * zoom * ratio).rounded()))
        }
        return PixelSize(width: side(width, zoom.across), height: side(height, zoom.down))
    }

    /// The minimum size of the result.
    private var least: PixelSize {
        func side(_ value: Int) -> Int { Int((Double(value) * shownRatio).rounded()) }
        return PixelSize(width: side(leastWidth), height: side(leastHeight))
    }

    private var hasLeast: Bool { leastWidth > 0 || leastHeight > 0 }

    /// Returns the steps that scale and cut to the size.
    func sizeSteps() throws(GrammarError) -> [TransformStep] {
        guard hasSize else { return ownSizeStep().map { [$0] } ?? [] }
        if mode == .force { return forced() }
        return (zoomStep().map { [$0] } ?? []) + (try fitted())
    }

    // MARK: - Without a size

    /// The zoom of an image without a requested size: without `enlarge`, no side may grow.
    private var ownZoom: (across: Double, down: Double) {
        let most = enlarges ? 1 : max(1, zoom.across, zoom.down)
        return (zoom.across / most, zoom.down / most)
    }

    /// The largest factor for a zoomed image that doesn't enlarge it.
    private var mostRatio: Double {
        let zoom = ownZoom
        return 1 / max(zoom.across, zoom.down)
    }

    private func ownSizeStep() -> TransformStep? {
        let (zoom, ratio) = (ownZoom, shownRatio)
        let size = RelativeSize(
            width: .percent((zoom.across * ratio).inPercent),
            height: .percent((zoom.down * ratio).inPercent))
        let isWhole = size.width == .percent(100) && size.height == .percent(100)
        guard !isWhole || hasLeast else { return nil }
        return .resizeTo(size, .stretch, least: least)
    }

    // MARK: - With a size

    /// Returns the steps for exactly the box, or its aspect ratio if the image is smaller. An
    /// unspecified side is unchanged.
    private func forced() -> [TransformStep] {
        let mode: ResizeMode = enlarges ? .stretch : .reshape
        guard !box.isPositive || hasLeast else { return [.resize(box, mode, enlarges: enlarges)] }
        func side(_ value: Int, _ zoom: Double) -> RelativeSize.Side {
            value > 0 ? .pixels(value) : .percent((zoom * ratio).inPercent)
        }
        let size = RelativeSize(
            width: side(box.width, zoom.across), height: side(box.height, zoom.down))
        let resize = TransformStep.resizeTo(size, mode, enlarges: enlarges, least: least)
        return [resize] + (hasLeast ? [cut()] : [])
    }

    /// If the two zooms differ, returns a step that first shrinks the image in the direction with
    /// the smaller zoom, so that the following steps preserve the aspect ratio.
    private func zoomStep() -> TransformStep? {
        guard zoom.across != zoom.down else { return nil }
        let most = max(zoom.across, zoom.down)
        return .resizeTo(
            RelativeSize(
                width: .percent((zoom.across / most).inPercent),
                height: .percent((zoom.down / most).inPercent)), .stretch)
    }

    private func fitted() throws(GrammarError) -> [TransformStep] {
        guard box.isPositive, mode != .fit else {
            return [resize(.fit)] + (hasLeast ? [cut()] : [])
        }
        switch mode {
        case .fit, .force: return []
        case .auto: return [resize(.auto), cut()]
        case .fill, .fillDown:
            // A small image gets the aspect ratio of the box instead of its size.
            let keepsRatio = !enlarges && (mode == .fillDown || ratio > 1)
            guard !keepsRatio else {
                try requireSupported(
                    !hasLeast,
                    "a minimum size is not supported when cropping to a ratio: use "
                        + "enlarge:1, or leave it out",
                    of: leastWidth > 0 ? "min-width" : "min-height")
                return [resize(.cover), .cropRatio(AspectRatio(of: box), gravity.cut(ratio))]
            }
            let isPlain = gravity.cut() == .center && !hasLeast
            return isPlain ? [resize(.fill)] : [resize(.cover), cut()]
        }
    }

    private func resize(_ mode: ResizeMode) -> TransformStep {
        guard hasLeast else { return .resize(box, mode, enlarges: enlarges) }
        return .resizeTo(
            RelativeSize(width: .pixels(box.width), height: .pixels(box.height)), mode,
            enlarges: enlarges, least: least)
    }

    /// Returns the step that cuts off what exceeds the box; an unspecified side is not cut.
    private func cut() -> TransformStep { .cropTo(box.wholeIfOpen, gravity.cut(ratio)) }
}

/// imgproxy's gravity: the most important part of an image.
struct ImgproxyGravity: Hashable, Sendable {
    /// The purpose of a gravity.
    enum Use: Sendable {
        /// Selects the region to keep.
        case cut
        /// Positions an image on a larger canvas.
        case canvas
    }

    /// The position, or the kind of content to detect.
    let gravity: Gravity
    /// The horizontal offset towards the center, or, for a centered position, to the right. Below 1
    /// it is a fraction of the image.
    let x: Double
    /// The vertical offset, in the same way.
    let y: Double
    /// The name as written in the URL.
    let word: String

    static let center = ImgproxyGravity(.center, "ce")

    private init(_ gravity: Gravity, _ word: String) {
        (self.gravity, self.word, x, y) = (gravity, word, 0, 0)
    }

    /// Parses `TYPE:X:Y`; X and Y are optional except for `fp`.
    init(_ arguments: OptionArguments, for use: Use) throws(GrammarError) {
        try arguments.atMost(3)
        word = try arguments.needed(arguments[0])
        if ["obj", "objw"].contains(word) {
            throw arguments.notOffered("object detection is not supported: use another gravity")
        }
        let isFocus = word == "fp"
        let offsets = isFocus ? 0...1 : -Double(RequestSides.most)...Double(RequestSides.most)
        let (left, top) = (
            try arguments.decimal(1, in: offsets), try arguments.decimal(2, in: offsets)
        )
        switch word {
        case "fp":
            gravity = .point(x: try arguments.needed(left), y: try arguments.needed(top))
            (x, y) = (0, 0)
        case "sm" where use == .cut:
            try arguments.atMost(1)
            (gravity, x, y) = (.attention, 0, 0)
        default:
            guard let place = Self.places[word] else {
                throw arguments.malformed(
                    "\(arguments.shown(word)) is not a gravity: use ce, no, so, ea, we, noea, "
                        + "nowe, soea, sowe, " + (use == .cut ? "sm or fp:X:Y" : "or fp:X:Y"))
            }
            (gravity, x, y) = (place, left ?? 0, top ?? 0)
        }
    }

    /// Positions by imgproxy's names.
    static let places: [String: Gravity] = [
        "ce": .center, "no": .point(x: 0.5, y: 0), "so": .point(x: 0.5, y: 1),
        "ea": .point(x: 1, y: 0.5), "we": .point(x: 0, y: 0.5), "noea": .point(x: 1, y: 0),
        "nowe": .point(x: 0, y: 0), "soea": .point(x: 1, y: 1), "sowe": .point(x: 0, y: 1),
    ]

    /// Returns the gravity of a cut, with pixel offsets scaled by `ratio`.
    func cut(_ ratio: Double = 1) -> Gravity {
        guard x != 0 || y != 0, case .point(let across, let down) = gravity else {
            return gravity
        }
        return .moved(
            x: across, y: down, by: GravityOffset(x: side(x, ratio), y: side(y, ratio)))
    }

    /// Returns the gravity on a canvas in pixels, where a focus point is the position of the
    /// image's center.
    func place(on canvas: PixelSize, _ ratio: Double) -> Gravity {
        guard word == "fp", case .point(let across, let down) = gravity else {
            return cut(ratio)
        }
        return .pixel(x: across * Double(canvas.width), y: down * Double(canvas.height))
    }

    private func side(_ value: Double, _ ratio: Double) -> RelativeSize.Side {
        let most = Double(RequestSides.most)
        return abs(value) < 1
            ? .percent(value * 100)
            : .pixels(Int(min(max(-most, value * ratio), most).rounded(.toNearestOrEven)))
    }
}

/// The adjustments of colors, which imgproxy documents without formulas.
struct ImgproxyColors: Sendable {
    /// Added to each sample, -255 to 255.
    var brightness = 0
    /// The slope of the tones.
    var contrast = 1.0
    var saturation = 1.0
    var monochrome: TransformStep?
    var duotone: TransformStep?

    /// The steps, in the order of imgproxy's documentation.
    var steps: [TransformStep] {
        var steps: [TransformStep] = []
        if brightness != 0 { steps.append(.brightness(Double(brightness) * 100 / 255)) }
        if contrast != 1 { steps.append(.contrast(ContrastStep(slope: contrast).number)) }
        if saturation != 1 { steps.append(.modulate(saturation: saturation)) }
        return steps + [monochrome, duotone].compactMap { $0 }
    }
}

/// The value of `extend`.
struct ImgproxyExtend: Hashable, Sendable {
    let option: String
    let isWanted: Bool
    let gravity: ImgproxyGravity

    /// Parses `EXTEND:GRAVITY…`.
    init(_ arguments: OptionArguments) throws(GrammarError) {
        option = arguments.option
        isWanted = try arguments.needed(arguments.flag(0))
        let rest = arguments.dropFirst(1)
        gravity = rest[0] == nil ? .center : try ImgproxyGravity(rest, for: .canvas)
        if rest[0] == nil { try arguments.atMost(4) }
    }
}

extension PixelSize {
    /// The size with the whole side of the image in place of a side of 0.
    var wholeIfOpen: RelativeSize {
        func side(_ value: Int) -> RelativeSize.Side { value > 0 ? .pixels(value) : .percent(100) }
        return RelativeSize(width: side(width), height: side(height))
    }
}

/// The limit for sides in URLs.
enum RequestSides {
    static let most = RequestLimits.sideMax
}

/// A URL as an argument in Base64, for another image than the source.
struct ImgproxyURL: Hashable, Sendable {
    let option: String
    let bytes: [UInt8]

    /// Returns `nil` for an empty argument.
    init?(_ arguments: OptionArguments) throws(GrammarError) {
        guard let text = arguments[0] else { return nil }
        option = arguments.option
        bytes = try arguments.needed(
            Base64URL.decode(text.utf8),
            "the URL is not Base64: encode it as in RFC 4648 section 5")
    }

    /// Returns the URL if it may be loaded. As in imgproxy, neither replacements nor the base URL
    /// apply.
    func url(_ rules: SourceRules) throws(GrammarError) -> String {
        do throws(GrammarError) {
            let url = try rules.schemes.url(bytes)
            try rules.check(url)
            return url
        } catch {
            throw GrammarError(error.kind, error.message, option: option)
        }
    }

    /// Returns the URL if it may be loaded as a watermark.
    func watermark(_ rules: SourceRules) throws(GrammarError) -> String {
        let url = try url(rules)
        let step = TransformStep.overlay(Overlay(url: url))
        try require(
            (try? step.form.check(pixelsMax: RequestLimits.pixelsMax)) != nil,
            "expected a URL with a host and without user info, such as https://host/mark.png",
            of: option)
        return url
    }
}

/// The value of `watermark`: `OPACITY:POSITION:X:Y:SCALE`.
struct ImgproxyWatermark: Hashable, Sendable {
    let option: String
    let opacity: Double
    let word: String
    let x: Double
    let y: Double
    /// The scale relative to the image; 0 keeps the watermark's own size.
    let scale: Double

    init(_ arguments: OptionArguments) throws(GrammarError) {
        option = arguments.option
        opacity = try arguments.needed(arguments.decimal(0, in: 0...1))
        word = arguments[1] ?? "ce"
        let offsets = -Double(RequestSides.most)...Double(RequestSides.most)
        x = try arguments.decimal(2, in: offsets) ?? 0
        y = try arguments.decimal(3, in: offsets) ?? 0
        scale = try arguments.decimal(4, in: 0...100) ?? 0
        if word == "ch" {
            throw .notOffered(option, "chessboard watermarks are not supported: use re")
        }
        try require(
            word == "re" || ImgproxyGravity.places[word] != nil,
            "\(arguments.shown(word)) is not a position: use ce, no, so, ea, we, noea, nowe, "
                + "soea, sowe or re", of: option)
    }

    /// Returns the overlay; `nil` if the watermark is invisible.
    ///
    /// - Parameters:
    ///   - url: The URL of the image; `nil` if there is none.
    ///   - opacity: The opacity of the image if the option specifies 1.
    ///   - box: The maximum size in pixels, which a scale overrides; a side of 0 follows from the
    ///     other one.
    func overlay(
        url: String?, opacity base: Double, _ box: PixelSize, ratio: Double
    ) throws(GrammarError) -> Overlay? {
        guard opacity > 0 else { return nil }
        guard let url else {
            throw .notOffered(
                option,
                "no watermark is configured on this server: add watermark_url, or leave it out")
        }
        try requireSupported(
            scale <= 1, "watermarks larger than the image are not supported", of: option)
        let isTiled = word == "re"
        try requireSupported(
            !isTiled || (x == 0 && y == 0),
            "tiled watermarks do not support offsets: leave them out", of: option)
        let side = RelativeSize.Side.percent(scale * 100)
        let own = box.width > 0 || box.height > 0 ? box.wholeIfOpen : nil
        return Overlay(
            url: url, x: pixels(x, ratio), y: pixels(y, ratio), opacity: opacity * base,
            gravity: isTiled ? nil : place,
            size: scale > 0 ? RelativeSize(width: side, height: side) : own, repeats: isTiled)
    }

    /// The position, including offsets that are fractions of the image.
    private var place: Gravity? {
        func side(_ offset: Double) -> RelativeSize.Side {
            abs(offset) < 1 ? .percent(offset * 100) : .pixels(0)
        }
        guard let place = ImgproxyGravity.places[word] else { return nil }
        let by = GravityOffset(x: side(x), y: side(y))
        let isMoved = [by.x, by.y].contains { $0 != .pixels(0) && $0 != .percent(0) }
        guard isMoved, case .point(let across, let down) = place else { return place }
        return .moved(x: across, y: down, by: by)
    }

    /// Returns an offset in pixels; 0 for a fraction of the image.
    private func pixels(_ offset: Double, _ ratio: Double) -> Int {
        abs(offset) < 1 ? 0 : Int((offset * ratio).rounded(.toNearestOrEven))
    }
}
