package import CommandLineInterface
import Observability

/// Which stack a command talks to.
package struct StackOptions: Hashable {
    /// Named with `--endpoint`.
    package var endpoint: String?
    /// A stack of its own, whatever runs.
    package var isPrivate: Bool
    package var runtimeDirectory: RuntimePlace
    /// nil where nothing says where.
    package var cacheDirectory: String?
    /// Processes that decode, and as many that transform, in a private stack: one image needs no
    /// more than one.
    package var workers = 1
    package var network: NetworkOptions
    /// Of a private stack.
    package var configurationFile: String?
    package var log: LogOptions
    /// Which of the options that only a private stack obeys are on the command line. What the
    /// environment says of them is for whichever stack is started, and no mistake beside one.
    package var ofPrivateStack: Set<String>

    /// Options that a stack which runs already does not obey.
    private static let privateOnly: [OptionDefinition] = [
        .allowPrivateNetworks, .allowAddress, .denyAddress, .certificates, .config,
    ]

    package init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        endpoint = read.last("endpoint")
        isPrivate = read.isSet("private")
        runtimeDirectory = try RuntimePlace(read, environment: environment)
        cacheDirectory = try read.cacheDirectory(environment)
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
