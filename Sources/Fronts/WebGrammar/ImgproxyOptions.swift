import Model

/// The options of an imgproxy path; later ones override earlier ones.
struct ImgproxyOptions: Sendable {
    /// How an image is fitted to a size.
    enum Mode: String, Sendable, CaseIterable {
        case fit, fill, force, auto
        case fillDown = "fill-down"
    }

    /// The current time in seconds since 1970.
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

    // MARK: - Regions and appearance

    var gravity = ImgproxyGravity.center
    var crop: ImgproxyCrop?
    var trim: TransformStep?
    var padding = Margins()
    var angle = 0
    var flipsAcross = false
    var flipsDown = false
    var background: Color?
    var blur = 0.0
    var sharpen = 0.0
    var pixelate = 0
    var watermark: ImgproxyWatermark?

    // MARK: - Output and response

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
    /// The number of options applied so far.
    private var count = 0

    init(now: Int) { self.now = now }

    mutating func apply(_ arguments: OptionArguments) throws(GrammarError) {
        count += 1
        guard count <= GrammarLimits.appliedMax else { throw .tooManyOptions }
        guard let option = ImgproxyOption.byName[arguments.option] else {
            let name = String(arguments.option.prefix(40))
            guard ImgproxyOption.absent.contains(arguments.option) else {
                throw .malformed(name, "unknown option: see the list of options")
            }
            throw .notOffered(name, "this imgproxy option is not supported")
        }
        try option.apply(&self, arguments)
    }
}

/// A region that is cropped before the image is resized.
struct ImgproxyCrop: Hashable, Sendable {
    let option: String
    /// Pixels from 1 on, fractions of the image below 1; 0 means the full width.
    let width: Double
    /// The height, in the units of `width`.
    let height: Double
    /// The gravity; `nil` uses that of the option `gravity`.
    let gravity: ImgproxyGravity?
}

extension ImgproxyOptions {
    mutating func applyMode(_ arguments: OptionArguments, at place: Int) throws(GrammarError) {
        let word = try arguments.needed(arguments[place])
        guard let mode = Mode(rawValue: word) else {
            throw .malformed(
                arguments.option,
                "\(arguments.shown(word)) is not a type: use fit, fill, fill-down, force or auto")
        }
        (self.mode, modeOption) = (mode, arguments.option)
    }

    /// Parses `WIDTH:HEIGHT:ENLARGE:EXTEND:GRAVITY…`, each of which may be empty.
    mutating func applySize(_ arguments: OptionArguments) throws(GrammarError) {
        try arguments.atMost(7)
        width = try arguments.whole(0, in: 0...RequestSides.most) ?? width
        height = try arguments.whole(1, in: 0...RequestSides.most) ?? height
        enlarges = try arguments.flag(2) ?? enlarges
        if arguments[3] != nil { extend = try ImgproxyExtend(arguments.dropFirst(3)) }
    }

    mutating func applyZoom(_ arguments: OptionArguments) throws(GrammarError) {
        try arguments.atMost(2)
        let range = 0.01...100.0
        let across = try arguments.needed(arguments.decimal(0, in: range))
        zoom = (across, try arguments.decimal(1, in: range) ?? across)
    }

    /// Parses `WIDTH:HEIGHT:GRAVITY…`.
    mutating func applyCrop(_ arguments: OptionArguments) throws(GrammarError) {
        try arguments.atMost(5)
        let sides = 0...Double(RequestSides.most)
        let rest = arguments.dropFirst(2)
        crop = ImgproxyCrop(
            option: arguments.option, width: try arguments.needed(arguments.decimal(0, in: sides)),
            height: try arguments.decimal(1, in: sides) ?? 0,
            gravity: rest[0] == nil ? nil : try ImgproxyGravity(rest, for: .cut))
    }

    /// Parses `THRESHOLD:COLOR:EQUAL_HOR:EQUAL_VER`.
    mutating func applyTrim(_ arguments: OptionArguments) throws(GrammarError) {
        try arguments.atMost(4)
        let (isAcross, isDown) = (try arguments.flag(2) ?? false, try arguments.flag(3) ?? false)
        guard !isAcross, !isDown else {
            throw .notOffered(
                arguments.option, "EQUAL_HOR and EQUAL_VER are not supported: leave them out")
        }
        let color = try arguments.color(1)
        trim = try arguments.decimal(0, in: 0...255).map { .trim(tolerance: $0, color) }
    }

    /// Parses `TOP:RIGHT:BOTTOM:LEFT`; missing values default as in CSS.
    mutating func applyPadding(_ arguments: OptionArguments) throws(GrammarError) {
        try arguments.atMost(4)
        let sides = 0...RequestSides.most
        padding.top = try arguments.whole(0, in: sides) ?? padding.top
        padding.right = try arguments.whole(1, in: sides) ?? padding.top
        padding.bottom = try arguments.whole(2, in: sides) ?? padding.top
        padding.left = try arguments.whole(3, in: sides) ?? padding.right
    }

    mutating func applyAngle(_ arguments: OptionArguments) throws(GrammarError) {
        try arguments.atMost(1)
        let degrees = try arguments.needed(arguments.whole(0, in: -360_000...360_000))
        guard degrees % 90 == 0 else {
            throw .malformed(arguments.option, "the angle must be a multiple of 90")
        }
        angle = ((degrees % 360) + 360) % 360
    }

    /// Parses three numbers, hexadecimal digits, or nothing.
    mutating func applyBackground(_ arguments: OptionArguments) throws(GrammarError) {
        guard arguments.values.count == 3 else {
            try arguments.atMost(1)
            background = try arguments.color(0)
            return
        }
        var argb: UInt32 = 0xFF
        for place in 0..<3 {
            argb = argb << 8 | UInt32(try arguments.needed(arguments.whole(place, in: 0...255)))
        }
        background = Color(argb: argb)
    }

    mutating func applyBlur(_ arguments: OptionArguments) throws(GrammarError) {
        try arguments.atMost(1)
        blur = try arguments.needed(arguments.decimal(0, in: 0...100))
        guard blur == 0 || blur >= 2 else {
            throw .notOffered(arguments.option, "the blur must be 0 or at least 2")
        }
    }
}

extension OptionArguments {
    /// Returns the argument at an index as a hexadecimal color; `nil` if it is missing.
    func color(_ index: Int) throws(GrammarError) -> Color? {
        guard let text = self[index] else { return nil }
        guard let color = ColorWord.hexadecimal(text) else {
            throw .malformed(
                option, "\(shown(text)) is not a color: use rgb or rrggbb in hexadecimal digits")
        }
        return color
    }
}

/// An option of imgproxy, with its names and effect.
struct ImgproxyOption: Sendable {
    /// The names, the long one first.
    let names: [String]
    let apply: @Sendable (inout ImgproxyOptions, OptionArguments) throws(GrammarError) -> Void

    private init(
        _ names: String...,
        apply:
            @escaping @Sendable (inout ImgproxyOptions, OptionArguments) throws(GrammarError) ->
            Void
    ) {
        (self.names, self.apply) = (names, apply)
    }

    /// A placeholder for `preset`, which the grammar expands.
    static let preset = ImgproxyOption("preset", "pr") { _, _ in }

    /// All supported options, in the order of the documentation.
    static let all = sizes + cuts + looks + files + answers

    /// The options by each of their names.
    static let byName: [String: ImgproxyOption] = Dictionary(
        uniqueKeysWithValues: all.flatMap { option in option.names.map { ($0, option) } })

    private static let sizes = [
        ImgproxyOption("resize", "rs") { options, arguments throws(GrammarError) in
            try arguments.atMost(8)
            if arguments[0] != nil { try options.applyMode(arguments, at: 0) }
            try options.applySize(arguments.dropFirst(1))
        },
        ImgproxyOption("size", "s") { options, arguments throws(GrammarError) in
            try options.applySize(arguments)
        },
        ImgproxyOption("resizing_type", "rt") { options, arguments throws(GrammarError) in
            try arguments.atMost(1)
            try options.applyMode(arguments, at: 0)
        },
        ImgproxyOption("width", "w") { options, arguments throws(GrammarError) in
            options.width = try arguments.side()
        },
        ImgproxyOption("height", "h") { options, arguments throws(GrammarError) in
            options.height = try arguments.side()
        },
        ImgproxyOption("min-width", "mw") { options, arguments throws(GrammarError) in
            options.leastWidth = try arguments.side()
        },
        ImgproxyOption("min-height", "mh") { options, arguments throws(GrammarError) in
            options.leastHeight = try arguments.side()
        },
        ImgproxyOption("zoom", "z") { options, arguments throws(GrammarError) in
            try options.applyZoom(arguments)
        },
        ImgproxyOption("dpr") { options, arguments throws(GrammarError) in
            try arguments.atMost(1)
            options.ratio = try arguments.needed(arguments.decimal(0, in: 0.1...10))
            options.saysRatio = true
        },
        ImgproxyOption("enlarge", "el") { options, arguments throws(GrammarError) in
            options.enlarges = try arguments.onlyFlag()
        },
        ImgproxyOption("extend", "ex") { options, arguments throws(GrammarError) in
            options.extend = try ImgproxyExtend(arguments)
        },
        ImgproxyOption("extend_aspect_ratio", "extend_ar", "exar") {
            options, arguments throws(GrammarError) in
            options.extendRatio = try ImgproxyExtend(arguments)
        },
    ]

    private static let cuts = [
        ImgproxyOption("gravity", "g") { options, arguments throws(GrammarError) in
            options.gravity = try ImgproxyGravity(arguments, for: .cut)
        },
        ImgproxyOption("crop", "c") { options, arguments throws(GrammarError) in
            try options.applyCrop(arguments)
        },
        ImgproxyOption("trim", "t") { options, arguments throws(GrammarError) in
            try options.applyTrim(arguments)
        },
        ImgproxyOption("padding", "pd") { options, arguments throws(GrammarError) in
            try options.applyPadding(arguments)
        },
        ImgproxyOption("auto_rotate", "ar") { _, arguments throws(GrammarError) in
            guard try !arguments.onlyFlag() else { return }
            throw .notOffered(
                arguments.option, "images are always auto-rotated: leave it out, or use 1")
        },
        ImgproxyOption("rotate", "rot") { options, arguments throws(GrammarError) in
            try options.applyAngle(arguments)
        },
        ImgproxyOption("flip", "fl") { options, arguments throws(GrammarError) in
            try arguments.atMost(2)
            options.flipsAcross = try arguments.flag(0) ?? options.flipsAcross
            options.flipsDown = try arguments.flag(1) ?? options.flipsDown
        },
    ]

    private static let looks = [
        ImgproxyOption("background", "bg") { options, arguments throws(GrammarError) in
            try options.applyBackground(arguments)
        },
        ImgproxyOption("blur", "bl") { options, arguments throws(GrammarError) in
            try options.applyBlur(arguments)
        },
        ImgproxyOption("sharpen", "sh") { options, arguments throws(GrammarError) in
            try arguments.atMost(1)
            options.sharpen = try arguments.needed(arguments.decimal(0, in: 0...10))
        },
        ImgproxyOption("pixelate", "pix") { options, arguments throws(GrammarError) in
            try arguments.atMost(1)
            options.pixelate = try arguments.needed(arguments.whole(0, in: 0...1_000))
        },
        ImgproxyOption("watermark", "wm") { options, arguments throws(GrammarError) in
            options.watermark = try ImgproxyWatermark(arguments)
        },
    ]

    private static let files = [
        ImgproxyOption("quality", "q") { options, arguments throws(GrammarError) in
            try arguments.atMost(1)
            options.quality = try arguments.needed(arguments.whole(0, in: 0...100))
        },
        ImgproxyOption("format_quality", "fq") { options, arguments throws(GrammarError) in
            try options.applyQualities(arguments)
        },
        ImgproxyOption("max_bytes", "mb") { options, arguments throws(GrammarError) in
            try arguments.atMost(1)
            options.maxBytes = try arguments.needed(arguments.whole(0, in: 0...(1 << 30)))
        },
        ImgproxyOption("format", "f", "ext") { options, arguments throws(GrammarError) in
            try options.applyFormat(arguments)
        },
        ImgproxyOption("strip_metadata", "sm") { options, arguments throws(GrammarError) in
            options.stripsMetadata = try arguments.onlyFlag()
        },
        ImgproxyOption("keep_copyright", "kcr") { options, arguments throws(GrammarError) in
            options.keepsCopyright = try arguments.onlyFlag()
        },
        ImgproxyOption("strip_color_profile", "scp") { options, arguments throws(GrammarError) in
            options.stripsProfile = try arguments.onlyFlag()
        },
        ImgproxyOption("preserve_hdr", "ph") { options, arguments throws(GrammarError) in
            options.keepsHDR = try arguments.onlyFlag()
        },
        ImgproxyOption("damaged", "dmg") { options, arguments throws(GrammarError) in
            options.damaged = try arguments.onlyDamaged()
        },
        ImgproxyOption("skip_processing", "skp") { options, arguments throws(GrammarError) in
            try options.applySkipped(arguments)
        },
        ImgproxyOption("max_animation_frames", "maf") { options, arguments throws(GrammarError) in
            try arguments.atMost(1)
            options.framesMax = try arguments.needed(
                arguments.whole(0, in: 1...RequestLimits.framesMax))
        },
    ]

    private static let answers = [
        preset,
        ImgproxyOption("cachebuster", "cb") { options, arguments throws(GrammarError) in
            options.cacheBuster = try arguments.onlyText()
        },
        ImgproxyOption("expires", "exp") { options, arguments throws(GrammarError) in
            try options.applyExpiry(arguments)
        },
        ImgproxyOption("raw") { options, arguments throws(GrammarError) in
            options.isRaw = try arguments.onlyFlag()
        },
        ImgproxyOption("filename", "fn") { options, arguments throws(GrammarError) in
            try options.applyFileName(arguments)
        },
        ImgproxyOption("return_attachment", "att") { options, arguments throws(GrammarError) in
            options.isAttachment = try arguments.onlyFlag()
        },
    ]

    /// imgproxy options that are not supported, including some of its commercial version.
    static let absent: Set<String> = [
        "resizing_algorithm", "ra", "objects_position", "obj_pos", "op", "crop_aspect_ratio",
        "crop_ar", "car", "background_alpha", "bga", "adjust", "a", "brightness", "br",
        "contrast", "co", "saturation", "sa", "monochrome", "mc", "duotone", "dt",
        "unsharp_masking", "ush", "blur_areas", "ba", "progressive_blur", "pbl",
        "blur_detections", "bd", "draw_detections", "dd", "crop_objects", "colorize", "col",
        "gradient", "gr", "watermark_url", "wmu", "watermark_text", "wmt", "watermark_size",
        "wms", "watermark_rotate", "wm_rot", "wmr", "watermark_shadow", "wmsh", "style", "st",
        "dpi", "color_profile", "cp", "icc", "enforce_thumbnail", "eth", "autoquality", "aq",
        "jpeg_options", "jpgo", "png_options", "pngo", "webp_options", "webpo", "avif_options",
        "avifo", "page", "pg", "pages", "pgs", "disable_animation", "da",
        "video_thumbnail_second", "vts", "video_thumbnail_keyframes", "vtk",
        "video_thumbnail_tile", "vtt", "video_thumbnail_animation", "vta",
        "fallback_image_url", "fiu", "bypass_cache", "bc",
        "cache_tags", "ct", "hashsum", "hs", "max_src_resolution", "msr", "max_src_file_size",
        "msfs", "max_animation_frame_resolution", "mafr",
        "max_result_dimension", "mrd",
    ]
}

extension OptionArguments {
    /// Returns a side in pixels; 0 if it is determined by the other one.
    fileprivate func side() throws(GrammarError) -> Int {
        try atMost(1)
        return try needed(whole(0, in: 0...RequestSides.most))
    }

    fileprivate func onlyFlag() throws(GrammarError) -> Bool {
        try atMost(1)
        return try needed(flag(0))
    }

    /// Returns the only argument as a text of limited length; `nil` if empty.
    fileprivate func onlyText() throws(GrammarError) -> String? {
        let text = try only()
        guard text.utf8.count <= GrammarLimits.textBytesMax else {
            throw .malformed(option, "longer than \(GrammarLimits.textBytesMax) bytes")
        }
        return text.isEmpty ? nil : text
    }
}

extension ImgproxyOptions {
    mutating func applyFormat(_ arguments: OptionArguments) throws(GrammarError) {
        let word = try arguments.needed(Optional(try arguments.only()))
        format = try Self.format(word, arguments)
    }

    /// Parses `FORMAT:QUALITY:…`.
    mutating func applyQualities(_ arguments: OptionArguments) throws(GrammarError) {
        guard arguments.values.count % 2 == 0 else {
            throw .malformed(arguments.option, "the quality after the last format is missing")
        }
        for place in stride(from: 0, to: arguments.values.count, by: 2) {
            let format = try Self.format(arguments.values[place], arguments)
            let quality = try arguments.needed(arguments.whole(place + 1, in: 0...100))
            qualities[format] = quality > 0 ? quality : nil
        }
    }

    /// Parses `FORMAT:FORMAT:…`.
    mutating func applySkipped(_ arguments: OptionArguments) throws(GrammarError) {
        skippedFormats = []
        for word in arguments.values {
            guard let format = ImageFormat(name: word) else {
                throw .malformed(
                    arguments.option,
                    "\(arguments.shown(word)) is not a format: use jpg, png, gif, …")
            }
            guard OutputOptions.passable.contains(format) else {
                throw .notOffered(
                    arguments.option,
                    "\(format.name) cannot be passed through: use one of "
                        + OutputOptions.passable.map(\.name).joined(separator: ", "))
            }
            skippedFormats.append(format)
        }
    }

    private static func format(
        _ word: String, _ arguments: OptionArguments
    ) throws(GrammarError) -> ImageFormat {
        guard let format = ImageFormat(name: word) else {
            throw word == "best"
                ? .notOffered(
                    arguments.option, "leave the format out: it is negotiated automatically")
                : .malformed(
                    arguments.option,
                    "\(arguments.shown(word)) is not a format: use jpg, png, webp, …")
        }
        guard format.isEncodable else {
            throw .notOffered(
                arguments.option,
                "\(format.name) output is not supported: use one of "
                    + ImageFormat.encodable.map(\.name).joined(separator: ", "))
        }
        return format
    }

    /// Parses an expiry time. As in imgproxy, a time in the past is an error, and 0 means none.
    mutating func applyExpiry(_ arguments: OptionArguments) throws(GrammarError) {
        try arguments.atMost(1)
        let moment = try arguments.needed(arguments.whole(0, in: 0...Int.max))
        guard moment == 0 || moment >= now else {
            throw GrammarError(
                .expired, "this URL has expired: request a new one", option: arguments.option)
        }
        expires = moment == 0 ? nil : moment
    }

    /// Parses `NAME:ENCODED`; the name is percent-encoded or Base64.
    mutating func applyFileName(_ arguments: OptionArguments) throws(GrammarError) {
        try arguments.atMost(2)
        guard let text = arguments[0] else {
            fileName = nil
            return
        }
        var name = try PercentText.text(text, of: arguments.option)
        if try arguments.flag(1) ?? false {
            guard let bytes = Base64URL.decode(text.utf8) else {
                throw .malformed(arguments.option, "the name is not Base64: encode it, or use 0")
            }
            name = try PercentText.text(
                PercentCoding.encode(bytes, keeping: { $0 != UInt8(ascii: "%") && $0 < 0x80 }),
                of: arguments.option)
        }
        guard name.utf8.count <= GrammarLimits.textBytesMax, !name.contains(where: Self.isOfPaths)
        else {
            throw .malformed(
                arguments.option,
                "names have no slashes and at most \(GrammarLimits.textBytesMax) bytes")
        }
        fileName = name
    }

    private static func isOfPaths(_ character: Character) -> Bool {
        character == "/" || character == "\\"
    }

    // MARK: - Results

    func output() -> OutputOptions {
        var output = OutputOptions(format: format)
        output.quality = quality > 0 ? quality : format.flatMap { qualities[$0] }
        output.maxBytes = maxBytes > 0 ? maxBytes : nil
        output.metadata = metadata
        switch stripsProfile {
        case nil: break
        case true?: _ = output.apply(settings: ["icc": "srgb"])
        case false?: output.keepsProfile = true
        }
        output.keepsHDR = keepsHDR
        return output
    }

    /// The metadata to keep; `nil` if not specified.
    private var metadata: MetadataChoice? {
        switch (stripsMetadata, keepsCopyright) {
        case (false?, _): .all
        case (_, true?): .copyright
        case (true?, _), (_, false?): .nothing
        case (nil, nil): nil
        }
    }
}
