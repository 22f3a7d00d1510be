import Linux
package import Model
package import ProcessRuntime
import Supervision

/// The options that select the stack a command uses.
package struct StackOptions: Hashable {
    /// The value of `--endpoint`.
    package var endpoint: String?
    /// Whether to use a private stack even if another one is running.
    package var isPrivate: Bool
    package var runtimeDirectory: RuntimePlace
    /// `nil` if none can be determined.
    package var cacheDirectory: String?
    /// The number of decode workers, and of transform workers, in a private stack: one image needs
    /// only one of each.
    package var workers = 1
    /// The addresses that downloads may connect to, and the certificates they trust, as arguments.
    package var network: [String]
    /// The configuration file of a private stack.
    package var configurationFile: String?
    package var log: LogOptions
    /// The options on the command line that only affect a private stack. Such options in the
    /// environment apply to whichever stack is started, so they are not errors with a running
    /// stack.
    package var ofPrivateStack: Set<String>

    package init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        endpoint = read.last("endpoint")
        isPrivate = read.isSet("private")
        runtimeDirectory = try RuntimePlace(read, environment: environment)
        cacheDirectory = try read.cacheDirectory(environment)
        network = try read.arguments(OptionDefinition.network)
        configurationFile = try read.parsed("config", OptionValue.path)
        // A private stack logs only problems.
        log = try LogOptions(read, level: .warning)
        let names = (OptionDefinition.network + [.config]).map(\.name)
        ofPrivateStack = Set(
            read.entries.filter { $0.origin == .commandLine && names.contains($0.name) }
                .map(\.name))
        guard endpoint == nil || !isPrivate else {
            throw UsageError("--endpoint and --private cannot be combined")
        }
    }
}

// Options that select a stack and configure how it is started.
extension OptionDefinition {
    package static let runtimeDirectory = OptionDefinition(
        "runtime-dir", value: "DIRECTORY",
        "directory of sockets and shared memory "
            + "($XDG_RUNTIME_DIR/imagebus, else /run/imagebus if writable, "
            + "else /dev/shm/imagebus-UID)")
    package static let cacheDirectory = OptionDefinition(
        "cache-dir", value: "DIRECTORY",
        "directory of the disk tier ($XDG_CACHE_HOME/imagebus, else ~/.cache/imagebus)")
    package static let config = OptionDefinition(
        "config", value: "FILE",
        "configuration of sources, caches, presets, profiles, rules and pools; "
            + "serve reloads it on SIGHUP, except for pools and listeners")
    package static let endpoint = OptionDefinition(
        "endpoint", value: "E", "endpoint of a running stack: ipc:///DIRECTORY/front/front.sock")
    package static let `private` = OptionDefinition(
        "private", "start a private stack even if another one is running")
    package static let logLevel = OptionDefinition(
        "log-level", value: "LEVEL", of: .words(LogLevel.allCases.map(\.rawValue)),
        "minimum level logged to stderr: debug, info, warning or error (info)")
    package static let logFormat = OptionDefinition(
        "log-format", value: "FORMAT", of: .words(LogFormat.allCases.map(\.rawValue)),
        "log format: text or json (text)")
    /// The addresses that downloads may connect to, and the certificates they trust.
    package static let network = [allowPrivateNetworks, allowAddress, denyAddress, certificates]
    private static let allowPrivateNetworks = OptionDefinition(
        "allow-private-networks", "allow downloads from private, loopback and link-local addresses")
    private static let allowAddress = OptionDefinition(
        "allow-address", value: "IP:PORT", separators: [",", " "],
        "allow downloads from this private address (repeatable)"
    ).checked(OptionValue.address)
    private static let denyAddress = OptionDefinition(
        "deny-address", value: "IP/BITS", separators: [",", " "],
        "block downloads from these addresses, such as 203.0.113.0/24, even "
            + "if allowed otherwise (repeatable)"
    ).checked(OptionValue.addressRange)
    private static let certificates = OptionDefinition(
        "ca-file", value: "FILE",
        "CA certificates in PEM for https origins (those of the system)"
    ).checked(OptionValue.path)
}

/// A runtime directory, and whether it was specified by an option or environment variable.
package struct RuntimePlace: Hashable, Sendable {
    package let path: String
    package let isNamed: Bool

    package init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        path = try read.runtimeDirectory(environment)
        isNamed = read.isSet(OptionDefinition.runtimeDirectory.name)
    }

    /// Returns the users trusted to serve the directory; `nil` for any user if it was specified
    /// explicitly.
    ///
    /// A default directory may have been created by anyone: nothing in it is opened before it is
    /// known to belong to this user or root.
    package func servers(at listener: String) throws(ImageError) -> Set<UInt32>? {
        guard !isNamed else { return nil }
        return try Result { () throws(UntrustedDirectoryError) in
            try TrustedServers(in: path, listener: listener)?.userIDs ?? []
        }.mapError { ImageError(.addressForbidden, $0.description) }.get()
    }
}

extension ReadOptions {
    /// Returns the specified runtime directory, or the current user's default.
    package func runtimeDirectory(_ environment: [String: String]) throws(UsageError) -> String {
        try parsed(OptionDefinition.runtimeDirectory.name, OptionValue.path)
            ?? RuntimeLocation.runtimeDirectory(
                environment: environment, userID: CurrentProcess.userID)
    }

    /// Returns the specified cache directory, or the current user's default; `nil` if none can be
    /// determined.
    package func cacheDirectory(_ environment: [String: String]) throws(UsageError) -> String? {
        try parsed(OptionDefinition.cacheDirectory.name, OptionValue.path)
            ?? RuntimeLocation.cacheDirectory(environment: environment)
    }
}

/// How a program logs.
package struct LogOptions: Hashable {
    package var level = LogLevel.info
    package var format = LogFormat.text

    package init() {}

    package init(_ read: ReadOptions, level quiet: LogLevel = .info) throws(UsageError) {
        level = try read.word("log-level") ?? quiet
        format = try read.word("log-format") ?? .text
    }

    /// The same settings as options for another program.
    package var arguments: [String] {
        ["--log-level", level.rawValue, "--log-format", format.rawValue]
    }
}
