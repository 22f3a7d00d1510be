import CommandLineInterface
import Imagebus
import Linux
import Model

extension Command {
    static let animate = Command(
        name: "animate",
        summary: "create an animation from images",
        usage: "URL|FILE… -o FILE [options]",
        furtherOperands: .file,
        options: [
            ("frames", frameOptions), ("output", animationOutput),
            ("encoding", settingOptions),
            ("steps of every frame, in the order given", stepOptions),
            ("loading", loadOptions), ("stack", stackOptions), ("", laterOptions),
        ],
        notes: """
            Each operand is a frame, in this order: a URL, or the name of a file of at most 64 MiB.
            Animations contribute their first frame. All frames must have the same size after the
            steps; --resize with --mode fill, stretch or letterbox ensures this. Limits:
            \(AnimationProperties.framesMax) frames, and 64 MiB for all frames as lossless WebP.
            --header is sent only to the origins of URLs.

            As in browsers, durations below 11 ms are shown as 100 ms. GIF stores hundredths of a
            second, WebP and PNG milliseconds. Encoders may merge identical frames.

            The stack, --json and the exit status work as for get. If a frame cannot be loaded,
            error.details.frame is its number, counted from 0. Ctrl-C cancels.
            """,
        examples: [
            (
                "imagebus animate a.png b.png c.png -o abc.gif",
                "three files, 100 ms each"
            ),
            (
                "imagebus animate URL1 URL2 --resize 320x240 --mode fill --duration 2s -o all.webp",
                "a slide show with frames of the same size"
            ),
            (
                "imagebus animate a.png b.png --duration 40ms --duration 1s --loops 3 -o ab.png",
                "different durations, played three times"
            ),
        ])

    private static let frameOptions = [
        OptionDefinition(
            "duration", value: "TIME", separators: [",", " "],
            "frame duration, 1ms to 1h: once for all frames, or once per frame "
                + "(\(AnimateOptions.durationMilliseconds)ms)"),
        OptionDefinition(
            "loops", value: "N",
            "number of loops, 0 to \(ImagebusClient.animationLoops.upperBound); "
                + "0: forever (0)"),
    ]

    private static let animationOutput =
        [
            OptionDefinition(
                "output", letter: "o", value: "FILE",
                "write the animation to FILE atomically; its extension selects the "
                    + "format unless --format does; - is standard output"),
            OptionDefinition(
                "format", value: "F",
                of: .words(ImageFormat.encodable.filter(\.holdsFrames).map(\.name)),
                "gif, webp or png (by the extension of -o, else gif)"),
            OptionDefinition("json", "print one JSON object, to stderr if -o is -"),
            progress,
            OptionDefinition(
                "delivery", value: "HOW", of: .words(GetOptions.deliveries.map(\.name)),
                "transfer from the stack, as for get (auto)"
            ).formerly([], values: GetOptions.formerDeliveries),
        ] + outputOptions.filter { ["quality", "lossless"].contains($0.name) }
}

struct AnimateOptions: Hashable {
    /// The source of a frame's image.
    enum Source: Hashable {
        case url(String)
        case file(String)
    }

    var sources: [Source]
    /// The duration of each frame in milliseconds.
    var durations: [Int]
    var loops: Int
    /// How each frame is loaded; its own URL is empty.
    var template: ImageRequest
    /// How the animation is encoded.
    var request: ImageRequest
    var delivery: Delivery
    var target: GetOptions.OutputTarget
    var printsJSON: Bool
    var progress: GetOptions.ProgressMode
    var stack: StackOptions

    /// The default duration of a frame, as in players.
    static let durationMilliseconds = 100
    private static let durationMillisecondsMax = 3_600_000

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        sources = try read.operands.map { (text) throws(UsageError) in try Self.source(text) }
        guard !sources.isEmpty else { throw UsageError("no URL or FILE given") }
        guard sources.count <= AnimationProperties.framesMax else {
            throw UsageError("at most \(AnimationProperties.framesMax) frames are allowed")
        }
        durations = try Self.durations(read, of: sources.count)
        loops = try read.integer("loops", in: ImagebusClient.animationLoops) ?? 0
        guard let output = read.last("output"), !output.isEmpty else {
            throw UsageError("-o FILE is required")
        }
        target = output == "-" ? .standardOutput : .file(output)
        let stated = try RequestReader.request(read, url: "")
        template = stated
        request = try Self.whole(stated, writingTo: output == "-" ? nil : output)
        delivery = try GetOptions.delivery(read)
        printsJSON = read.isSet("json")
        progress = try GetOptions.progress(read)
        stack = try StackOptions(read, environment: environment)
    }

    /// The frames, each with its own request.
    var parts: [AnimationPart] {
        zip(sources, durations).map { source, duration in
            var request = template
            switch source {
            case .url(let url):
                request.url = url
                return AnimationPart(request, for: .milliseconds(duration))
            case .file(let path):
                request.headers = []
                return AnimationPart(request, for: .milliseconds(duration)) {
                    () throws(ImageError) in
                    try InputFile.read(path, bytesMax: StandardInput.bytesMax)
                }
            }
        }
    }

    private static func source(_ text: String) throws(UsageError) -> Source {
        guard text.contains("://") || text.hasPrefix("data:") else {
            guard text != "-", !text.isEmpty else {
                throw UsageError("'\(text)' is neither a URL nor a FILE")
            }
            return .file(text)
        }
        return try Result { () throws(ImageError) in try SourceURL(text) }.map { _ in .url(text) }
            .mapError { UsageError("'\(text)': \($0.message)") }.get()
    }

    /// Parses the durations: one for all frames or one for each.
    private static func durations(
        _ read: ReadOptions, of count: Int
    ) throws(UsageError) -> [Int] {
        let stated = try read.parsedAll("duration") { (text) throws(UsageError) in
            try OptionValue.milliseconds(text, atMost: durationMillisecondsMax)
        }
        if stated.count <= 1 {
            return Array(repeating: stated.first ?? durationMilliseconds, count: count)
        }
        guard stated.count == count else {
            throw UsageError(
                "--duration is given \(stated.count) times for \(count) frames: give it once "
                    + "for all frames, or once per frame")
        }
        return stated
    }

    /// Returns the request for the animation. Steps apply to the frames, everything else to the
    /// whole.
    private static func whole(
        _ stated: ImageRequest, writingTo path: String?
    ) throws(UsageError) -> ImageRequest {
        var request = stated
        (request.steps, request.thumbnail, request.pixelRatio) = ([], nil, 1)
        (request.headers, request.context.preset) = ([], nil)
        (request.context.withoutTransformer, request.context.scaleDownLimit) = (true, nil)
        // The frames have been loaded by then.
        request.options.subtract([.scaleDownLargeImages, .fromCacheOnly, .refreshCached])
        request.context.fallback = nil
        let format = request.output.format ?? path.flatMap(OutputName.format) ?? .gif
        guard format.holdsFrames else {
            throw UsageError(
                "\(format.name) cannot store animations: use gif, webp or png in --format "
                    + "or -o")
        }
        request.output.format = format
        if let path { try OutputName.settle(&request, writingTo: path) }
        try RequestReader.checkLossless(request)
        return try Result { () throws(ImageError) in try ImagebusClient.animating(request) }
            .mapError { UsageError($0.message) }.get()
    }
}

/// `imagebus animate`: creates an animation from several images.
enum AnimateCommand {
    static func run(_ options: AnimateOptions) -> Int32 {
        let name = Command.animate.name
        let report = GetReport(
            name, options.request, options.target, printsJSON: options.printsJSON)
        return report.run {
            try options.target.check()
            let interruption = try Interruption()
            let stack = try OpenStack(options.stack, interruption, for: name)
            defer { stack.end(interruption) }
            let (image, token) = try make(options, stack, interruption)
            report.token = token
            return try report.write(image)
        }
    }

    /// Waits for the result. The first Ctrl-C cancels; a second one also stops waiting.
    private static func make(
        _ options: AnimateOptions, _ stack: OpenStack, _ interruption: Interruption
    ) throws(ImageError) -> (ImageResponse, token: String) {
        let client = try stack.client(
            delivery: options.delivery, timeout: options.request.timeoutMilliseconds)
        defer { client.end() }
        let bar = options.progress.showsBar ? ProgressBar() : nil
        defer { bar?.end() }
        return try Completion.result(interruption, cancel: client.close) {
            () throws(ImageError) in
            let parts = options.parts
            let file = try await client.animationFile(of: parts, loops: options.loops) {
                bar?.show(ProgressBar.text($0, of: parts.count))
            }
            let task = client.load(options.request, uploading: file)
            return (try await task.response, token: task.token.value.hex)
        }
    }
}
