/// One command: what it reads and what its help says.
package struct Command: Sendable {
    package let name: String
    /// One line for the list of commands.
    package let summary: String
    /// Behind the name in the first line of the help.
    package let usage: String
    /// Groups of options under a heading.
    package let options: [(heading: String, definitions: [OptionDefinition])]
    /// Paragraphs behind the options.
    package let notes: String
    /// Complete lines, each with what it does.
    package let examples: [(line: String, does: String)]

    /// All options, with those that every command has.
    package var definitions: [OptionDefinition] {
        options.flatMap(\.definitions) + [.help, .version]
    }

    package init(
        name: String, summary: String, usage: String,
        options: [(heading: String, definitions: [OptionDefinition])], notes: String,
        examples: [(line: String, does: String)]
    ) {
        (self.name, self.summary, self.usage) = (name, summary, usage)
        (self.options, self.notes, self.examples) = (options, notes, examples)
    }
}

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
        "sources, caches, presets, profiles and rules")
    package static let endpoint = OptionDefinition(
        "endpoint", value: "E", "ipc:///DIRECTORY/front/front.sock of a running stack")
    package static let logLevel = OptionDefinition(
        "log-level", value: "LEVEL", "debug, info, warning or error, to stderr (info)")
    package static let logFormat = OptionDefinition(
        "log-format", value: "FORMAT", "text or json (text)")
    package static let allowPrivateNetworks = OptionDefinition(
        "allow-private-networks", "download from private, loopback and link-local addresses")
    package static let allowAddress = OptionDefinition(
        "allow-address", value: "IP:PORT", separators: [",", " "],
        "download from this address although it is private (repeatable)")
    package static let certificates = OptionDefinition(
        "ca-file", value: "FILE",
        "certificates in PEM that https origins are checked with, in\n"
            + "place of the system's")
}
