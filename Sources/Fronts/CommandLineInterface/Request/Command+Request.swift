import ImageModel

// Options that say what is loaded, and how.
extension Command {
    /// What is wanted.
    package static let outputOptions = [
        OptionDefinition(
            "format", value: "F", of: .words(ImageFormat.encodable.map(\.name)),
            ImageFormat.encodable.map(\.name).joined(separator: ", ") + ",\n"
                + "or one that a worker of somebody else encodes (as its source)"),
        OptionDefinition("quality", value: "0..100", "of lossy formats (80)"),
        OptionDefinition("lossless", "\(optionallyLossless) without loss"),
        OptionDefinition("frame", value: "N", "one frame of an animation, from 0 on"),
        OptionDefinition("first-frame", "the first frame, as an image of its own"),
        OptionDefinition(
            "animated",
            "all frames go through the steps; gif, png and webp keep them\n"
                + "(as --option transform-animated-image)"),
        OptionDefinition("original", "the source's bytes; no steps, no format"),
        OptionDefinition("info", "only the source's format and size; no steps, no format"),
        OptionDefinition(
            "facts", value: "WORDS", of: .list(FactKinds.names),
            "--info with more: \(FactKinds.names.prefix(3).joined(separator: ", ")),\n"
                + "\(FactKinds.names.dropFirst(3).joined(separator: ", ")), such as\n"
                + "exif,blurhash:5x4 (4x3)"),
    ]

    private static let optionallyLossless = ImageFormat.encodable
        .filter { $0.traits.output?.loss == .optional }.map(\.name).joined(separator: ", ")

    /// How it is encoded: what only some formats have.
    package static let settingOptions = OutputSetting.allCases.map { setting in
        OptionDefinition(
            setting.name, value: setting.placeholder, of: choice(setting), setting.row.help)
    }

    private static func choice(_ setting: OutputSetting) -> ValueChoice? {
        switch setting.row.values {
        case .word(let words, _): .words(words)
        case .formats(let formats): .list(formats.map(\.name))
        case .flag, .number, .colour: nil
        }
    }

    /// What is done with the image.
    package static let stepOptions = resizeOptions + otherSteps + [thumbnail, pixelRatio]

    private static let resizeOptions = [
        OptionDefinition(
            "resize", value: "WxH",
            "scale into a box in pixels; 300x, x200: by one side\n(repeatable)"),
        OptionDefinition(
            "mode", value: "MODE", of: .words(ResizeMode.named.map(\.name)),
            "fit: inside the box, never enlarged; fill: cut what sticks out;\n"
                + "stretch: change the ratio; letterbox: transparent margins;\n"
                + "cover: around the box, nothing cut; auto: cover where both lie or\n"
                + "stand, else fit; fit-turned, cover-turned: of the box turned as the\n"
                + "image; reshape: the ratio of the box, never enlarged"),
        OptionDefinition("enlarge", "the resize before it enlarges smaller images, in fit too"),
        OptionDefinition("no-enlarge", "the resize before it never enlarges, in other modes too"),
    ]

    private static let otherSteps = TransformStep.syntaxes.map { syntax in
        var definition = OptionDefinition(syntax.name, value: syntax.value, syntax.help)
        definition.hasUsualValue = syntax.value != nil && syntax.parse("") != nil
        return definition
    }

    private static let thumbnail = OptionDefinition(
        "thumbnail", value: "WxH", "reduce while decoding, before all steps")

    private static let pixelRatio = OptionDefinition(
        "dpr", value: "RATIO",
        "pixels for each pixel of --thumbnail and of steps from the first\n"
            + "--resize on, 0.1 to 10 (1)"
    )

    /// How it is asked for.
    package static let loadOptions = [
        OptionDefinition(
            "option", value: "NAME", of: .words(RequestOptions.offeredNames),
            separators: [",", " "],
            "(repeatable) " + RequestOptions.effective.names.joined(separator: ",\n")
                + "\nwithout effect here, for what is written for SDWebImage:\n"
                + RequestOptions.withoutEffect.names.joined(separator: ",\n")),
        OptionDefinition(
            "respect-cache-control",
            "a cached image only for as long as its origin says; then the origin is\n"
                + "asked (as --option respect-cache-control)"),
        OptionDefinition(
            "context", value: "NAME=VALUE",
            of: .words(RequestReader.offeredContextNames.map { "\($0)=" }), separators: [",", " "],
            "SDWebImage's context options, such as image-cache = NAME,\n"
                + "image-transformer = PRESET or none, image-scale-factor = 2,\n"
                + "image-thumbnail-pixel-size = WxH,\n"
                + "cache-key-filter = NAME or text:KEY,\n"
                + "query-cache-type, store-cache-type, original-query-cache-type,\n"
                + "original-store-cache-type = none, disk, memory or all;\n"
                + "cache-serializer = as-is or transcode:FORMAT[:QUALITY];\n"
                + "image-scale-down-limit-bytes = BYTES,\n"
                + "image-decode-options, image-encode-options = WORD=VALUE,…;\n"
                + "animated-image-class = animated or still;\n"
                + "preserve-aspect-ratio = true or false (of --thumbnail);\n"
                + "png-compression = 1 (fast) to 12 (small)"),
        OptionDefinition("profile", value: "NAME", "a profile of the configuration (default)"),
        OptionDefinition(
            "preset", value: "NAME",
            "steps and output of the configuration, where none are given;\n"
                + "the ending of -o is an output as well"),
        OptionDefinition(
            "header", value: "'K: V'", separators: ["\n"], "a header for the origin (repeatable)"),
        OptionDefinition(
            "tag", value: "TAG", separators: [",", " "],
            "of what is stored for it: cache remove --tag finds it (repeatable)"),
        OptionDefinition(
            "damaged", value: "WORD", of: .words(DamagedImages.allCases.map(\.name)),
            "damaged images: refuse them, or show the pixels that are there (as the\n"
                + "profile says, or refuse)"),
        OptionDefinition(
            "priority", value: "P", of: .words(Priority.allCases.map(\.name)),
            "high, normal or low (normal)"),
        OptionDefinition(
            "timeout", value: "TIME", "such as 500ms, 10s or 2m; a number alone is seconds (30s)"),
    ]

    /// What later versions bring.
    package static let laterOptions = [
        OptionDefinition("filter", value: "NAME[=V]", visibility: .later)
    ]
}
