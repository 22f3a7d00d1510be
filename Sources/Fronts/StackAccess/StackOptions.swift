package import CommandLineInterface
package import ImageModel
import Linux
package import Observability
import SharedArena
import Supervision

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

// Options that say which stack, and how one is started.
extension OptionDefinition {
    package static let runtimeDirectory = OptionDefinition(
        "runtime-dir", value: "DIRECTORY",
        "sockets and shared memory\n"
            + "($XDG_RUNTIME_DIR/imagebus, else /run/imagebus where it may be\n"
            + "written, else /dev/shm/imagebus-UID)")
    package static let cacheDirectory = OptionDefinition(
        "cache-dir", value: "DIRECTORY",
        "the disk tier ($XDG_CACHE_HOME/imagebus, else ~/.cache/imagebus)")
    package static let config = OptionDefinition(
        "config", value: "FILE",
        "sources, caches, presets, profiles, rules and pools; SIGHUP loads\n"
            + "it anew where serve runs, other pools need a restart")
    package static let endpoint = OptionDefinition(
        "endpoint", value: "E", "ipc:///DIRECTORY/front/front.sock of a running stack")
    package static let logLevel = OptionDefinition(
        "log-level", value: "LEVEL", of: .words(LogLevel.allCases.map(\.rawValue)),
        "debug, info, warning or error, to stderr (info)")
    package static let logFormat = OptionDefinition(
        "log-format", value: "FORMAT", of: .words(LogFormat.allCases.map(\.rawValue)),
        "text or json (text)")
    package static let allowPrivateNetworks = OptionDefinition(
        "allow-private-networks", "download from private, loopback and link-local addresses")
    package static let allowAddress = OptionDefinition(
        "allow-address", value: "IP:PORT", separators: [",", " "],
        "download from this address although it is private (repeatable)")
    package static let denyAddress = OptionDefinition(
        "deny-address", value: "IP/BITS", separators: [",", " "],
        "never download from these addresses, such as 203.0.113.0/24,\n"
            + "whatever allows them (repeatable)")
    package static let certificates = OptionDefinition(
        "ca-file", value: "FILE",
        "certificates in PEM that https origins are checked with, in\n"
            + "place of the system's")
}

/// A runtime directory, and whether an option or a variable of ours named it.
package struct RuntimePlace: Hashable, Sendable {
    package let path: String
    package let isNamed: Bool

    package init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        path = try read.runtimeDirectory(environment)
        isNamed = read.isSet(OptionDefinition.runtimeDirectory.name)
    }

    /// Who may serve it; nil: whoever does, since it was named.
    ///
    /// A directory that nobody named may be anybody's: nothing is opened in it before it is known
    /// to be of this user or of root.
    package func servers(at listener: String) throws(ImageError) -> Set<UInt32>? {
        guard !isNamed else { return nil }
        do throws(UntrustedDirectoryError) {
            return try TrustedServers(in: path, listener: listener)?.userIDs ?? []
        } catch {
            throw ImageError(.addressForbidden, error.description)
        }
    }
}

extension ReadOptions {
    /// The runtime directory that is named, else this user's.
    package func runtimeDirectory(_ environment: [String: String]) throws(UsageError) -> String {
        try parsed(OptionDefinition.runtimeDirectory.name, OptionValue.path)
            ?? RuntimeLocation.runtimeDirectory(
                environment: environment, userID: CurrentProcess.userID)
    }

    /// The disk tier that is named, else this user's; nil where nothing says where.
    package func cacheDirectory(_ environment: [String: String]) throws(UsageError) -> String? {
        try parsed(OptionDefinition.cacheDirectory.name, OptionValue.path)
            ?? RuntimeLocation.cacheDirectory(environment: environment)
    }
}

/// Which addresses downloads may reach, and whom they trust there.
package struct NetworkOptions: Hashable {
    package var allowsPrivateNetworks = false
    package var addresses: [String] = []
    /// Ranges that are never connected to.
    package var deniedAddresses: [String] = []
    /// Certificates that are trusted in place of the system's.
    package var certificatesFile: String?

    package init() {}

    package init(_ read: ReadOptions) throws(UsageError) {
        allowsPrivateNetworks = read.isSet("allow-private-networks")
        addresses = try read.parsedAll("allow-address", OptionValue.address)
        deniedAddresses = try read.parsedAll("deny-address", OptionValue.addressRange)
        certificatesFile = try read.parsed("ca-file", OptionValue.path)
    }

    /// The same as options of another program.
    package var arguments: [String] {
        (allowsPrivateNetworks ? ["--allow-private-networks"] : [])
            + addresses.flatMap { ["--allow-address", $0] }
            + deniedAddresses.flatMap { ["--deny-address", $0] }
            + (certificatesFile.map { ["--ca-file", $0] } ?? [])
    }
}

/// How a program logs.
package struct LogOptions: Hashable {
    package var level = LogLevel.info
    package var format = LogFormat.text

    package init() {}

    package init(_ read: ReadOptions, level quiet: LogLevel = .info) throws(UsageError) {
        level = try read.parsed("log-level", OptionValue.logLevel) ?? quiet
        format = try read.parsed("log-format", OptionValue.logFormat) ?? .text
    }

    /// The same as options of another program.
    package var arguments: [String] {
        ["--log-level", level.rawValue, "--log-format", format.rawValue]
    }
}
