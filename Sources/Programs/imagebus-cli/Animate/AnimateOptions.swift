import CommandLineInterface
import ImageModel
import Imagebus
import StackAccess

/// What `imagebus animate` was told.
struct AnimateOptions: Hashable {
    /// Where the image of a frame is.
    enum Source: Hashable {
        case url(String)
        case file(String)
    }

    var sources: [Source]
    /// Milliseconds of each frame.
    var durations: [Int]
    var loops: Int
    /// How each frame is loaded; its own URL is empty.
    var template: ImageRequest
    /// How the whole is encoded.
    var request: ImageRequest
    var delivery: Delivery
    var target: GetOptions.OutputTarget
    var printsJSON: Bool
    var progress: GetOptions.ProgressMode
    var stack: StackOptions

    /// What a frame is shown where nothing else is said, as players have it.
    static let durationMilliseconds = 100
    private static let durationMillisecondsMax = 3_600_000

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        sources = try read.operands.map { (text) throws(UsageError) in try Self.source(text) }
        guard !sources.isEmpty else { throw UsageError("there is no URL and no FILE") }
        guard sources.count <= AnimationFacts.framesMax else {
            throw UsageError("there are more than \(AnimationFacts.framesMax) frames")
        }
        durations = try Self.durations(read, of: sources.count)
        loops =
            try read.parsed("loops") { (text) throws(UsageError) in
                try OptionValue.integer(text, in: ImagebusClient.animationLoops)
            } ?? 0
        guard let output = read.last("output"), !output.isEmpty else {
            throw UsageError("there is no -o FILE for the animation")
        }
        target = output == "-" ? .standardOutput : .file(output)
        let told = try RequestReader.request(read, url: "")
        template = told
        request = try Self.whole(told, writingTo: output == "-" ? nil : output)
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
                throw UsageError("'\(text)' is no URL and no FILE: name each frame")
            }
            return .file(text)
        }
        do throws(ImageError) {
            _ = try SourceURL(text)
            return .url(text)
        } catch {
            throw UsageError("'\(text)': \(error.message)")
        }
    }

    /// One for all, or one for each.
    private static func durations(
        _ read: ReadOptions, of count: Int
    ) throws(UsageError) -> [Int] {
        let told = try read.parsedAll("duration") { (text) throws(UsageError) in
            try OptionValue.milliseconds(text, atMost: durationMillisecondsMax)
        }
        if told.count <= 1 {
            return Array(repeating: told.first ?? durationMilliseconds, count: count)
        }
        guard told.count == count else {
            throw UsageError(
                "--duration is said \(told.count) times, and there are \(count) frames: say it "
                    + "once for all, or once for each")
        }
        return told
    }

    /// Steps are of the frames; what is left is of all of them.
    private static func whole(
        _ told: ImageRequest, writingTo path: String?
    ) throws(UsageError) -> ImageRequest {
        var request = told
        (request.steps, request.thumbnail, request.pixelRatio) = ([], nil, 1)
        (request.headers, request.context.preset) = ([], nil)
        (request.context.withoutTransformer, request.context.scaleDownLimit) = (true, nil)
        // The frames are at hand then.
        request.options.subtract([.scaleDownLargeImages, .fromCacheOnly, .refreshCached])
        request.context.fallback = nil
        let format = request.output.format ?? path.flatMap(OutputName.format) ?? .gif
        guard format.holdsFrames else {
            throw UsageError(
                "\(format.name) has no frames: write gif, webp or png, by --format or the name "
                    + "of -o")
        }
        request.output.format = format
        if let path { try OutputName.settle(&request, writingTo: path) }
        try RequestReader.checkLossless(request)
        do throws(ImageError) {
            return try ImagebusClient.animating(request)
        } catch {
            throw UsageError(error.message)
        }
    }
}
