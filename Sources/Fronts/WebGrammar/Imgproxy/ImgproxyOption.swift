import ImageModel

/// One option of imgproxy's: its names, and what it says.
struct ImgproxyOption: Sendable {
    /// The long one first.
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

    /// The one that stands for others: the grammar puts these in its place.
    static let preset = ImgproxyOption("preset", "pr") { _, _ in }

    /// All that are read, in the order of the document.
    static let all = sizes + cuts + looks + files + answers

    /// By each of their names.
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
                said.option, "images are always turned upright: leave it out, or say 1")
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

    /// Those that imgproxy has, some for those who pay, and nobody here.
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
    /// A side in pixels, 0 where it follows from the other one.
    fileprivate func side() throws(GrammarError) -> Int {
        try atMost(1)
        return try needed(whole(0, in: 0...RequestSides.most))
    }

    fileprivate func onlyFlag() throws(GrammarError) -> Bool {
        try atMost(1)
        return try needed(flag(0))
    }

    /// A text of limited length; `nil` for an empty one.
    fileprivate func onlyText() throws(GrammarError) -> String? {
        let text = try only()
        guard text.utf8.count <= GrammarLimits.textBytesMax else {
            throw .malformed(option, "it has more than \(GrammarLimits.textBytesMax) bytes")
        }
        return text.isEmpty ? nil : text
    }
}
