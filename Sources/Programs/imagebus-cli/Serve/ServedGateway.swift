import CommandLineInterface
import Configuration
import Messages

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
