import Observability

/// Which stack a command talks to.
struct StackOptions: Hashable {
    /// Named with `--endpoint`.
    var endpoint: String?
    /// A stack of its own, whatever runs.
    var isPrivate: Bool
    var runtimeDirectory: RuntimePlace
    /// nil where nothing says where.
    var cacheDirectory: String?
    /// Processes that decode, and as many that transform, in a private stack: one image needs no
    /// more than one.
    var workers = 1
    var network: NetworkOptions
    /// Of a private stack.
    var configurationFile: String?
    var log: LogOptions
    /// Which of the options that only a private stack obeys are on the command line. What the
    /// environment says of them is for whichever stack is started, and no mistake beside one.
    var ofPrivateStack: Set<String>

    /// Options that a stack which runs already does not obey.
    private static let privateOnly: [OptionDefinition] = [
        .allowPrivateNetworks, .allowAddress, .certificates, .config,
    ]

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        endpoint = read.last("endpoint")
        isPrivate = read.isSet("private")
        runtimeDirectory = try RuntimePlace(read, environment: environment)
        cacheDirectory = try ServeOptions.cacheDirectory(read, environment)
        network = try NetworkOptions(read)
        configurationFile = try read.parsed("config", OptionValue.path)
        // A private stack has nothing to say but what fails.
        log = try LogOptions(read, level: .warning)
        let names = Self.privateOnly.map(\.name)
        ofPrivateStack = Set(
            read.entries.filter { $0.origin == .commandLine && names.contains($0.name) }
                .map(\.name))
        guard endpoint == nil || !isPrivate else {
            throw UsageError("--endpoint names a stack and --private starts one: give one of them")
        }
    }
}
