import CommandLineInterface
import ImageModel
import Imagebus
import Messages
import StackAccess

extension Command {
    static let get = Command(
        name: "get",
        summary: "load one image",
        usage: "URL|- [-o FILE] [options]",
        options: [
            ("result", resultOptions + outputOptions), ("how it is encoded", settingOptions),
            ("steps, in the order given", stepOptions),
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

            Formats that are read: \(decodableNames);
            pdf and svg where the stack has 'serve --vector N', a private one by IMAGEBUS_VECTOR=1.
            The bytes tell the format, not a name or a server; of an animation the first frame is
            read, unless --frame names another one, --frames or --animated asks for all, or
            --thumbnail alone scales it. A still image has one frame. With --json, --frames says
            count, durations in microseconds, loops (0: without end) and files. Where it fails, the
            files that were written stay.

            --partials shows a JPEG by its scans or rows, PNG and WebP by their rows, an animation
            by its first frame, after the same steps as the image itself; nothing where a cache has
            the image. With --json, partials says files, bytes that had arrived, and milliseconds.

            --show draws with the graphics of kitty where TERM or KITTY_WINDOW_ID names it, else
            with sixels of 256 colours where the terminal answers that it has them, else with half
            blocks in true colour. An animation plays until its loops end, Ctrl-C (130) or a key.

            What cannot be written is said before the load where it can be. With --json, error.name
            is outputFailed then, and its code that of the kernel.

            With - instead of a URL the image itself comes from standard input, at most 64 MiB,
            and everything else is as for a URL: the same image with the same steps comes from
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
            ("imagebus get URL --frames frames --resize 200x200", "every frame of an animation"),
            ("imagebus get URL --show", "the image in the terminal"),
            ("imagebus get URL --partials so-far -o a.jpg", "what can be seen before all is there"),
            ("imagebus get URL --info", "format and size"),
            ("imagebus get URL --facts exif,colours,blurhash --json", "what else is known of it"),
            (
                "imagebus get URL --resize 64x64 --fallback '#FFCCCCCC' -o face.png",
                "a grey square where there is no image"
            ),
            (
                "imagebus get - --resize 200x200 -o thumb.jpg < photo.jpg",
                "an image without a URL"
            ),
        ])

    static let progress = OptionDefinition(
        "progress", value: "WHEN", of: .words(GetOptions.progressModes.map(\.name)),
        "auto, bar or none (auto: on a terminal)")

    private static let decodableNames =
        ImageFormat.decodable.map(\.name).joined(separator: ", ")

    private static let resultOptions = [
        OptionDefinition(
            "output", letter: "o", value: "FILE",
            "write the image there, at once and whole; its ending says the format\n"
                + "where --format does not; - is standard output"),
        OptionDefinition(
            "frames", value: "DIR",
            "write every frame of an animation there, as frame-0000.png and so on;\n"
                + "the directory is made; as PNG where --format says nothing else"),
        OptionDefinition(
            "partials", value: "DIR",
            "write images of what has arrived so far there while the rest comes, as\n"
                + "partial-0001.jpg and so on; the directory is made"),
        OptionDefinition(
            "show", "draw the image in this terminal, as large as it has room"),
        OptionDefinition(
            "graphics", value: "HOW", of: .words(TerminalGraphics.names.map(\.name)),
            "of --show: kitty, sixel, blocks, or auto: the best that the\nterminal has (auto)"),
        OptionDefinition("json", "one JSON object; with -o - it goes to stderr"),
        OptionDefinition(
            "explain", "how the image came about: what was decoded and how it was encoded"),
        OptionDefinition(
            "extended-data", "with --json: the bytes that were put beside the image"),
        progress,
        OptionDefinition(
            "delivery", value: "HOW", of: .words(GetOptions.deliveries.map(\.name)),
            "how the image comes from the stack: mapped, out of shared memory;\n"
                + "pieces, through the socket; auto: mapped where that can be read"),
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
        .allowPrivateNetworks, .allowAddress, .denyAddress, .certificates, .config,
        .runtimeDirectory,
        .cacheDirectory, .logLevel, .logFormat,
    ]

    private static let nameOptions = [
        OptionDefinition(
            "group", value: "G", "32 hex digits, for imagebus cancel --group (none)"),
        OptionDefinition(
            "slot", value: "NAME", "what it is for, in this session; not for - (none)"),
    ]
}

/// The options of `get`.
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
    enum ProgressMode: Hashable {
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
        guard let url = read.operands.first else { throw UsageError("there is no URL") }
        guard read.operands.count == 1 else {
            throw UsageError("there is more than one URL: '\(read.operands[1])'")
        }
        readsStandardInput = url == "-"
        request = try RequestReader.request(read, url: readsStandardInput ? "" : url)
        guard !readsStandardInput || request.headers.isEmpty else {
            throw UsageError("--header is for an origin: standard input has none")
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
            throw UsageError("--slot: an image of standard input has none")
        }
        stack = try StackOptions(read, environment: environment)
        trace = try Self.trace(read, environment)
        framesDirectory = try Self.framesDirectory(read, readsStandardInput)
        partialsDirectory = try Self.partialsDirectory(read, readsStandardInput)
        if partialsDirectory != nil { request.options.insert(.progressiveLoad) }
        shows = try Self.shows(read, readsStandardInput)
        graphics =
            try read.parsed("graphics") { (text) throws(UsageError) in
                try OptionValue.word(text, TerminalGraphics.names)
            } ?? TerminalGraphics.known(environment)
        if let output = read.last("output") {
            guard !output.isEmpty else { throw UsageError("--output: a file name is not empty") }
            guard !request.infoOnly else {
                let name = read.isSet("info") ? "info" : "facts"
                throw UsageError("--\(name) brings no image: leave out -o")
            }
            target = output == "-" ? .standardOutput : .file(output)
            if let namedFile { try OutputName.settle(&request, writingTo: namedFile) }
            try RequestReader.checkLossless(request)
        }
    }

    /// Parses `--frames`, which excludes options for a single image or load.
    private static func framesDirectory(
        _ read: ReadOptions, _ readsStandardInput: Bool
    ) throws(UsageError) -> String? {
        guard let directory = read.last("frames") else { return nil }
        guard !directory.isEmpty else {
            throw UsageError("--frames: the name of a directory is not empty")
        }
        guard !readsStandardInput else {
            throw UsageError("--frames is for a URL: an image of standard input has none")
        }
        if let name = optionsOfOneImage.first(where: read.isSet) {
            throw UsageError("--frames brings every frame as a file: leave out --\(name)")
        }
        return directory
    }

    /// Parses `--partials`, which requires a transfer.
    private static func partialsDirectory(
        _ read: ReadOptions, _ readsStandardInput: Bool
    ) throws(UsageError) -> String? {
        guard let directory = read.last("partials") else { return nil }
        guard !directory.isEmpty else {
            throw UsageError("--partials: the name of a directory is not empty")
        }
        guard !readsStandardInput else {
            throw UsageError("--partials is for a URL: an image of standard input comes at once")
        }
        if let name = ["info", "facts", "frames"].first(where: read.isSet) {
            throw UsageError("--partials brings images: leave out --\(name)")
        }
        return directory
    }

    /// Parses `--show`, which excludes size and format, because the terminal determines them.
    private static func shows(
        _ read: ReadOptions, _ readsStandardInput: Bool
    ) throws(UsageError) -> Bool {
        guard read.isSet("show") else { return false }
        guard !readsStandardInput else {
            throw UsageError("--show is for a URL: an image of standard input has none")
        }
        let others = optionsOfOneImage + ["frames", "partials", "json", "format", "dpr"]
        if let name = others.first(where: read.isSet) {
            throw UsageError("--show draws in the terminal: leave out --\(name)")
        }
        return true
    }

    private static let optionsOfOneImage = [
        "output", "frame", "first-frame", "original", "info", "facts", "explain",
        "extended-data", "fallback", "group", "slot", "traceparent",
    ]

    /// Returns the trace context. An invalid option is an error; an invalid value in the
    /// environment (a convention of build and test tools) is ignored (Trace Context §3.2.2).
    private static func trace(
        _ read: ReadOptions, _ environment: [String: String]
    ) throws(UsageError) -> TraceContext? {
        try read.parsed("traceparent") { (text) throws(UsageError) in
            guard let trace = TraceContext(text: text) else {
                throw UsageError("'\(text)' is no W3C traceparent, such as 00-…32…-…16…-01")
            }
            return trace
        } ?? environment["TRACEPARENT"].flatMap(TraceContext.init(text:))
    }

    static func progress(_ read: ReadOptions) throws(UsageError) -> ProgressMode {
        try read.parsed("progress") { (text) throws(UsageError) in
            try OptionValue.word(text, progressModes)
        } ?? .auto
    }

    static let progressModes: [(name: String, value: ProgressMode)] = [
        ("auto", .auto), ("bar", .bar), ("none", .none),
    ]
    static let deliveries: [(name: String, value: Delivery)] = [
        ("auto", .automatic), ("mapped", .mapped), ("pieces", .chunks),
    ]

    static func delivery(_ read: ReadOptions) throws(UsageError) -> Delivery {
        try read.parsed("delivery") { (text) throws(UsageError) in
            try OptionValue.word(text, deliveries)
        } ?? .automatic
    }
}
