import CommandLineInterface
import ConfigurationFile
import Linux
import Model
import ProcessRuntime
import Reporting

/// The gateway supervised by `serve`. Its settings are validated here, so that a mistake is a usage
/// error and not a process that fails to start.
struct ServedGateway: Hashable {
    /// The address and the settings of the gateway.
    private(set) var settings: GatewayListenerSettings
    var place: ListenPlace { settings.place }
    /// The settings as arguments for the gateway program.
    var arguments: [String] { settings.arguments }
    /// Arguments for the coordinator of the same `serve` that permit what the gateway's settings
    /// require.
    var grants: [String] {
        let grant = GatewayGrant(of: settings.values)
        return (grant.refreshes ? ["--web-refresh"] : [])
            + (grant.removes ? ["--web-removals"] : [])
            + (grant.headers.isEmpty
                ? [] : ["--web-headers", grant.headers.joined(separator: ",")])
    }
    /// Whether no option specifies the gateway or its settings; listeners in the configuration then
    /// replace it.
    var isImplicit: Bool { !isNamed && arguments.isEmpty && secrets.isEmpty }
    private let isNamed: Bool
    /// Variables to pass in its environment.
    let secrets: [String: String]
    /// The watermark file; `nil` if there is none or it has a URL.
    private(set) var watermark: ServedWatermark?

    /// The default address of `serve --only gateway`.
    private static let defaultPlace = "127.0.0.1:8080"

    /// Returns `nil` if no gateway is served. Gateway settings are ignored if `--only` selects
    /// another kind, because several services may share the variables of an environment.
    ///
    /// `secrets` are variables that contain keys, which must not appear on a command line.
    init?(
        _ read: ReadOptions, only kind: ProcessKind?, secrets: [String: String] = [:]
    ) throws(UsageError) {
        guard kind == nil || kind == .gateway else { return nil }
        let named = try read.parsed(Self.name, as: ListenPlace.expected) { ListenPlace($0) }
        guard let place = named ?? (kind == .gateway ? ListenPlace(Self.defaultPlace) : nil) else {
            let unusedSetting = GatewaySetting.allCases.first { setting in
                read.entries.contains { $0.label == "--\(Self.name(of: setting))" }
            }
            guard let unusedSetting else { return nil }
            throw UsageError("--\(Self.name(of: unusedSetting)) requires --gateway")
        }
        (self.secrets, isNamed) = (secrets, named != nil)
        settings = GatewayListenerSettings(place, values: try Self.values(read))
        if let text = settings.values[.watermark],
            let file = try watermarkFile(text, read, only: kind)
        {
            watermark = file
            settings.values[.watermark] = file.url
        }
    }

    /// Returns the validated settings; flags have an empty value.
    static func values(_ read: ReadOptions) throws(UsageError) -> [GatewaySetting: String] {
        var values: [GatewaySetting: String] = [:]
        for setting in GatewaySetting.allCases {
            if setting.placeholder == nil {
                if read.isSet(name(of: setting)) { values[setting] = "" }
                continue
            }
            values[setting] = try read.parsed(name(of: setting), as: setting.expected) {
                setting.accepts($0) ? $0 : nil
            }
        }
        return values
    }

    /// Returns `nil` if the value is a URL, which the stack loads.
    private func watermarkFile(
        _ text: String, _ read: ReadOptions, only kind: ProcessKind?
    ) throws(UsageError) -> ServedWatermark? {
        try read.parsed(Self.name(of: .watermark)) { (_) throws(UsageError) in
            guard let file = try ServedWatermark(text) else { return nil }
            guard kind == nil else {
                throw UsageError(
                    "a file requires serve without --only; pass a URL instead, such as "
                        + "local:///mark.png for a file below --local-root of the coordinator")
            }
            return file
        } ?? nil
    }

    private static let name = "gateway"

    private static func name(of setting: GatewaySetting) -> String { option(setting.rawValue) }

    /// Returns the option of `serve` for one of the gateway.
    private static func option(_ name: String) -> String { "\(Self.name)-\(name)" }

    /// All options of the gateway.
    static let definitions: [OptionDefinition] =
        [
            OptionDefinition(
                name, value: "ADDRESS:PORT",
                "serve images over HTTP at this address (imagebus-gateway); its URL "
                    + "is printed after the ready line. \":8080\" listens on all addresses, "
                    + "\"unix:/PATH\" on a Unix socket")
        ]
        + settingDefinitions

    /// The options for its settings.
    static let settingDefinitions = GatewaySetting.allCases.map { setting in
        OptionDefinition(
            Self.name(of: setting), value: setting.placeholder,
            of: setting == .grammar ? .words(GatewaySetting.grammarNames) : nil,
            GatewaySetting.served(setting.help)
        ).formerly(setting.formerNames.map(option))
    }
}

/// The listeners of `gateway` in the configuration: one gateway process each, with its settings in
/// a file in the runtime directory, so that SIGHUP reloads them.
final class ServedListeners {
    private let configurationFile: String?
    private let runtimeDirectory: String
    private let canCopyWatermarks: Bool
    private let log: Log
    private var settings: [GatewayListenerSettings]
    /// The open sockets, in the order of the settings.
    let sockets: [GatewayListener]

    private static let folder = "gateway"

    /// Opens the sockets and writes the files for `settings`.
    init(
        _ settings: [GatewayListenerSettings], of options: ServeOptions, in paths: RuntimePaths,
        log: Log
    ) throws {
        (self.settings, self.log) = (settings, log)
        (configurationFile, runtimeDirectory) = (options.configurationFile, paths.root)
        canCopyWatermarks = options.only == nil
        sockets = try settings.map { try GatewayListener($0.place) }
        try write(settings)
    }

    private var places: [ListenPlace] { settings.map(\.place) }

    /// The arguments of each gateway, and the socket that it inherits.
    var children: [(arguments: [String], socket: Int32?)] {
        zip(places, sockets).enumerated().map { index, gateway in
            let arguments = ["--listen", gateway.0.text, "--settings-file", path(of: index)]
            return (arguments: arguments, socket: gateway.1.descriptorNumber)
        }
    }

    private func path(of index: Int) -> String {
        "\(runtimeDirectory)/\(Self.folder)/\(index)"
    }

    /// Reloads the configuration file, completely or not at all; the gateways are notified
    /// afterwards to read their files. The coordinator reports errors in the configuration.
    func reload() {
        guard !settings.isEmpty, let configurationFile else { return }
        do {
            let new = try ConfigurationFile.read(configurationFile).gateways
            guard new.map(\.place) == places else {
                return log.error(
                    "gateway settings not reloaded: changing listeners requires a restart",
                    ["file": .string(configurationFile)])
            }
            try write(new)
            settings = new
        } catch {
            log.error(
                "gateway settings not reloaded: invalid settings",
                ["reason": "\(error)"])
        }
    }

    private func write(_ settings: [GatewayListenerSettings]) throws {
        guard !settings.isEmpty else { return }
        let files = try settings.map { one in try arguments(of: one) }
        try? FileDescriptor.makeDirectory(path: "\(runtimeDirectory)/\(Self.folder)")
        for (index, words) in files.enumerated() {
            try OutputFile(path(of: index))
                .replace(with: GatewayListenerSettings.fileBytes(of: words))
        }
    }

    /// Returns the arguments for a gateway. A watermark file is copied to where the stack loads it.
    private func arguments(of one: GatewayListenerSettings) throws -> [String] {
        var one = one
        guard let text = one.values[.watermark], let file = try ServedWatermark(text) else {
            return one.arguments
        }
        guard canCopyWatermarks else {
            throw UsageError(
                "gateway.watermark: a file requires serve without --only; use a URL, such as "
                    + "local:///mark.png")
        }
        try file.writeCopy(to: runtimeDirectory)
        one.values[.watermark] = file.url
        return one.arguments
    }
}

/// The socket of a gateway, which outlives its processes: clients that connect during a restart
/// wait.
final class GatewayListener {
    private var listener: StreamListener?
    private let place: ListenPlace
    private let port: UInt16?

    init(_ place: ListenPlace) throws(GatewayListenError) {
        do throws(Errno) {
            let opened = try Self.listener(at: place)
            port = opened.port
            listener = consume opened
        } catch {
            throw GatewayListenError(place: place, errno: error)
        }
        self.place = place
    }

    private static func listener(at place: ListenPlace) throws(Errno) -> StreamListener {
        switch place {
        case .tcp(let address, let port):
            return try StreamListener(address: address, port: port)
        case .unix(let path):
            return try StreamListener(socketPath: path, mode: ListenPlace.socketMode)
        }
    }

    /// The descriptor that the gateway inherits.
    var descriptorNumber: Int32? { listener?.descriptor.number }

    /// The URL with the listener's address, or the Unix socket as written in options.
    var url: String { place.url(port: port ?? 0) }

    /// Closes the socket. A process that has inherited it may continue; later connections are
    /// refused.
    func close() { listener = nil }
}

/// The gateway can't listen on its address.
struct GatewayListenError: Error, Hashable, CustomStringConvertible {
    let place: ListenPlace
    let errno: Errno

    /// The exit status for an unusable setting.
    static let exitStatus: Int32 = 78

    var description: String {
        "the gateway cannot listen on \(place.text) (\(errno)): pass another address with --gateway"
    }
}

/// A watermark from a file or data URL. The stack loads it like any image, from a copy in the
/// runtime directory. The copy's name is derived from its contents, so that a different image has
/// different cache keys.
struct ServedWatermark: Hashable {
    private let bytes: [UInt8]

    /// The maximum size of a watermark in bytes.
    private static let bytesMax = 4 << 20
    private static let folder = "watermark"

    /// Reads the watermark from a file path or a `data:` URL in Base64; returns `nil` for other
    /// URLs. Throws for anything but an image.
    init?(_ text: String) throws(UsageError) {
        if text.lowercased().hasPrefix("data:") {
            bytes = try Self.bytes(ofData: text)
        } else if text.contains("://") {
            return nil
        } else {
            bytes = try Self.bytes(at: OptionValue.path(text))
        }
        guard bytes.count <= Self.bytesMax else {
            throw UsageError("the image is larger than \(Self.bytesMax) bytes")
        }
        guard
            ImageFormat.sniff(bytes, tail: bytes.suffix(100))
                != .undefined
        else { throw UsageError("not an image in a supported format") }
    }

    private static func bytes(at path: String) throws(UsageError) -> [UInt8] {
        try Result { () throws(Errno) in
            try FileDescriptor.open(path).readToEnd(bytesMax: bytesMax + 1)
        }.mapError {
            UsageError("\(path) cannot be read (\($0)): pass the path or URL of an image")
        }.get()
    }

    private static func bytes(ofData text: String) throws(UsageError) -> [UInt8] {
        let parts = text.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].hasSuffix(";base64") else {
            throw UsageError("expected data:;base64, followed by the image in Base64")
        }
        var digits = parts[1].utf8.filter { ![0x0A, 0x0D, 0x20].contains($0) }
        while digits.last == UInt8(ascii: "=") { digits.removeLast() }
        guard let bytes = Base64.bytes(ofDigits: digits, last: (UInt8(ascii: "+"), 0x2F)) else {
            throw UsageError("invalid Base64 after data:;base64,")
        }
        return bytes
    }

    /// The URL that the gateway requests.
    var url: String { "\(FileRoot.watermarkScheme):///\(name)" }

    /// Returns the directory of copies in a runtime directory.
    static func root(in runtimeDirectory: String) -> String { "\(runtimeDirectory)/\(folder)" }

    func writeCopy(to runtimeDirectory: String) throws(OutputError) {
        let root = Self.root(in: runtimeDirectory)
        try? FileDescriptor.makeDirectory(path: root)
        try OutputFile("\(root)/\(name)").replace(with: bytes)
    }

    /// FNV-1a of the bytes, and their number. The hash need not be collision-resistant, because the
    /// operator chooses the image.
    private var name: String {
        let hash = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01B3
        }
        return String(hash, radix: 16) + "-\(bytes.count)"
    }
}

/// Settings from variables of other servers (`IMGPROXY_…`, `THUMBOR_…`, `IMAGOR_…`) for a stack
/// with a gateway. Our own options and variables take precedence.
struct PeerVariables {
    /// The options, including those that these variables add.
    let read: ReadOptions
    /// The variables that contain the gateway's keys.
    private(set) var secrets: [String: String] = [:]
    /// A variable that is ignored because no gateway is run here; `nil` if there is none.
    private(set) var ignored: String?

    /// Throws for an unsupported variable, and for one of a process that this stack doesn't run.
    init(
        _ given: ReadOptions, only kind: ProcessKind?, environment: [String: String]
    ) throws(UsageError) {
        let grammar = given.last("gateway-grammar")
        let hasGateway =
            given.isSet("gateway") || kind == .gateway || (kind == nil && grammar != nil)
        guard hasGateway, kind == nil || kind == .gateway else {
            read = given
            if kind == nil {
                ignored = environment.keys.filter(PeerSettings.isOfServer).min()
            }
            return
        }
        let translation = try Result { () throws(PeerSettings.InvalidVariable) in
            try PeerSettings.translate(environment, grammar: grammar ?? "imgproxy")
        }.mapError { UsageError("\($0)") }.get()
        var added: [ReadOptions.Entry] = []
        for entry in translation.entries {
            let (name, variable) = (entry.option.name, entry.variable)
            let isOfFront = name.hasPrefix("gateway") || name.hasPrefix("log-")
            guard isOfFront || kind == nil else {
                throw UsageError(
                    "\(variable) sets --\(name) for another process of the stack: set that "
                        + "option there, and remove the variable here")
            }
            guard !given.isSet(name) else { continue }
            added.append(
                ReadOptions.Entry(
                    name: name, value: entry.option.value, origin: .variable(variable)))
        }
        var read = given
        read.entries = added + given.entries
        self.read = read
        for variable in translation.keyVariables { secrets[variable] = environment[variable] }
    }
}
