import Linux
import Model
import ProcessRuntime
import WebFront
import WebGrammar

/// The command line of the gateway, together with the environment and the file of
/// `--settings-file`.
struct GatewayOptions {
    let place: ListenPlace
    /// An inherited socket to use instead of creating one.
    let listener: Int32?
    let front: WebFrontSettings
    /// The arguments of the program, for options that all programs share.
    let programArguments: ProgramArguments
    /// Whether no request can be answered, whatever the files contain.
    let answersNobody: Bool
    private let words: [String]

    static let valued = Set(["listen", "listen-fd", "settings-file"]).union(
        settings { $0.placeholder != nil })
    static let flags = settings { $0.placeholder == nil }
    /// Former names of settings, with those that replaced them.
    private static let formerNames: [String: String] = Dictionary(
        uniqueKeysWithValues: GatewaySetting.allCases.flatMap { setting in
            setting.formerNames.map { ($0, setting.rawValue) }
        })

    /// Whether `imagebus serve` runs the program and holds the socket.
    static func areServed(_ words: [String]) -> Bool { words.contains("--listen-fd") }

    private static func settings(_ isMeant: (GatewaySetting) -> Bool) -> Set<String> {
        Set(GatewaySetting.allCases.filter(isMeant).map(\.rawValue))
    }

    /// - Parameters:
    ///   - valued: Additional options with a value.
    ///   - flags: Additional flags.
    init(words: [String], besides valued: Set<String> = [], flags: Set<String> = []) throws {
        do {
            let file = try Self.settings(inFileOf: words)
            let peers = try Self.peerSettings(besides: file + words)
            let arguments = try ProgramArguments(
                peers.arguments + file + words,
                valued: Bootstrap.valued.union(Self.valued).union(valued),
                flags: Self.flags.union(flags), formerNames: Self.formerNames)
            try self.init(arguments, keyLines: peers.keyLines, words: words)
        } catch let error as GrammarError {
            throw ConfigurationError(error.message)
        }
    }

    /// Returns the settings that the stack has written to a file from its configuration.
    private static func settings(inFileOf words: [String]) throws -> [String] {
        guard let path = value(of: "--settings-file", in: words) else { return [] }
        return GatewayListenerSettings.arguments(inFile: try bytes(path))
    }

    /// Returns the last value of an option before the arguments are validated.
    private static func value(of option: String, in words: [String]) -> String? {
        words.lastIndex(of: option).flatMap { words.dropFirst($0 + 1).first }
    }

    /// - Parameter keyLines: Keys from the environment.
    private init(_ arguments: ProgramArguments, keyLines: [String], words: [String]) throws {
        (programArguments, self.words) = (arguments, words)
        let listed = GatewaySetting.allCases.compactMap { setting in
            (arguments.has(setting.rawValue) ? "" : arguments.value(setting.rawValue))
                .map { (setting, $0) }
        }
        let reader = SettingsReader(
            Dictionary(uniqueKeysWithValues: listed), keyLines: keyLines, bytes: Self.bytes)
        var front = try reader.settings()
        front.isServed = Self.areServed(words)
        self.front = front
        let text = arguments.value("listen") ?? "127.0.0.1:8080"
        guard let place = ListenPlace(text) else {
            throw ConfigurationError("--listen: '\(text)' is not \(ListenPlace.expected)")
        }
        self.place = place
        listener =
            try arguments.value("listen-fd") == nil
            ? nil : Int32(clamping: arguments.number("listen-fd", else: 0))
        answersNobody = reader.answersNobody
    }

    /// The files that are reloaded on SIGHUP.
    var files: [String] {
        ["keys", "presets", "post-tokens", "operator-tokens", "fallback", "settings-file"]
            .compactMap { programArguments.value($0) }
            .filter { (try? SourceURL($0)) == nil }
    }

    /// Returns the options with the current contents of the files.
    func readAgain() throws -> GatewayOptions { try GatewayOptions(words: words) }

    /// The maximum size of a file in bytes.
    private static let fileBytesMax = 1 << 20

    private static func bytes(_ path: String) throws -> [UInt8] {
        do throws(Errno) {
            return try FileDescriptor.open(path).readToEnd(bytesMax: fileBytesMax)
        } catch {
            throw ConfigurationError("\(path) cannot be read: \(error)")
        }
    }

    // MARK: - Variables of other servers, for a gateway started on its own

    /// Returns arguments, to be put before those of the command line, which take precedence, and
    /// lines of keys. Throws for an unsupported variable, and for one of another process of the
    /// stack.
    private static func peerSettings(
        besides words: [String]
    ) throws -> (arguments: [String], keyLines: [String]) {
        do {
            let translation = try PeerSettings.translate(
                CurrentProcess.environment,
                grammar: value(of: "--grammar", in: words) ?? "imgproxy")
            return (try translation.entries.flatMap(arguments), translation.keyLines)
        } catch {
            throw ConfigurationError("\(error)")
        }
    }

    private static func arguments(
        of entry: PeerSettings.Translation.Entry
    ) throws -> [String] {
        let (name, value) = (entry.option.name, entry.option.value)
        let own: String? =
            switch name {
            case "gateway": "listen"
            case "log-level", "log-format": name
            case _ where name.hasPrefix("gateway-"): String(name.dropFirst("gateway-".count))
            default: nil
            }
        guard let own else {
            throw ConfigurationError(
                "\(entry.variable) sets --\(name) of `imagebus serve`, which runs the stack: set "
                    + "that option there, and remove the variable here")
        }
        return ["--\(own)"] + (value.isEmpty ? [] : [value])
    }
}
