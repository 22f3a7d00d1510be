/// The settings of another image server that are read from the environment, so that a deployment
/// can be tried before it is rewritten (`Proto/Migration`). Pure: a table, and no environment.
public enum PeerSettings {
    /// What variables become.
    public struct Translation: Hashable, Sendable {
        /// Options of `imagebus serve`, and the variables that give them.
        public struct Entry: Hashable, Sendable {
            /// The option.
            public var option: PeerOption
            /// The variable.
            public var variable: String
        }

        /// In the order of the variables' names.
        public var entries: [Entry] = []
        /// Lines of a key file.
        public var keyLines: [String] = []
        /// The variables that have keys.
        public var keyVariables: [String] = []
    }

    /// A variable that cannot be taken.
    public struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        /// The variable.
        public let variable: String
        /// What to do.
        public let advice: String

        /// `IMGPROXY_SECRET is not supported: …`
        public var description: String { "\(variable): \(advice)" }
    }

    /// What the variables of an environment become where URLs of a grammar are read. Variables
    /// that belong to none of its servers are not looked at.
    ///
    /// Throws for a variable that this server does not support, and for a value that is none.
    public static func translate(
        _ environment: [String: String], grammar: String
    ) throws(Fault) -> Translation {
        let servers = PeerServer.all(of: grammar)
        guard !servers.isEmpty else { return Translation() }
        var translation = Translation()
        for variable in environment.keys.sorted() {
            let value = environment[variable] ?? ""
            for server in servers {
                guard let row = server.row(of: variable) else { continue }
                try take(row, variable, value, environment, &translation)
                break
            }
        }
        translation.join()
        try translation.keyLines = keyLines(of: translation.keyVariables, environment)
        return translation
    }

    /// Whether a variable's name is one that only another image server has.
    public static func isOfServer(_ variable: String) -> Bool {
        PeerServer.allCases.contains { variable.hasPrefix($0.prefix) }
    }

    private static func take(
        _ row: PeerSetting?, _ variable: String, _ value: String, _ environment: [String: String],
        _ translation: inout Translation
    ) throws(Fault) {
        guard let row else {
            if value.isEmpty { return }
            throw Fault(
                variable: variable,
                advice: "this server has no such setting: remove the variable, and look for what "
                    + "takes its place in Proto/Migration")
        }
        switch row.outcome {
        case .keys:
            if !value.isEmpty { translation.keyVariables.append(variable) }
        case .fixed(let values, let advice):
            guard !values.contains(value) else { return }
            throw Fault(variable: variable, advice: "\(advice); then remove the variable")
        case .options(let expected, let options):
            guard let options = options(value) else {
                throw Fault(
                    variable: variable, advice: "'\(value.prefix(60))' is not \(expected)")
            }
            translation.entries += options.map { .init(option: $0, variable: variable) }
        }
    }

    // MARK: - Keys

    /// imgproxy has lists of keys and salts in hexadecimal digits; others have one key.
    private static func keyLines(
        of variables: [String], _ environment: [String: String]
    ) throws(Fault) -> [String] {
        var lines: [String] = []
        for variable in variables {
            let value = environment[variable] ?? ""
            switch variable {
            case "IMGPROXY_SALT":
                guard environment["IMGPROXY_KEY"]?.isEmpty == false else {
                    throw Fault(
                        variable: variable, advice: "it needs IMGPROXY_KEY beside it: set both")
                }
            case "IMGPROXY_KEY":
                let keys = value.split(separator: ",", omittingEmptySubsequences: false)
                let salts = (environment["IMGPROXY_SALT"] ?? "")
                    .split(separator: ",", omittingEmptySubsequences: false)
                guard keys.count == salts.count, !salts.contains(where: \.isEmpty) else {
                    throw Fault(
                        variable: variable,
                        advice: "IMGPROXY_SALT needs as many salts as there are keys here")
                }
                lines += zip(keys, salts).map { "\($0) \($1)" }
            default: lines.append(value)
            }
        }
        return lines
    }
}

extension PeerSettings.Translation {
    /// Makes one value of the parts that several variables give.
    fileprivate mutating func join() {
        var joined: [Entry] = []
        for entry in entries {
            guard entry.option.isPart,
                let place = joined.firstIndex(where: { $0.option.name == entry.option.name })
            else {
                joined.append(entry)
                continue
            }
            let parts = [joined[place].option.value, entry.option.value].filter { !$0.isEmpty }
            joined[place].option = PeerOption(
                entry.option.name, parts.joined(separator: ","), isPart: true)
        }
        // Where all say no, nothing is offered.
        entries = joined.map { entry in
            guard entry.option.isPart, entry.option.value.isEmpty else { return entry }
            return Entry(option: PeerOption(entry.option.name, "none"), variable: entry.variable)
        }
    }
}

/// A server whose variables are understood.
enum PeerServer: CaseIterable {
    case imgproxy, thumbor, imagor

    /// Those whose URLs are of a grammar.
    static func all(of grammar: String) -> [PeerServer] {
        switch grammar {
        case "imgproxy": [.imgproxy]
        case "thumbor": [.thumbor, .imagor]
        default: []
        }
    }

    /// The variables that are its own whatever they are called behind it.
    var prefix: String {
        switch self {
        case .imgproxy: "IMGPROXY_"
        case .thumbor: "THUMBOR_"
        case .imagor: "IMAGOR_"
        }
    }

    var rows: [PeerSetting] {
        switch self {
        case .imgproxy: PeerSetting.imgproxy
        case .thumbor: PeerSetting.thumbor
        case .imagor: PeerSetting.imagor
        }
    }

    /// The row of a variable, `.some(nil)` of one of its own that has none; `nil`: the variable is
    /// not one of its own.
    ///
    /// thumbor's names have no prefix: they count with `THUMBOR_` before them, and without it where
    /// no other program is likely to have them.
    func row(of variable: String) -> PeerSetting?? {
        if self == .thumbor, variable.hasPrefix(prefix) {
            let name = String(variable.dropFirst(prefix.count))
            return .some(rows.first { $0.matches(name) || $0.matches(variable) })
        }
        if let row = rows.first(where: { $0.matches(variable) }) {
            return self == .thumbor && Self.isShared(variable) ? nil : .some(row)
        }
        return variable.hasPrefix(prefix) ? .some(nil) : nil
    }

    /// Names of thumbor's that many programs have.
    private static func isShared(_ variable: String) -> Bool {
        !variable.contains("_")
            || [
                "SENTRY_", "STATSD_", "REDIS_", "SQS_", "ERROR_", "GC_", "APP_", "LOG_",
                "UPLOAD_", "STORAGE_", "MAX_", "MIN_", "HANDLER_", "NON_BLOCKING_",
            ].contains { variable.hasPrefix($0) }
            || ["FFMPEG_PATH", "ENABLE_ETAGS"].contains(variable)
    }
}
