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
    /// What needs no further computation, apart from the URL.
    var request = WebRequest(ImageRequest(url: ""))

    // MARK: - Sizes

    var mode = Mode.fit
    var width = 0
    var height = 0
    var zoom = (across: 1.0, down: 1.0)
    var ratio = 1.0
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
    var colors = ImgproxyColors()
    var blur = 0.0
    var sharpen = 0.0
    var pixelate = 0
    var unsharp: TransformStep?
    var colorize: TransformStep?
    var watermark: ImgproxyWatermark?
    var watermarkURL: ImgproxyURL?
    var watermarkSize = PixelSize(width: 0, height: 0)

    // MARK: - Output

    var quality = 0
    var stripsMetadata: Bool?
    var keepsCopyright: Bool?
    var stripsProfile: Bool?
    var isStill = false
    var fallbackURL: ImgproxyURL?
    /// The number of options applied so far.
    private var count = 0

    init(now: Int) { self.now = now }

    mutating func apply(_ arguments: OptionArguments) throws(GrammarError) {
        count += 1
        guard count <= GrammarLimits.appliedMax else { throw .tooManyOptions }
        guard let option = ImgproxyOption.byName[arguments.option] else {
            let name = String(arguments.option.prefix(40))
            try require(
                ImgproxyOption.absent.contains(arguments.option),
                "unknown option: see the list of options", of: name)
            throw .notOffered(name, "this imgproxy option is not supported")
        }
        try option.apply(to: &self, arguments)
    }
}

/// A region that is cropped before the image is resized.
struct ImgproxyCrop: Hashable, Sendable {
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
        mode = try arguments.needed(
            Mode(rawValue: word),
            "\(arguments.shown(word)) is not a type: use fit, fill, fill-down, force or auto")
    }

    /// Parses `WIDTH:HEIGHT:ENLARGE:EXTEND:GRAVITY…`, each of which may be empty.
    mutating func applySize(_ arguments: OptionArguments) throws(GrammarError) {
        try arguments.atMost(7)
        width = try arguments.whole(0, in: 0...RequestSides.most) ?? width
        height = try arguments.whole(1, in: 0...RequestSides.most) ?? height
        enlarges = try arguments.flag(2) ?? enlarges
        if arguments[3] != nil { extend = try ImgproxyExtend(arguments.dropFirst(3)) }
    }

    /// Parses `MODE:WEIGHT:DIVIDER`.
    ///
    /// imgproxy's defaults are those of the common mask of 3 × 3 pixels with 32 in the middle and
    /// -1 around it, divided by 24. In general, that is the image plus `9 * weight / divider` times
    /// its difference from the mean of the nine pixels. Their variance is 2/3, so the radius of the
    /// Gaussian is the root of it.
    mutating func applyUnsharp(_ arguments: OptionArguments) throws(GrammarError) {
        let range = 0.001...1_000.0
        let weight = try arguments.decimal(1, in: range) ?? 1
        let divider = try arguments.decimal(2, in: range) ?? 24
        switch arguments[0] {
        case "none": unsharp = nil
        case "always":
            unsharp = .sharpen(radius: (2.0 / 3).squareRoot(), amount: 9 * weight / divider)
        case nil, "auto":
            throw arguments.notOffered("the mode auto is not supported: use always or none")
        case .some(let mode):
            throw arguments.malformed(
                "\(arguments.shown(mode)) is not a mode: use always or none")
        }
    }

    mutating func applyFormat(_ arguments: OptionArguments) throws(GrammarError) {
        request.image.output.format = try Self.format(arguments.values.first ?? "", arguments)
    }
}

extension OptionArguments {
    /// Returns the argument at an index as a hexadecimal color; `nil` if it is missing.
    func color(_ index: Int) throws(GrammarError) -> Color? {
        guard let text = self[index] else { return nil }
        return try needed(
            ColorWord.hexadecimal(text),
            "\(shown(text)) is not a color: use rgb or rrggbb in hexadecimal digits")
    }
}

/// The options of imgproxy.
enum ImgproxyOption {
    typealias Option = GrammarOption<ImgproxyOptions>

    /// A placeholder for `preset`, which the grammar expands.
    static let preset = Option("preset", "pr") { _, _ in }

    /// All supported options, in the order of the documentation.
    static let all = sizes + cuts + looks + files + answers

    /// The options by each of their names.
    static let byName: [String: Option] = Dictionary(
        uniqueKeysWithValues: all.flatMap { option in option.names.map { ($0, option) } })

    private static let sides = 0...RequestSides.most

    private static let sizes: [Option] = [
        Option("resize", "rs", most: 8) { options, arguments throws(GrammarError) in
            if arguments[0] != nil { try options.applyMode(arguments, at: 0) }
            try options.applySize(arguments.dropFirst(1))
        },
        Option("size", "s") { options, arguments throws(GrammarError) in
            try options.applySize(arguments)
        },
        Option("resizing_type", "rt", most: 1) { options, arguments throws(GrammarError) in
            try options.applyMode(arguments, at: 0)
        },
        // A side of 0 is determined by the other one.
        .whole("width", "w", in: sides) { $0.width = $1 },
        .whole("height", "h", in: sides) { $0.height = $1 },
        .whole("min-width", "mw", in: sides) { $0.leastWidth = $1 },
        .whole("min-height", "mh", in: sides) { $0.leastHeight = $1 },
        Option("zoom", "z", most: 2) { options, arguments throws(GrammarError) in
            let range = 0.01...100.0
            let across = try arguments.needed(arguments.decimal(0, in: range))
            options.zoom = (across, try arguments.decimal(1, in: range) ?? across)
        },
        .decimal("dpr", in: 0.1...10) { ($0.ratio, $0.request.saysPixelRatio) = ($1, true) },
        .flag("enlarge", "el") { $0.enlarges = $1 },
        Option("extend", "ex") { options, arguments throws(GrammarError) in
            options.extend = try ImgproxyExtend(arguments)
        },
        Option("extend_aspect_ratio", "extend_ar", "exar") {
            options, arguments throws(GrammarError) in
            options.extendRatio = try ImgproxyExtend(arguments)
        },
    ]

    private static let cuts: [Option] = [
        Option("gravity", "g") { options, arguments throws(GrammarError) in
            options.gravity = try ImgproxyGravity(arguments, for: .cut)
        },
        // `WIDTH:HEIGHT:GRAVITY…`.
        Option("crop", "c", most: 5) { options, arguments throws(GrammarError) in
            let sides = 0...Double(RequestSides.most)
            let rest = arguments.dropFirst(2)
            options.crop = ImgproxyCrop(
                width: try arguments.needed(arguments.decimal(0, in: sides)),
                height: try arguments.decimal(1, in: sides) ?? 0,
                gravity: rest[0] == nil ? nil : try ImgproxyGravity(rest, for: .cut))
        },
        // `THRESHOLD:COLOR:EQUAL_HOR:EQUAL_VER`.
        Option("trim", "t", most: 4) { options, arguments throws(GrammarError) in
            let isAcross = try arguments.flag(2) ?? false
            let isDown = try arguments.flag(3) ?? false
            let equal: EqualMargins? =
                isAcross ? (isDown ? .both : .horizontal) : (isDown ? .vertical : nil)
            let color = try arguments.color(1)
            options.trim = try arguments.decimal(0, in: 0...255).map {
                .trim(tolerance: $0, color, equal: equal)
            }
        },
        // `TOP:RIGHT:BOTTOM:LEFT`; missing values default as in CSS.
        Option("padding", "pd", most: 4) { options, arguments throws(GrammarError) in
            var padding = options.padding
            padding.top = try arguments.whole(0, in: sides) ?? padding.top
            padding.right = try arguments.whole(1, in: sides) ?? padding.top
            padding.bottom = try arguments.whole(2, in: sides) ?? padding.top
            padding.left = try arguments.whole(3, in: sides) ?? padding.right
            options.padding = padding
        },
        Option("auto_rotate", "ar", most: 1) { _, arguments throws(GrammarError) in
            try arguments.requireSupported(
                arguments.needed(arguments.flag(0)),
                "images are always auto-rotated: leave it out, or use 1")
        },
        Option("rotate", "rot", most: 1) { options, arguments throws(GrammarError) in
            options.angle = try arguments.quarterTurn()
        },
        Option("flip", "fl", most: 2) { options, arguments throws(GrammarError) in
            options.flipsAcross = try arguments.flag(0) ?? options.flipsAcross
            options.flipsDown = try arguments.flag(1) ?? options.flipsDown
        },
    ]

    private static let black = Color(argb: 0xFF00_0000)

    /// The range of factors that imgproxy documents as positive numbers.
    private static let factors = 0.0...100

    private static let looks: [Option] = [
        // Three numbers, hexadecimal digits, or nothing.
        Option("background", "bg") { options, arguments throws(GrammarError) in
            guard arguments.values.count == 3 else {
                try arguments.atMost(1)
                options.background = try arguments.color(0)
                return
            }
            options.background = try arguments.color(rgbFrom: 0)
        },
        // `BRIGHTNESS:CONTRAST:SATURATION`.
        Option("adjust", "a", most: 3) { options, arguments throws(GrammarError) in
            options.colors.brightness = try arguments.whole(0, in: -255...255) ?? 0
            options.colors.contrast = try arguments.decimal(1, in: factors) ?? 1
            options.colors.saturation = try arguments.decimal(2, in: factors) ?? 1
        },
        .whole("brightness", "br", in: -255...255) { $0.colors.brightness = $1 },
        .decimal("contrast", "co", in: factors) { $0.colors.contrast = $1 },
        .decimal("saturation", "sa", in: factors) { $0.colors.saturation = $1 },
        // `INTENSITY:COLOR`.
        Option("monochrome", "mc", most: 2) { options, arguments throws(GrammarError) in
            let intensity = try arguments.needed(arguments.decimal(0, in: 0...1))
            let color = try arguments.color(1) ?? Color(argb: 0xFFB3_B3B3)
            options.colors.monochrome =
                intensity > 0 ? .monochrome(color, intensity: intensity) : nil
        },
        // `INTENSITY:COLOR1:COLOR2`.
        Option("duotone", "dt", most: 3) { options, arguments throws(GrammarError) in
            let intensity = try arguments.needed(arguments.decimal(0, in: 0...1))
            let (dark, light) = (try arguments.color(1), try arguments.color(2))
            let matrix = ColorMatrix.duotone(
                dark: dark ?? black, light: light ?? .white, intensity: intensity)
            options.colors.duotone = intensity > 0 ? .colorMatrix(matrix) : nil
        },
        .decimal("blur", "bl", in: 0...100) { $0.blur = $1 },
        .decimal("sharpen", "sh", in: 0...10) { $0.sharpen = $1 },
        .whole("pixelate", "pix", in: 0...1_000) { $0.pixelate = $1 },
        // `MODE:WEIGHT:DIVIDER`.
        Option("unsharp_masking", "ush", most: 3) { options, arguments throws(GrammarError) in
            try options.applyUnsharp(arguments)
        },
        // `OPACITY:COLOR:KEEP_ALPHA`.
        Option("colorize", "col", most: 3) { options, arguments throws(GrammarError) in
            let opacity = try arguments.needed(arguments.decimal(0, in: 0...1))
            let color = try arguments.color(1) ?? black
            let keepsAlpha = try arguments.flag(2) ?? false
            let alpha = UInt32((opacity * 255).rounded()) << 24
            let overlay = Color(argb: alpha | color.argb & 0xFF_FFFF)
            options.colorize =
                opacity > 0 ? .tint(overlay, keepsAlpha ? .sourceAtop : .normal) : nil
        },
        Option("watermark", "wm", most: 5) { options, arguments throws(GrammarError) in
            options.watermark = try ImgproxyWatermark(arguments)
        },
        Option("watermark_url", "wmu", most: 1) { options, arguments throws(GrammarError) in
            options.watermarkURL = try ImgproxyURL(arguments)
        },
        Option("watermark_size", "wms", most: 2) { options, arguments throws(GrammarError) in
            options.watermarkSize = PixelSize(
                width: try arguments.whole(0, in: sides) ?? 0,
                height: try arguments.whole(1, in: sides) ?? 0)
        },
    ]

    private static let files: [Option] = [
        .whole("quality", "q", in: 0...100) { $0.quality = $1 },
        // `FORMAT:QUALITY:…`.
        Option("format_quality", "fq") { options, arguments throws(GrammarError) in
            try arguments.require(
                arguments.values.count % 2 == 0, "the quality after the last format is missing")
            for place in stride(from: 0, to: arguments.values.count, by: 2) {
                let format = try ImgproxyOptions.format(arguments.values[place], arguments)
                let quality = try arguments.needed(arguments.whole(place + 1, in: 0...100))
                options.request.formatQualities[format] = quality > 0 ? quality : nil
            }
        },
        .whole("max_bytes", "mb", in: 0...1 << 30) {
            $0.request.image.output.maxBytes = $1 > 0 ? $1 : nil
        },
        Option("format", "f", "ext", most: 1) { options, arguments throws(GrammarError) in
            try options.applyFormat(arguments)
        },
        .flag("strip_metadata", "sm") { $0.stripsMetadata = $1 },
        .flag("keep_copyright", "kcr") { $0.keepsCopyright = $1 },
        .flag("strip_color_profile", "scp") { $0.stripsProfile = $1 },
        .flag("preserve_hdr", "ph") { $0.request.image.output.keepsHDR = $1 },
        Option("damaged", "dmg", most: 1) { options, arguments throws(GrammarError) in
            options.request.image.context.damaged = try arguments.damagedImages()
        },
        Option("skip_processing", "skp") { options, arguments throws(GrammarError) in
            options.request.skippedFormats = []
            for word in arguments.values {
                options.request.skippedFormats.append(try passable(word, arguments))
            }
        },
        .whole("max_animation_frames", "maf", in: 1...RequestLimits.framesMax) {
            $0.request.framesMax = $1
        },
        .flag("disable_animation", "da") { $0.isStill = $1 },
        Option("fallback_image_url", "fiu", most: 1) { options, arguments throws(GrammarError) in
            options.fallbackURL = try ImgproxyURL(arguments)
        },
    ]

    private static let answers: [Option] = [
        preset,
        Option("cachebuster", "cb", most: 1) { _, arguments throws(GrammarError) in
            let text = arguments.values.first ?? ""
            try arguments.require(
                text.utf8.count <= GrammarLimits.textBytesMax,
                "longer than \(GrammarLimits.textBytesMax) bytes")
        },
        // As in imgproxy, a time in the past is an error, and 0 means none.
        Option("expires", "exp", most: 1) { options, arguments throws(GrammarError) in
            let moment = try arguments.needed(arguments.whole(0, in: 0...Int.max))
            if moment != 0 { try arguments.requireCurrent(moment, at: options.now) }
            options.request.expires = moment == 0 ? nil : moment
        },
        .flag("raw") { $0.request.kind = $1 ? .source : .image },
        Option("filename", "fn", most: 2) { options, arguments throws(GrammarError) in
            options.request.fileName = try fileName(arguments)
        },
        .flag("return_attachment", "att") { $0.request.isAttachment = $1 },
    ]

    /// imgproxy options that are not supported, including some of its commercial version.
    static let absent: Set<String> = [
        "resizing_algorithm", "ra", "objects_position", "obj_pos", "op", "crop_aspect_ratio",
        "crop_ar", "car", "background_alpha", "bga", "blur_areas", "ba", "progressive_blur", "pbl",
        "blur_detections", "bd", "draw_detections", "dd", "crop_objects", "gradient", "gr",
        "watermark_text", "wmt", "watermark_rotate", "wm_rot", "wmr", "watermark_shadow", "wmsh",
        "style", "st", "dpi", "color_profile", "cp", "icc", "enforce_thumbnail", "eth",
        "autoquality", "aq",
        "jpeg_options", "jpgo", "png_options", "pngo", "webp_options", "webpo", "avif_options",
        "avifo", "page", "pg", "pages", "pgs", "video_thumbnail_second", "vts",
        "video_thumbnail_keyframes", "vtk", "video_thumbnail_tile", "vtt",
        "video_thumbnail_animation", "vta", "bypass_cache", "bc", "cache_tags", "ct", "hashsum",
        "hs", "max_src_resolution", "msr", "max_src_file_size", "msfs",
        "max_animation_frame_resolution", "mafr", "max_result_dimension", "mrd",
    ]

    /// The options of imgproxy's `/info` that select properties or presets of it.
    static let ofProperties: Set<String> = [
        "size", "s", "format", "f", "dimensions", "d", "exif", "iptc", "xmp", "video_meta", "vm",
        "detect_objects", "do", "classify", "cl", "colorspace", "cs", "bands", "b",
        "sample_format", "sf", "pages_number", "pn", "alpha", "a", "crop", "c", "palette", "p",
        "average", "avg", "dominant_colors", "dc", "blurhash", "bh", "thumb_hash", "th",
        "perceptual_hash", "phash", "ph", "calc_hashsums", "chs", "preset", "pr",
    ]

    private static func passable(
        _ word: String, _ arguments: OptionArguments
    ) throws(GrammarError) -> ImageFormat {
        let format = try arguments.needed(
            ImageFormat(name: word),
            "\(arguments.shown(word)) is not a format: use jpg, png, gif, …")
        try arguments.requireSupported(
            OutputOptions.passable.contains(format),
            "\(format.name) cannot be passed through: use one of "
                + OutputOptions.passable.map(\.name).joined(separator: ", "))
        return format
    }

    /// Parses `NAME:ENCODED`; the name is percent-encoded or Base64.
    private static func fileName(_ arguments: OptionArguments) throws(GrammarError) -> String? {
        guard let text = arguments[0] else { return nil }
        var name = try PercentText.text(text, of: arguments.option)
        if try arguments.flag(1) ?? false {
            let bytes = try arguments.needed(
                Base64URL.decode(text.utf8), "the name is not Base64: encode it, or use 0")
            name = try PercentText.text(
                PercentCoding.encode(bytes, keeping: { $0 != UInt8(ascii: "%") && $0 < 0x80 }),
                of: arguments.option)
        }
        return try arguments.fileName(name)
    }
}

extension ImgproxyOptions {
    fileprivate static func format(
        _ word: String, _ arguments: OptionArguments
    ) throws(GrammarError) -> ImageFormat {
        guard let format = ImageFormat(name: word) else {
            throw word == "best"
                ? arguments.notOffered("leave the format out: it is negotiated automatically")
                : arguments.malformed(
                    "\(arguments.shown(word)) is not a format: use jpg, png, webp, …")
        }
        try arguments.requireSupported(
            format.isEncodable,
            "\(format.name) output is not supported: use one of "
                + ImageFormat.encodable.map(\.name).joined(separator: ", "))
        return format
    }

    // MARK: - Results

    func output() -> OutputOptions {
        var output = request.image.output
        output.quality =
            quality > 0 ? quality : output.format.flatMap { request.formatQualities[$0] }
        output.metadata = metadata
        switch stripsProfile {
        case nil: break
        case true?: _ = output.apply(settings: ["icc": "srgb"])
        case false?: output.keepsProfile = true
        }
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
