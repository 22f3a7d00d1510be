import CommandLineInterface
import Messages

/// The gateway that `serve` keeps alive: checked here, so that a mistake is a usage error and no
/// process that does not start.
struct ServedGateway: Hashable {
    /// Where it listens.
    let place: ListenPlace
    /// Its own settings, as it reads them.
    private(set) var arguments: [String] = []

    /// Where one listens that is served alone and is told nothing else.
    private static let usualPlace = "127.0.0.1:8080"

    /// nil where none is served: several services may share one environment, and `--only` says
    /// which one this is.
    init?(_ read: ReadOptions, only kind: ProcessKind?) throws(UsageError) {
        guard kind == nil || kind == .gateway else { return nil }
        let named = try read.parsed(Self.name, as: ListenPlace.expected) { ListenPlace($0) }
        guard let place = named ?? (kind == .gateway ? ListenPlace(Self.usualPlace) : nil) else {
            let orphan = GatewaySetting.allCases.first { setting in
                read.entries.contains { $0.label == "--\(Self.name(of: setting))" }
            }
            guard let orphan else { return nil }
            throw UsageError("--\(Self.name(of: orphan)): there is no gateway without --gateway")
        }
        self.place = place
        arguments = try Self.settings(read)
    }

    /// What is set of a gateway, as its program reads it.
    static func settings(_ read: ReadOptions) throws(UsageError) -> [String] {
        var arguments: [String] = []
        for setting in GatewaySetting.allCases {
            if setting.placeholder == nil {
                if read.isSet(name(of: setting)) { arguments.append("--\(setting.rawValue)") }
                continue
            }
            let text = try read.parsed(name(of: setting), as: setting.expected) {
                setting.accepts($0) ? $0 : nil
            }
            if let text { arguments += ["--\(setting.rawValue)", text] }
        }
        return arguments
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
                    + "behind the ready line. \":8080\" is every address of this machine")
        ]
        + settingDefinitions

    /// Its settings alone.
    static let settingDefinitions = GatewaySetting.allCases.map { setting in
        OptionDefinition(
            Self.name(of: setting), value: setting.placeholder,
            of: setting == .grammar ? .words(grammars) : nil, setting.help)
    }
}
