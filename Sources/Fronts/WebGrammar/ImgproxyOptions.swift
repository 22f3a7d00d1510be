import ImageModel

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

    /// Applies an option.
    mutating func take(_ said: OptionArguments) throws(GrammarError) {
        count += 1
        guard count <= GrammarLimits.appliedMax else { throw .tooManyOptions }
        guard let option = ImgproxyOption.byName[said.option] else {
            let name = String(said.option.prefix(40))
            guard ImgproxyOption.absent.contains(said.option) else {
                throw .malformed(name, "unknown option: see the list of options")
            }
            throw .notOffered(name, "this imgproxy option is not supported")
        }
        try option.take(&self, said)
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
    mutating func takeMode(_ said: OptionArguments, at place: Int) throws(GrammarError) {
        let word = try said.needed(said[place])
        guard let mode = Mode(rawValue: word) else {
            throw .malformed(
                said.option,
                "\(said.shown(word)) is not a type: use fit, fill, fill-down, force or auto")
        }
        (self.mode, modeOption) = (mode, said.option)
    }

    /// Parses `WIDTH:HEIGHT:ENLARGE:EXTEND:GRAVITY…`, each of which may be empty.
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

    /// Parses `WIDTH:HEIGHT:GRAVITY…`.
    mutating func takeCrop(_ said: OptionArguments) throws(GrammarError) {
        try said.atMost(5)
        let sides = 0...Double(RequestSides.most)
        let rest = said.dropFirst(2)
        crop = ImgproxyCrop(
            option: said.option, width: try said.needed(said.decimal(0, in: sides)),
            height: try said.decimal(1, in: sides) ?? 0,
            gravity: rest[0] == nil ? nil : try ImgproxyGravity(rest, for: .cut))
    }

    /// Parses `THRESHOLD:COLOR:EQUAL_HOR:EQUAL_VER`.
    mutating func takeTrim(_ said: OptionArguments) throws(GrammarError) {
        try said.atMost(4)
        let (isAcross, isDown) = (try said.flag(2) ?? false, try said.flag(3) ?? false)
        guard !isAcross, !isDown else {
            throw .notOffered(
                said.option, "EQUAL_HOR and EQUAL_VER are not supported: leave them out")
        }
        let color = try said.color(1)
        trim = try said.decimal(0, in: 0...255).map { .trim(tolerance: $0, color) }
    }

    /// Parses `TOP:RIGHT:BOTTOM:LEFT`; missing values default as in CSS.
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
            throw .malformed(said.option, "the angle must be a multiple of 90")
        }
        angle = ((degrees % 360) + 360) % 360
    }

    /// Parses three numbers, hexadecimal digits, or nothing.
    mutating func takeBackground(_ said: OptionArguments) throws(GrammarError) {
        guard said.values.count == 3 else {
            try said.atMost(1)
            background = try said.color(0)
            return
        }
        var argb: UInt32 = 0xFF
        for place in 0..<3 {
            argb = argb << 8 | UInt32(try said.needed(said.whole(place, in: 0...255)))
        }
        background = Color(argb: argb)
    }

    mutating func takeBlur(_ said: OptionArguments) throws(GrammarError) {
        try said.atMost(1)
        blur = try said.needed(said.decimal(0, in: 0...100))
        guard blur == 0 || blur >= 2 else {
            throw .notOffered(said.option, "the blur must be 0 or at least 2")
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
    let take: @Sendable (inout ImgproxyOptions, OptionArguments) throws(GrammarError) -> Void

    private init(
        _ names: String...,
        take:
            @escaping @Sendable (inout ImgproxyOptions, OptionArguments) throws(GrammarError) ->
            Void
    ) {
        (self.names, self.take) = (names, take)
    }

    /// A placeholder for `preset`, which the grammar expands.
    static let preset = ImgproxyOption("preset", "pr") { _, _ in }

    /// All supported options, in the order of the documentation.
    static let all = sizes + cuts + looks + files + answers

    /// The options by each of their names.
    static let byName: [String: ImgproxyOption] = Dictionary(
        uniqueKeysWithValues: all.flatMap { option in option.names.map { ($0, option) } })

    private static let sizes = [
        ImgproxyOption("resize", "rs") { options, said throws(GrammarError) in
            try said.atMost(8)
            if said[0] != nil { try options.takeMode(said, at: 0) }
            try options.takeSize(said.dropFirst(1))
        },
        ImgproxyOption("size", "s") { options, said throws(GrammarError) in
            try options.takeSize(said)
        },
        ImgproxyOption("resizing_type", "rt") { options, said throws(GrammarError) in
            try said.atMost(1)
            try options.takeMode(said, at: 0)
        },
        ImgproxyOption("width", "w") { options, said throws(GrammarError) in
            options.width = try said.side()
        },
        ImgproxyOption("height", "h") { options, said throws(GrammarError) in
            options.height = try said.side()
        },
        ImgproxyOption("min-width", "mw") { options, said throws(GrammarError) in
            options.leastWidth = try said.side()
        },
        ImgproxyOption("min-height", "mh") { options, said throws(GrammarError) in
            options.leastHeight = try said.side()
        },
        ImgproxyOption("zoom", "z") { options, said throws(GrammarError) in
            try options.takeZoom(said)
        },
        ImgproxyOption("dpr") { options, said throws(GrammarError) in
            try said.atMost(1)
            options.ratio = try said.needed(said.decimal(0, in: 0.1...10))
            options.saysRatio = true
        },
        ImgproxyOption("enlarge", "el") { options, said throws(GrammarError) in
            options.enlarges = try said.onlyFlag()
        },
        ImgproxyOption("extend", "ex") { options, said throws(GrammarError) in
            options.extend = try ImgproxyExtend(said)
        },
        ImgproxyOption("extend_aspect_ratio", "extend_ar", "exar") {
            options, said throws(GrammarError) in
            options.extendRatio = try ImgproxyExtend(said)
        },
    ]

    private static let cuts = [
        ImgproxyOption("gravity", "g") { options, said throws(GrammarError) in
            options.gravity = try ImgproxyGravity(said, for: .cut)
        },
        ImgproxyOption("crop", "c") { options, said throws(GrammarError) in
            try options.takeCrop(said)
        },
        ImgproxyOption("trim", "t") { options, said throws(GrammarError) in
            try options.takeTrim(said)
        },
        ImgproxyOption("padding", "pd") { options, said throws(GrammarError) in
            try options.takePadding(said)
        },
        ImgproxyOption("auto_rotate", "ar") { _, said throws(GrammarError) in
            guard try !said.onlyFlag() else { return }
            throw .notOffered(
                said.option, "images are always auto-rotated: leave it out, or use 1")
        },
        ImgproxyOption("rotate", "rot") { options, said throws(GrammarError) in
            try options.takeAngle(said)
        },
        ImgproxyOption("flip", "fl") { options, said throws(GrammarError) in
            try said.atMost(2)
            options.flipsAcross = try said.flag(0) ?? options.flipsAcross
            options.flipsDown = try said.flag(1) ?? options.flipsDown
        },
    ]

    private static let looks = [
        ImgproxyOption("background", "bg") { options, said throws(GrammarError) in
            try options.takeBackground(said)
        },
        ImgproxyOption("blur", "bl") { options, said throws(GrammarError) in
            try options.takeBlur(said)
        },
        ImgproxyOption("sharpen", "sh") { options, said throws(GrammarError) in
            try said.atMost(1)
            options.sharpen = try said.needed(said.decimal(0, in: 0...10))
        },
        ImgproxyOption("pixelate", "pix") { options, said throws(GrammarError) in
            try said.atMost(1)
            options.pixelate = try said.needed(said.whole(0, in: 0...1_000))
        },
        ImgproxyOption("watermark", "wm") { options, said throws(GrammarError) in
            options.watermark = try ImgproxyWatermark(said)
        },
    ]

    private static let files = [
        ImgproxyOption("quality", "q") { options, said throws(GrammarError) in
            try said.atMost(1)
            options.quality = try said.needed(said.whole(0, in: 0...100))
        },
        ImgproxyOption("format_quality", "fq") { options, said throws(GrammarError) in
            try options.takeQualities(said)
        },
        ImgproxyOption("max_bytes", "mb") { options, said throws(GrammarError) in
            try said.atMost(1)
            options.maxBytes = try said.needed(said.whole(0, in: 0...(1 << 30)))
        },
        ImgproxyOption("format", "f", "ext") { options, said throws(GrammarError) in
            try options.takeFormat(said)
        },
        ImgproxyOption("strip_metadata", "sm") { options, said throws(GrammarError) in
            options.stripsMetadata = try said.onlyFlag()
        },
        ImgproxyOption("keep_copyright", "kcr") { options, said throws(GrammarError) in
            options.keepsCopyright = try said.onlyFlag()
        },
        ImgproxyOption("strip_color_profile", "scp") { options, said throws(GrammarError) in
            options.stripsProfile = try said.onlyFlag()
        },
        ImgproxyOption("preserve_hdr", "ph") { options, said throws(GrammarError) in
            options.keepsHDR = try said.onlyFlag()
        },
        ImgproxyOption("damaged", "dmg") { options, said throws(GrammarError) in
            options.damaged = try said.onlyDamaged()
        },
        ImgproxyOption("skip_processing", "skp") { options, said throws(GrammarError) in
            try options.takeSkipped(said)
        },
        ImgproxyOption("max_animation_frames", "maf") { options, said throws(GrammarError) in
            try said.atMost(1)
            options.framesMax = try said.needed(said.whole(0, in: 1...RequestLimits.framesMax))
        },
    ]

    private static let answers = [
        preset,
        ImgproxyOption("cachebuster", "cb") { options, said throws(GrammarError) in
            options.cacheBuster = try said.onlyText()
        },
        ImgproxyOption("expires", "exp") { options, said throws(GrammarError) in
            try options.takeExpiry(said)
        },
        ImgproxyOption("raw") { options, said throws(GrammarError) in
            options.isRaw = try said.onlyFlag()
        },
        ImgproxyOption("filename", "fn") { options, said throws(GrammarError) in
            try options.takeFileName(said)
        },
        ImgproxyOption("return_attachment", "att") { options, said throws(GrammarError) in
            options.isAttachment = try said.onlyFlag()
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
    mutating func takeFormat(_ said: OptionArguments) throws(GrammarError) {
        let word = try said.needed(Optional(try said.only()))
        format = try Self.format(word, said)
    }

    /// Parses `FORMAT:QUALITY:…`.
    mutating func takeQualities(_ said: OptionArguments) throws(GrammarError) {
        guard said.values.count % 2 == 0 else {
            throw .malformed(said.option, "the quality after the last format is missing")
        }
        for place in stride(from: 0, to: said.values.count, by: 2) {
            let format = try Self.format(said.values[place], said)
            let quality = try said.needed(said.whole(place + 1, in: 0...100))
            qualities[format] = quality > 0 ? quality : nil
        }
    }

    /// Parses `FORMAT:FORMAT:…`.
    mutating func takeSkipped(_ said: OptionArguments) throws(GrammarError) {
        skippedFormats = []
        for word in said.values {
            guard let format = ImageFormat(name: word) else {
                throw .malformed(
                    said.option, "\(said.shown(word)) is not a format: use jpg, png, gif, …")
            }
            guard OutputOptions.passable.contains(format) else {
                throw .notOffered(
                    said.option,
                    "\(format.name) cannot be passed through: use one of "
                        + OutputOptions.passable.map(\.name).joined(separator: ", "))
            }
            skippedFormats.append(format)
        }
    }

    private static func format(
        _ word: String, _ said: OptionArguments
    ) throws(GrammarError) -> ImageFormat {
        guard let format = ImageFormat(name: word) else {
            throw word == "best"
                ? .notOffered(said.option, "leave the format out: it is negotiated automatically")
                : .malformed(
                    said.option, "\(said.shown(word)) is not a format: use jpg, png, webp, …")
        }
        guard format.isEncodable else {
            throw .notOffered(
                said.option,
                "\(format.name) output is not supported: use one of "
                    + ImageFormat.encodable.map(\.name).joined(separator: ", "))
        }
        return format
    }

    /// Parses an expiry time. As in imgproxy, a time in the past is an error, and 0 means none.
    mutating func takeExpiry(_ said: OptionArguments) throws(GrammarError) {
        try said.atMost(1)
        let moment = try said.needed(said.whole(0, in: 0...Int.max))
        guard moment == 0 || moment >= now else {
            throw GrammarError(
                .expired, "this URL has expired: request a new one", option: said.option)
        }
        expires = moment == 0 ? nil : moment
    }

    /// Parses `NAME:ENCODED`; the name is percent-encoded or Base64.
    mutating func takeFileName(_ said: OptionArguments) throws(GrammarError) {
        try said.atMost(2)
        guard let text = said[0] else {
            fileName = nil
            return
        }
        var name = try PercentText.text(text, of: said.option)
        if try said.flag(1) ?? false {
            guard let bytes = Base64URL.decode(text.utf8) else {
                throw .malformed(said.option, "the name is not Base64: encode it, or use 0")
            }
            name = try PercentText.text(
                PercentCoding.encode(bytes, keeping: { $0 != UInt8(ascii: "%") && $0 < 0x80 }),
                of: said.option)
        }
        guard name.utf8.count <= GrammarLimits.textBytesMax, !name.contains(where: Self.isOfPaths)
        else {
            throw .malformed(
                said.option,
                "names have no slashes and at most \(GrammarLimits.textBytesMax) bytes")
        }
        fileName = name
    }

    private static func isOfPaths(_ character: Character) -> Bool {
        character == "/" || character == "\\"
    }

    // MARK: - Results

    /// Returns the output options.
    func output() -> OutputOptions {
        var output = OutputOptions(format: format)
        output.quality = quality > 0 ? quality : format.flatMap { qualities[$0] }
        output.maxBytes = maxBytes > 0 ? maxBytes : nil
        output.metadata = metadata
        switch stripsProfile {
        case nil: break
        case true?: _ = output.take(settings: ["icc": "srgb"])
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
