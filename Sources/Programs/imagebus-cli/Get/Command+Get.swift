import ImageModel

extension Command {
    static let get = Command(
        name: "get",
        summary: "load one image",
        usage: "URL|- [-o FILE] [options]",
        options: [
            ("result", resultOptions + outputOptions), ("steps, in the order given", stepOptions),
            ("how it is loaded", loadOptions + [fallback] + nameOptions + [traceparent]),
            ("which stack", stackOptions),
            ("", laterOptions),
        ],
        notes: """
            Without -o nothing is written but one line about the image. Without steps, --format and
            --quality the image comes as its source has it, unless the name of -o asks for another
            format; with --original it is the source's bytes whatever the name says. --mode belongs
            to the --resize before it, or to the next one where none before it is without a mode;
            the default is fit.

            get uses the stack that runs in the runtime directory, which has to be this user's or
            root's where nothing names it. Where none runs, and neither an endpoint nor a runtime
            directory is named, it starts a private one and ends it again; --allow-private-networks,
            --allow-address, --ca-file and --config are for that one. Ctrl-C cancels.

            What cannot be written is said before the load where it can be. With --json, error.name
            is outputFailed then, and its code that of the kernel.

            With - instead of a URL the picture itself comes from standard input, at most 64 MiB,
            and everything else is as for a URL: the same picture with the same steps comes from
            the cache.
            """,
        examples: [
            ("imagebus get https://example.com/photo.jpg -o photo.jpg", "the image as it is"),
            (
                "imagebus get https://example.com/a.jpg --resize 512x512 --format webp -o a.webp",
                "inside 512x512 pixels, as WebP"
            ),
            (
                "imagebus get URL --resize 200x200 --mode fill --rotate 90 --json -o thumb.png",
                "several steps, and the facts as JSON"
            ),
            ("imagebus get URL --option from-cache-only --json", "what the caches have"),
            ("imagebus get URL --info", "format and size"),
            (
                "imagebus get URL --resize 64x64 --fallback '#FFCCCCCC' -o face.png",
                "a grey square where there is no image"
            ),
            (
                "imagebus get - --resize 200x200 -o thumb.jpg < photo.jpg",
                "a picture without a URL"
            ),
        ])

    private static let resultOptions = [
        OptionDefinition(
            "output", letter: "o", value: "FILE",
            "write the image there, at once and whole; its ending says the format\n"
                + "where --format does not; - is standard output"),
        OptionDefinition("json", "one JSON object; with -o - it goes to stderr"),
        OptionDefinition(
            "progress", value: "WHEN", "auto, bar or none (auto: on a terminal)"),
        OptionDefinition(
            "delivery", value: "HOW",
            "how the image comes from the stack: mapped, out of shared memory;\n"
                + "pieces, through the socket; auto: mapped where that can be read"),
    ]

    /// What is wanted.
    static let outputOptions = [
        OptionDefinition("format", value: "F", "jpeg, png or webp (as its source)"),
        OptionDefinition("quality", value: "0..100", "of lossy formats (80)"),
        OptionDefinition("lossless", "WebP without loss"),
        OptionDefinition("original", "the source's bytes; no steps, no format"),
        OptionDefinition("info", "only the source's format and size; no steps, no format"),
    ]

    /// What is done with the picture.
    static let stepOptions = [
        OptionDefinition("resize", value: "WxH", "scale into a box in pixels (repeatable)"),
        OptionDefinition(
            "mode", value: "MODE",
            "fit: inside the box, never enlarged; fill: cut what sticks out;\n"
                + "stretch: change the ratio; letterbox: transparent margins"),
        OptionDefinition("crop", value: "X,Y,W,H", "cut a rectangle out (repeatable)"),
        OptionDefinition("rotate", value: "DEG", "turn clockwise (repeatable)"),
        OptionDefinition("flip", value: "h|v|hv", "mirror (repeatable)"),
        OptionDefinition(
            "overlay", value: "URL[,X,Y[,OPACITY]]",
            "lay another picture over it, at X, Y from the left and top edge,\n"
                + "negative: from the right and bottom one (repeatable, 4);\n"
                + "a URL that ends in a comma and a number needs all three"),
        OptionDefinition("thumbnail", value: "WxH", "reduce while decoding, before all steps"),
    ]

    /// How it is asked for.
    static let loadOptions = [
        OptionDefinition(
            "option", value: "NAME", separators: [",", " "],
            RequestOptions.offeredNames.joined(separator: ",\n") + "\n(repeatable)"),
        OptionDefinition(
            "context", value: "NAME=VALUE", separators: [",", " "],
            "SDWebImage's context options, such as image-cache = NAME,\n"
                + "image-transformer = PRESET or none, image-scale-factor = 2,\n"
                + "image-thumbnail-pixel-size = WxH,\n"
                + "cache-key-filter = NAME or text:KEY,\n"
                + "query-cache-type, store-cache-type, original-query-cache-type,\n"
                + "original-store-cache-type = none, disk, memory or all;\n"
                + "cache-serializer = as-is or transcode:FORMAT[:QUALITY];\n"
                + "preserve-aspect-ratio = true or false (of --thumbnail);\n"
                + "png-compression = 1 (fast) to 12 (small)"),
        OptionDefinition("profile", value: "NAME", "a profile of the configuration (default)"),
        OptionDefinition(
            "preset", value: "NAME", "steps and output of the configuration, where none are given"),
        OptionDefinition(
            "header", value: "'K: V'", separators: ["\n"], "a header for the origin (repeatable)"),
        OptionDefinition("priority", value: "P", "high, normal or low (normal)"),
        OptionDefinition("timeout", value: "TIME", "such as 500ms, 10s or 2m (30s)"),
    ]

    private static let fallback = OptionDefinition(
        "fallback", value: "URL|COLOUR",
        "what comes instead of an image that cannot be had, and is marked so:\n"
            + "another one, loaded without the --header, or a colour, #RRGGBB or\n"
            + "#AARRGGBB (the error)")

    private static let traceparent = OptionDefinition(
        "traceparent", value: "T",
        "W3C Trace Context, for the logs of all processes ($TRACEPARENT)")

    static let stackOptions: [OptionDefinition] = [
        .endpoint,
        OptionDefinition("private", "a stack of its own, although one may run"),
        .allowPrivateNetworks, .allowAddress, .certificates, .config, .runtimeDirectory,
        .cacheDirectory, .logLevel, .logFormat,
    ]

    private static let nameOptions = [
        OptionDefinition(
            "group", value: "G", "32 hex digits, for imagebus cancel --group (none)"),
        OptionDefinition(
            "slot", value: "NAME", "what it is for, in this session; not for - (none)"),
    ]

    static let laterOptions = [
        OptionDefinition("round", value: "R", visibility: .later),
        OptionDefinition("tint", value: "#AARRGGBB", visibility: .later),
        OptionDefinition("blur", value: "R", visibility: .later),
        OptionDefinition("filter", value: "NAME[=V]", visibility: .later),
        OptionDefinition("explain", visibility: .later),
    ]
}
