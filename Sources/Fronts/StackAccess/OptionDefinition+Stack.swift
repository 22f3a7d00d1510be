package import CommandLineInterface
import Observability

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
