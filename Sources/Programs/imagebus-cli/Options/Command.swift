/// One command: what it reads and what its help says.
struct Command: Sendable {
    let name: String
    /// One line for the list of commands.
    let summary: String
    /// Behind the name in the first line of the help.
    let usage: String
    /// Groups of options under a heading.
    let options: [(heading: String, definitions: [OptionDefinition])]
    /// Paragraphs behind the options.
    let notes: String
    /// Complete lines, each with what it does.
    let examples: [(line: String, does: String)]

    /// All options, with those that every command has.
    var definitions: [OptionDefinition] {
        options.flatMap(\.definitions) + [.help, .version]
    }

    /// What this version does.
    static let all: [Command] = [
        .serve, .get, .prefetch, .status, .health, .cache, .blacklist, .cancel, .drain, .config,
        .bench,
    ]
}

extension OptionDefinition {
    static let runtimeDirectory = OptionDefinition(
        "runtime-dir", value: "DIRECTORY",
        "sockets and shared memory\n"
            + "($XDG_RUNTIME_DIR/imagebus, else /run/imagebus where it may be\n"
            + "written, else /dev/shm/imagebus-UID)")
    static let cacheDirectory = OptionDefinition(
        "cache-dir", value: "DIRECTORY",
        "the disk tier ($XDG_CACHE_HOME/imagebus, else ~/.cache/imagebus)")
    static let config = OptionDefinition(
        "config", value: "FILE",
        "sources, caches, presets, profiles and rules")
    static let endpoint = OptionDefinition(
        "endpoint", value: "E", "ipc:///DIRECTORY/front/front.sock of a running stack")
    static let logLevel = OptionDefinition(
        "log-level", value: "LEVEL", "debug, info, warning or error, to stderr (info)")
    static let logFormat = OptionDefinition(
        "log-format", value: "FORMAT", "text or json (text)")
    static let allowPrivateNetworks = OptionDefinition(
        "allow-private-networks", "download from private, loopback and link-local addresses")
    static let allowAddress = OptionDefinition(
        "allow-address", value: "IP:PORT", separators: [",", " "],
        "download from this address although it is private (repeatable)")
    static let certificates = OptionDefinition(
        "ca-file", value: "FILE",
        "certificates in PEM that https origins are checked with, in\n"
            + "place of the system's")
}
