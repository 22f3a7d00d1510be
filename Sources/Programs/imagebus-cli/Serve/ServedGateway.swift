import CommandLineInterface
import Configuration
import ConfigurationFile
import ImageModel
import Linux
import Messages
import Observability
import SharedArena

/// The gateway that `serve` keeps alive: checked here, so that a mistake is a usage error and no
/// process that does not start.
struct ServedGateway: Hashable {
    /// Where it listens, and its own settings.
    private(set) var settings: GatewayListenerSettings
    /// Where it listens.
    var place: ListenPlace { settings.place }
    /// Its own settings, as its program reads them.
    var arguments: [String] { settings.arguments }
    /// What the coordinator of the same `serve` is told to permit its front ends.
    var grants: [String] {
        let grant = GatewayGrant(of: settings.values)
        return (grant.refreshes ? ["--web-refresh"] : [])
            + (grant.removes ? ["--web-removals"] : [])
            + (grant.headers.isEmpty
                ? [] : ["--web-headers", grant.headers.joined(separator: ",")])
    }
    /// Whether nothing is said of it: the listeners of a configuration take its place.
    var isUsual: Bool { !isNamed && arguments.isEmpty && secrets.isEmpty }
    private let isNamed: Bool
    /// Variables that it finds in its environment.
    let secrets: [String: String]
    /// The watermark that is a file; nil: there is none, or it has a URL.
    private(set) var watermark: ServedWatermark?

    /// Where one listens that is served alone and is told nothing else.
    private static let usualPlace = "127.0.0.1:8080"

    /// nil where none is served: several services may share one environment, and `--only` says
    /// which one this is.
    ///
    /// `secrets` are variables with keys, which no command line shows.
    init?(
        _ read: ReadOptions, only kind: ProcessKind?, secrets: [String: String] = [:]
    ) throws(UsageError) {
        guard kind == nil || kind == .gateway else { return nil }
        let named = try read.parsed(Self.name, as: ListenPlace.expected) { ListenPlace($0) }
        guard let place = named ?? (kind == .gateway ? ListenPlace(Self.usualPlace) : nil) else {
            let orphan = GatewaySetting.allCases.first { setting in
                read.entries.contains { $0.label == "--\(Self.name(of: setting))" }
            }
            guard let orphan else { return nil }
            throw UsageError("--\(Self.name(of: orphan)): there is no gateway without --gateway")
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

    /// What is set, each checked; flags that are there have an empty text.
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

    /// nil where a text is a URL, which the stack loads.
    private func watermarkFile(
        _ text: String, _ read: ReadOptions, only kind: ProcessKind?
    ) throws(UsageError) -> ServedWatermark? {
        try read.parsed(Self.name(of: .watermark)) { (_) throws(UsageError) in
            guard let file = try ServedWatermark(text) else { return nil }
            guard kind == nil else {
                throw UsageError(
                    "a file is given to the coordinator of the same serve: name a URL here, such "
                        + "as local:///mark.png with --local-root of the coordinator")
            }
            return file
        } ?? nil
    }

    private static let name = "gateway"

    private static func name(of setting: GatewaySetting) -> String {
        "\(name)-\(setting.rawValue)"
    }

    /// The words of `--gateway-grammar`, for shells that complete it.
    private static let grammars = ["imgproxy", "thumbor", "iiif"]

    /// What the help says of it.
    static let definitions: [OptionDefinition] =
        [
            OptionDefinition(
                name, value: "ADDRESS:PORT",
                "answer images over HTTP there (imagebus-gateway); its URL is printed\n"
                    + "behind the ready line. \":8080\" is every address of this machine,\n"
                    + "\"unix:/PATH\" a Unix socket")
        ]
        + settingDefinitions

    /// Its settings alone.
    static let settingDefinitions = GatewaySetting.allCases.map { setting in
        OptionDefinition(
            Self.name(of: setting), value: setting.placeholder,
            of: setting == .grammar ? .words(grammars) : nil,
            GatewaySetting.served(setting.help))
    }
}

/// The listeners of `gateway` in the configuration: a gateway each, whose settings are a file in
/// the runtime directory, so that SIGHUP reloads them.
final class ServedListeners {
    private let configurationFile: String?
    private let runtimeDirectory: String
    private let canCopyWatermarks: Bool
    private let log: Log
    private var settings: [GatewayListenerSettings]

    private static let folder = "gateway"

    /// Writes the files of `settings`.
    init(
        _ settings: [GatewayListenerSettings], of options: ServeOptions, in paths: RuntimePaths,
        log: Log
    ) throws {
        (self.settings, self.log) = (settings, log)
        (configurationFile, runtimeDirectory) = (options.configurationFile, paths.root)
        canCopyWatermarks = options.only == nil
        try write(settings)
    }

    /// Where each listens.
    var places: [ListenPlace] { settings.map(\.place) }

    /// What a gateway is told to read.
    func arguments(of index: Int) -> [String] {
        ["--listen", settings[index].place.text, "--settings-file", path(of: index)]
    }

    private func path(of index: Int) -> String {
        "\(runtimeDirectory)/\(Self.folder)/\(index)"
    }

    /// Takes what the file says now, whole or not at all; the gateways are told to read it behind
    /// that. What is wrong with the file the coordinator says.
    func reload() {
        guard !settings.isEmpty, let configurationFile else { return }
        do {
            let new = try ConfigurationFile.read(configurationFile).gateways
            guard new.map(\.place) == places else {
                return log.error(
                    "the gateways stay as they are: other listeners need a restart of serve",
                    ["file": .string(configurationFile)])
            }
            try write(new)
            settings = new
        } catch {
            log.error(
                "the gateways stay as they are: their new settings cannot be used",
                ["reason": "\(error)"])
        }
    }

    private func write(_ settings: [GatewayListenerSettings]) throws {
        guard !settings.isEmpty else { return }
        let files = try settings.map { one in try arguments(of: one) }
        try? FileDescriptor.makeDirectory(path: "\(runtimeDirectory)/\(Self.folder)")
        for (index, words) in files.enumerated() {
            try OutputFile.replace(
                GatewayListenerSettings.fileBytes(of: words), at: path(of: index))
        }
    }

    /// A watermark that is a file is copied to where the stack loads it.
    private func arguments(of one: GatewayListenerSettings) throws -> [String] {
        var one = one
        guard let text = one.values[.watermark], let file = try ServedWatermark(text) else {
            return one.arguments
        }
        guard canCopyWatermarks else {
            throw UsageError(
                "gateway.watermark: a file is for serve without --only: name a URL, such as "
                    + "local:///mark.png")
        }
        try file.leave(in: runtimeDirectory)
        one.values[.watermark] = file.url
        return one.arguments
    }
}

/// The socket of the gateway, which outlives each of its processes: who connects while the next one
/// starts waits.
final class GatewayListener {
    private var listener: StreamListener?
    private let place: ListenPlace
    private let port: UInt16?

    init(_ place: ListenPlace) throws(GatewayListenError) {
        do throws(Errno) {
            let made = try Self.listener(at: place)
            port = made.port
            listener = consume made
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

    /// What the gateway inherits.
    var descriptorNumber: Int32? { listener?.descriptor.number }

    /// What a browser on this machine opens, or the Unix socket as the options write it.
    var url: String { place.url(port: port ?? 0) }

    /// Whoever has inherited it may go on; who connects behind that is refused.
    func close() { listener = nil }
}

/// The address of the gateway cannot be had.
struct GatewayListenError: Error, Hashable, CustomStringConvertible {
    let place: ListenPlace
    let errno: Errno

    /// A setting that cannot be used.
    static let exitStatus: Int32 = 78

    var description: String {
        "the gateway cannot listen at \(place.text) (\(errno)): name another place with --gateway"
    }
}

/// A watermark that is a file, or the bytes of one: the stack loads it like any image, from a copy
/// in the runtime directory. The copy is named by its bytes, so that another image has other keys.
struct ServedWatermark: Hashable {
    private let bytes: [UInt8]

    /// Bytes of a watermark.
    private static let bytesMax = 4 << 20
    private static let folder = "watermark"

    /// The path of a file, or `data:` with Base64; nil for a URL. Throws for what is no image.
    init?(_ text: String) throws(UsageError) {
        if text.lowercased().hasPrefix("data:") {
            bytes = try Self.bytes(ofData: text)
        } else if text.contains("://") {
            return nil
        } else {
            bytes = try Self.bytes(at: OptionValue.path(text))
        }
        guard bytes.count <= Self.bytesMax else {
            throw UsageError("the image has more than \(Self.bytesMax) bytes")
        }
        guard
            ImageFormat.sniff(bytes, tail: bytes.suffix(100))
                != .undefined
        else { throw UsageError("this is not an image in a format that is read") }
    }

    private static func bytes(at path: String) throws(UsageError) -> [UInt8] {
        do throws(Errno) {
            return try FileDescriptor.open(path).readToEnd(bytesMax: bytesMax + 1)
        } catch {
            throw UsageError("\(path) cannot be read (\(error)): name an image or its URL")
        }
    }

    private static func bytes(ofData text: String) throws(UsageError) -> [UInt8] {
        let parts = text.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].hasSuffix(";base64") else {
            throw UsageError("write data:;base64, and then the image in Base64")
        }
        var digits = parts[1].utf8.filter { ![0x0A, 0x0D, 0x20].contains($0) }
        while digits.last == UInt8(ascii: "=") { digits.removeLast() }
        guard let bytes = Base64.bytes(ofDigits: digits, last: (UInt8(ascii: "+"), 0x2F)) else {
            throw UsageError("what is behind data:;base64, is not Base64")
        }
        return bytes
    }

    /// What the gateway asks for.
    var url: String { "\(FileRoot.watermarkScheme):///\(name)" }

    /// Where its copy is, below a runtime directory.
    static func root(in runtimeDirectory: String) -> String { "\(runtimeDirectory)/\(folder)" }

    /// Leaves the copy there.
    func leave(in runtimeDirectory: String) throws(OutputError) {
        let root = Self.root(in: runtimeDirectory)
        try? FileDescriptor.makeDirectory(path: root)
        try OutputFile.replace(bytes, at: "\(root)/\(name)")
    }

    /// FNV-1a of the bytes, and how many there are. Whoever chooses the image is the operator.
    private var name: String {
        let hash = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01B3
        }
        return String(hash, radix: 16) + "-\(bytes.count)"
    }
}

/// What variables of other servers (`IMGPROXY_…`, `THUMBOR_…`, `IMAGOR_…`) say of a stack with a
/// gateway. Options and variables of our own win.
struct PeerVariables {
    /// What was read, and what these variables add.
    let read: ReadOptions
    /// The variables from which the gateway takes its keys.
    private(set) var secrets: [String: String] = [:]
    /// One of them that is not read, since no gateway runs here; nil: there is none.
    private(set) var ignored: String?

    /// Throws for a variable that is not supported, and for one of a process that this stack does
    /// not run.
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
        let translation: PeerSettings.Translation
        do throws(PeerSettings.Fault) {
            translation = try PeerSettings.translate(environment, grammar: grammar ?? "imgproxy")
        } catch {
            throw UsageError("\(error)")
        }
        var added: [ReadOptions.Entry] = []
        for entry in translation.entries {
            let (name, variable) = (entry.option.name, entry.variable)
            let isOfFront = name.hasPrefix("gateway") || name.hasPrefix("log-")
            guard isOfFront || kind == nil else {
                throw UsageError(
                    "\(variable): it is --\(name), which another process of the stack needs: set "
                        + "it there, and remove the variable here")
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
