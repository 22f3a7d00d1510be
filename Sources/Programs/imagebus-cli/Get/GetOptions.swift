import CommandLineInterface
import ImageModel
import Imagebus
import Messages
import StackAccess

/// What `get` was told.
struct GetOptions: Hashable {
    var request: ImageRequest
    /// The image comes from there; the request has no URL then.
    var readsStandardInput: Bool
    /// Names it with others, and what it is for.
    var group: GroupID?
    var slot: String?
    var delivery: Delivery
    var target = OutputTarget.none
    /// Where each frame of an animation goes; nil where one image is wanted.
    var framesDirectory: String?
    /// Where images of what has arrived so far go; nil where none are wanted.
    var partialsDirectory: String?
    /// Whether the image is drawn in the terminal, and how; nil: as the terminal says.
    var shows: Bool
    var graphics: TerminalGraphics?
    /// `--original`.
    var keepsOriginal: Bool
    var printsJSON: Bool
    var progress: ProgressMode
    var stack: StackOptions
    /// Of whom the command is a part.
    var trace: TraceContext?

    /// The file whose name says the format; nil where the source's bytes are wanted, whatever they
    /// are.
    var namedFile: String? {
        guard case .file(let path) = target, !keepsOriginal else { return nil }
        return path
    }

    /// Where the image goes.
    enum OutputTarget: Hashable {
        case none
        case file(String)
        case standardOutput
    }

    /// When progress is shown.
    enum ProgressMode: Hashable {
        /// On a terminal.
        case auto
        case bar
        case none

        /// Whether a bar is drawn.
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

    /// What is said of one image or one load says nothing of all frames.
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

    /// Only what is transferred has partial images.
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

    /// The terminal says size and format.
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

    /// What is named has to be one. What a caller left in the environment (the convention of build
    /// and test tools) is ignored where it is none (Trace Context §3.2.2).
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
        ("auto", .automatic), ("mapped", .mapped), ("pieces", .pieces),
    ]

    static func delivery(_ read: ReadOptions) throws(UsageError) -> Delivery {
        try read.parsed("delivery") { (text) throws(UsageError) in
            try OptionValue.word(text, deliveries)
        } ?? .automatic
    }
}
