import ImageModel

/// What the options of one path of imgproxy's say; a later one takes the place of an earlier one.
struct ImgproxyOptions: Sendable {
    /// How an image is made to have a size.
    enum Mode: String, Sendable, CaseIterable {
        case fit, fill, force, auto
        case fillDown = "fill-down"
    }

    /// Seconds since 1970.
    let now: Int

    // MARK: - Sizes

    var mode = Mode.fit
    var modeOption = "resizing_type"
    var width = 0
    var height = 0
    var zoom = (across: 1.0, down: 1.0)
    var ratio = 1.0
    var saysRatio = false
    var enlarges = false
    var leastWidth = 0
    var leastHeight = 0
    var extend: ImgproxyExtend?
    var extendRatio: ImgproxyExtend?

    // MARK: - Parts and looks

    var gravity = ImgproxyGravity.center
    var crop: ImgproxyCrop?
    var trim: TransformStep?
    var padding = Margins()
    var angle = 0
    var flipsAcross = false
    var flipsDown = false
    var background: Colour?
    var blur = 0.0
    var sharpen = 0.0
    var pixelate = 0
    var watermark: ImgproxyWatermark?

    // MARK: - The file and the answer

    var quality = 0
    var qualities: [ImageFormat: Int] = [:]
    var maxBytes = 0
    var format: ImageFormat?
    var stripsMetadata: Bool?
    var keepsCopyright: Bool?
    var stripsProfile: Bool?
    var keepsHDR = false
    var damaged: DamagedImages?
    var skippedFormats: [ImageFormat] = []
    var framesMax: Int?
    var presets: [String] = []
    var cacheBuster: String?
    var expires: Int?
    var isRaw = false
    var fileName: String?
    var isAttachment = false
    /// Options that were taken so far.
    private var count = 0

    init(now: Int) { self.now = now }

    /// Takes one option.
    mutating func take(_ said: OptionArguments) throws(GrammarError) {
        count += 1
        guard count <= GrammarLimits.appliedMax else { throw .tooManyOptions }
        guard let option = ImgproxyOption.byName[said.option] else {
            let name = String(said.option.prefix(40))
            guard ImgproxyOption.absent.contains(said.option) else {
                throw .malformed(name, "there is no such option: see the list of options")
            }
            throw .notOffered(name, "imgproxy has this option, and this server does not")
        }
        try option.take(&self, said)
    }
}

/// A part that is cut out before the image is resized.
struct ImgproxyCrop: Hashable, Sendable {
    let option: String
    /// Pixels from 1 on, parts of the image below; 0: all of it.
    let width: Double
    /// See `width`.
    let height: Double
    /// `nil`: that of the option `gravity`.
    let gravity: ImgproxyGravity?
}

extension ImgproxyOptions {
    mutating func takeMode(_ said: OptionArguments, at place: Int) throws(GrammarError) {
        let word = try said.needed(said[place])
        guard let mode = Mode(rawValue: word) else {
            throw .malformed(
                said.option,
                "\(said.shown(word)) is no resizing type: use fit, fill, fill-down, force or auto")
        }
        (self.mode, modeOption) = (mode, said.option)
    }

    /// `WIDTH:HEIGHT:ENLARGE:EXTEND:GRAVITY…`, of which each may be empty.
    mutating func takeSize(_ said: OptionArguments) throws(GrammarError) {
        try said.atMost(7)
        width = try said.whole(0, in: 0...RequestSides.most) ?? width
        height = try said.whole(1, in: 0...RequestSides.most) ?? height
        enlarges = try said.flag(2) ?? enlarges
        if said[3] != nil { extend = try ImgproxyExtend(said.dropFirst(3)) }
    }

    mutating func takeZoom(_ said: OptionArguments) throws(GrammarError) {
        try said.atMost(2)
        let range = 0.01...100.0
        let across = try said.needed(said.decimal(0, in: range))
        zoom = (across, try said.decimal(1, in: range) ?? across)
    }

    /// `WIDTH:HEIGHT:GRAVITY…`
    mutating func takeCrop(_ said: OptionArguments) throws(GrammarError) {
        try said.atMost(5)
        let sides = 0...Double(RequestSides.most)
        let rest = said.dropFirst(2)
        crop = ImgproxyCrop(
            option: said.option, width: try said.needed(said.decimal(0, in: sides)),
            height: try said.decimal(1, in: sides) ?? 0,
            gravity: rest[0] == nil ? nil : try ImgproxyGravity(rest, for: .cut))
    }

    /// `THRESHOLD:COLOUR:EQUAL_HOR:EQUAL_VER`
    mutating func takeTrim(_ said: OptionArguments) throws(GrammarError) {
        try said.atMost(4)
        let (isAcross, isDown) = (try said.flag(2) ?? false, try said.flag(3) ?? false)
        guard !isAcross, !isDown else {
            throw .notOffered(
                said.option, "equal parts of two edges are not cut off here: leave that out")
        }
        let colour = try said.colour(1)
        trim = try said.decimal(0, in: 0...255).map { .trim(tolerance: $0, colour) }
    }

    /// `TOP:RIGHT:BOTTOM:LEFT`, the last three as CSS has them.
    mutating func takePadding(_ said: OptionArguments) throws(GrammarError) {
        try said.atMost(4)
        let sides = 0...RequestSides.most
        padding.top = try said.whole(0, in: sides) ?? padding.top
        padding.right = try said.whole(1, in: sides) ?? padding.top
        padding.bottom = try said.whole(2, in: sides) ?? padding.top
        padding.left = try said.whole(3, in: sides) ?? padding.right
    }

    mutating func takeAngle(_ said: OptionArguments) throws(GrammarError) {
        try said.atMost(1)
        let degrees = try said.needed(said.whole(0, in: -360_000...360_000))
        guard degrees % 90 == 0 else {
            throw .malformed(said.option, "an angle is a multiple of 90")
        }
        angle = ((degrees % 360) + 360) % 360
    }

    /// Three numbers, hexadecimal digits, or nothing.
    mutating func takeBackground(_ said: OptionArguments) throws(GrammarError) {
        guard said.values.count == 3 else {
            try said.atMost(1)
            background = try said.colour(0)
            return
        }
        var argb: UInt32 = 0xFF
        for place in 0..<3 {
            argb = argb << 8 | UInt32(try said.needed(said.whole(place, in: 0...255)))
        }
        background = Colour(argb: argb)
    }

    mutating func takeBlur(_ said: OptionArguments) throws(GrammarError) {
        try said.atMost(1)
        blur = try said.needed(said.decimal(0, in: 0...100))
        guard blur == 0 || blur >= 2 else {
            throw .notOffered(said.option, "the least blur here is 2: use more, or 0")
        }
    }
}

extension OptionArguments {
    /// The colour of hexadecimal digits at that place; `nil` where nothing is there.
    func colour(_ index: Int) throws(GrammarError) -> Colour? {
        guard let text = self[index] else { return nil }
        guard let colour = ColourWord.hexadecimal(text) else {
            throw .malformed(
                option, "\(shown(text)) is no colour: use rgb or rrggbb in hexadecimal digits")
        }
        return colour
    }
}
