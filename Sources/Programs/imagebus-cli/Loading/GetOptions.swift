import CommandLineInterface
import Imagebus
import Model

extension Command {
    static let get = Command(
        name: "get",
        summary: "load one image",
        usage: "URL|- [-o FILE] [options]",
        options: [
            ("output", resultOptions + outputOptions), ("encoding", settingOptions),
            ("steps, in the order given", stepOptions),
            ("loading", loadOptions + [fallback] + nameOptions + [traceparent]),
            ("stack", stackOptions),
            ("", laterOptions),
        ],
        notes: """
            Without -o, get writes no image and prints one line about it. Without steps, --format
            and --quality, the image keeps the format of its source unless the extension of -o
            selects another one; with --original, the source bytes are written unchanged.

            --mode applies to the last --resize before it; if that has a mode already, or there is
            none, it applies to the next --resize.

            get uses the stack in the runtime directory. Unless the directory is named explicitly,
            that stack must belong to this user or root. If no stack is running, and neither an
            endpoint nor a runtime directory is named, get starts a private stack and stops it
            again; --allow-private-networks, --allow-address, --ca-file and --config apply to the
            private stack. Ctrl-C cancels the load.

            Input formats: \(decodableNames);
            pdf and svg require 'serve --vector N', or IMAGEBUS_VECTOR=1 for a private stack. The
            format is detected from the bytes, not from the name or the Content-Type.

            By default, get uses only the first frame of an animation. --frame selects another one;
            --frames and --animated use all frames, and so does --thumbnail without other steps. For
            --frames, a still image has one frame. With --json, --frames reports the count,
            durations in microseconds, loops (0: forever) and files. If it fails, files already
            written are kept.

            --partials writes previews while the image downloads: JPEG by scans or rows, PNG and
            WebP by rows, animations by their first frame, with the same steps as the image itself;
            it writes nothing if a cache has the image. With --json, partials lists the files, the
            bytes received and milliseconds.

            --show uses kitty graphics if TERM or KITTY_WINDOW_ID names kitty, sixels with 256
            colors if the terminal reports support for them, and otherwise half blocks in true
            color. Animations play until their loops end, or until Ctrl-C (130) or a key.

            If possible, get checks before the load whether it can write the output file. With
            --json, error.name of such an error is outputFailed, and error.code is the errno.

            If - is given instead of a URL, the image is read from standard input, at most 64 MiB.
            Everything else works as for a URL, and results are cached by content and steps.
            """,
        examples: [
            ("imagebus get https://example.com/photo.jpg -o photo.jpg", "unchanged"),
            (
                "imagebus get https://example.com/a.jpg --resize 512x512 --format webp -o a.webp",
                "fit into 512x512 pixels, as WebP"
            ),
            (
                "imagebus get URL --resize 200x200 --mode fill --rotate 90 --json -o thumb.png",
                "several steps, with a JSON report"
            ),
            ("imagebus get URL --option from-cache-only --json", "load only from the caches"),
            ("imagebus get URL --frames frames --resize 200x200", "write every frame"),
            ("imagebus get URL --show", "show the image in the terminal"),
            ("imagebus get URL --partials so-far -o a.jpg", "write previews during the download"),
            ("imagebus get URL --info", "print format and size"),
            ("imagebus get URL --properties exif,colors,blurhash --json", "print more properties"),
            (
                "imagebus get URL --resize 64x64 --fallback '#FFCCCCCC' -o face.png",
                "use a gray square if the image cannot be loaded"
            ),
            (
                "imagebus get - --resize 200x200 -o thumb.jpg < photo.jpg",
                "process an image from standard input"
            ),
        ])

    static let progress = OptionDefinition(
        "progress", value: "WHEN", of: .words(GetOptions.ProgressMode.allCases.map(\.rawValue)),
        "progress bar: auto, bar or none (auto: on a terminal)")

    private static let decodableNames =
        ImageFormat.decodable.map(\.name).joined(separator: ", ")

    private static let resultOptions = [
        OptionDefinition(
            "output", letter: "o", value: "FILE",
            "write the image to FILE atomically; its extension selects the format "
                + "unless --format does; - is standard output"),
        OptionDefinition(
            "frames", value: "DIR",
            "write every frame of an animation to DIR as frame-0000.png and so on, "
                + "creating it if needed; in PNG unless --format is given"),
        OptionDefinition(
            "partials", value: "DIR",
            "write previews to DIR during the download, as partial-0001.jpg and so "
                + "on, creating it if needed"),
        OptionDefinition(
            "show", "show the image in this terminal, scaled down to fit"),
        OptionDefinition(
            "graphics", value: "HOW", of: .words(TerminalGraphics.names.map(\.name)),
            "graphics of --show: kitty, sixel, blocks, or the best available (auto)"),
        OptionDefinition("json", "print one JSON object, to stderr if -o is -"),
        OptionDefinition(
            "explain", "explain how the image was loaded, decoded and encoded"),
        OptionDefinition(
            "extended-data", "with --json: include the extended data stored with the image"),
        progress,
        OptionDefinition(
            "delivery", value: "HOW", of: .words(GetOptions.deliveries.map(\.name)),
            "transfer from the stack: mapped (shared memory), chunks (through the "
                + "socket), or mapped if possible (auto)"
        ).formerly([], values: GetOptions.formerDeliveries),
    ]

    private static let fallback = OptionDefinition(
        "fallback", value: "URL|COLOR",
        "use another image, loaded without the --header, or a color (#RRGGBB "
            + "or #AARRGGBB) if the image fails; the result is marked as a fallback "
            + "(fail with the error)")

    private static let traceparent = OptionDefinition(
        "traceparent", value: "T",
        "W3C Trace Context to log in all processes ($TRACEPARENT)")

    static let stackOptions: [OptionDefinition] =
        [.endpoint, .private] + OptionDefinition.network
        + [.config, .runtimeDirectory, .cacheDirectory, .logLevel, .logFormat]

    private static let nameOptions = [
        OptionDefinition(
            "group", value: "G",
            "add the load to a group of 32 hex digits, which can be cancelled with "
                + "imagebus cancel --group (none)"),
        OptionDefinition(
            "slot", value: "NAME",
            "cancel the older load of this client in the slot NAME first; not "
                + "with - (none)"),
    ]
}

struct GetOptions: Hashable {
    var request: ImageRequest
    /// Whether the image is read from standard input; the request then has no URL.
    var readsStandardInput: Bool
    /// The group of the load, and its slot.
    var group: GroupID?
    var slot: String?
    var delivery: Delivery
    var target = OutputTarget.none
    /// The directory for the frames of an animation; `nil` if a single image is requested.
    var framesDirectory: String?
    /// The directory for partial images; `nil` if none are requested.
    var partialsDirectory: String?
    /// Whether the image is drawn in the terminal, and how; `nil` selects what the terminal
    /// supports.
    var shows: Bool
    var graphics: TerminalGraphics?
    /// Whether `--original` was given.
    var keepsOriginal: Bool
    var printsJSON: Bool
    var progress: ProgressMode
    var stack: StackOptions
    /// The trace of which the command is a part.
    var trace: TraceContext?

    /// The output file whose name determines the format; `nil` if the source's bytes are requested
    /// unchanged.
    var namedFile: String? {
        guard case .file(let path) = target, !keepsOriginal else { return nil }
        return path
    }

    /// The destination of the image.
    enum OutputTarget: Hashable {
        case none
        case file(String)
        case standardOutput
    }

    /// When progress is shown.
    enum ProgressMode: String, CaseIterable {
        /// If standard error is a terminal.
        case auto
        case bar
        case none

        /// Whether a progress bar is drawn.
        var showsBar: Bool {
            switch self {
            case .bar: true
            case .none: false
            case .auto: Terminal.errorIsTerminal
            }
        }
    }

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        guard let url = read.operands.first else { throw UsageError("no URL given") }
        guard read.operands.count == 1 else {
            throw UsageError("only one URL is allowed, not also '\(read.operands[1])'")
        }
        readsStandardInput = url == "-"
        request = try RequestReader.request(read, url: readsStandardInput ? "" : url)
        guard !readsStandardInput || request.headers.isEmpty else {
            throw UsageError("--header requires a URL: standard input has no origin")
        }
        request.wantsExplanation = read.isSet("explain")
        request.context.wantsExtendedData = read.isSet("extended-data")
        keepsOriginal = read.isSet("original")
        delivery = try Self.delivery(read)
        printsJSON = read.isSet("json")
        progress = try Self.progress(read)
        group = try read.parsed("group") { (text) throws(UsageError) in
            GroupID(try OptionValue.identifier(text))
        }
        slot = read.last("slot")
        guard slot == nil || !readsStandardInput else {
            throw UsageError("--slot requires a URL: images from standard input have no slot")
        }
        stack = try StackOptions(read, environment: environment)
        trace = try Self.trace(read, environment)
        for (name, reason, does, others) in Self.modes where read.isSet(name) {
            guard name == "show" || read.last(name) != "" else {
                throw UsageError("--\(name): the directory name is empty")
            }
            guard !readsStandardInput else {
                throw UsageError("--\(name) requires a URL\(reason)")
            }
            if let other = others.first(where: read.isSet) {
                throw UsageError("--\(name) \(does): leave out --\(other)")
            }
        }
        (framesDirectory, partialsDirectory) = (read.last("frames"), read.last("partials"))
        if partialsDirectory != nil { request.options.insert(.progressiveLoad) }
        shows = read.isSet("show")
        graphics =
            try read.word("graphics", TerminalGraphics.names) ?? TerminalGraphics.known(environment)
        if let output = read.last("output") {
            guard !output.isEmpty else { throw UsageError("--output: the file name is empty") }
            guard !request.infoOnly else {
                let name = read.isSet("info") ? "info" : "properties"
                throw UsageError("--\(name) returns no image: leave out -o")
            }
            target = output == "-" ? .standardOutput : .file(output)
            if let namedFile { try OutputName.settle(&request, writingTo: namedFile) }
            try RequestReader.checkLossless(request)
        }
    }

    private static let optionsOfOneImage = [
        "output", "frame", "first-frame", "original", "info", "properties", "explain",
        "extended-data", "fallback", "group", "slot", "traceparent",
    ]

    /// Options that require a URL and exclude others: why, what they do, and without what. The
    /// terminal determines size and format.
    private static let modes: [(name: String, reason: String, does: String, others: [String])] = [
        ("frames", ", not standard input", "writes every frame to a file", optionsOfOneImage),
        (
            "partials", ": standard input is read at once", "writes images",
            ["info", "properties", "frames"]
        ),
        (
            "show", ", not standard input", "draws in the terminal",
            optionsOfOneImage + ["frames", "partials", "json", "format", "dpr"]
        ),
    ]

    /// Returns the trace context. An invalid option is an error; an invalid value in the
    /// environment (a convention of build and test tools) is ignored (Trace Context §3.2.2).
    private static func trace(
        _ read: ReadOptions, _ environment: [String: String]
    ) throws(UsageError) -> TraceContext? {
        let expected =
            "a W3C traceparent: expected 00-TRACEID-PARENTID-FLAGS with 32, 16 and 2 hexadecimal "
            + "digits"
        return try read.parsed("traceparent", as: expected, TraceContext.init(text:))
            ?? environment["TRACEPARENT"].flatMap(TraceContext.init(text:))
    }

    static func progress(_ read: ReadOptions) throws(UsageError) -> ProgressMode {
        try read.word("progress") ?? .auto
    }

    static let deliveries: [(name: String, value: Delivery)] = [
        ("auto", .automatic), ("mapped", .mapped), ("chunks", .chunks),
    ]
    /// Former values of `--delivery`, with those that replaced them.
    static let formerDeliveries = ["pieces": "chunks"]

    static func delivery(_ read: ReadOptions) throws(UsageError) -> Delivery {
        try read.word("delivery", deliveries) ?? .automatic
    }
}
