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

/// A setting of another image server, by the name of its variable, and what it becomes here.
public struct PeerSetting: Sendable {
    /// The variable; one that ends in `*` stands for all that begin so.
    public let name: String
    /// What it becomes.
    public let outcome: Outcome

    /// What a setting becomes.
    public enum Outcome: Sendable {
        /// Options of `imagebus serve`; the function answers `nil` for a value that is none.
        case options(expected: String, @Sendable (String) -> [PeerOption]?)
        /// Keys by which paths are signed, which are on no command line.
        case keys
        /// What happens here anyway where the value is one of these; else it ends the start with
        /// the sentence.
        case fixed(Set<String>, advice: String)
    }

    init(_ name: String, _ outcome: Outcome) { (self.name, self.outcome) = (name, outcome) }

    /// Whether a variable is this one.
    func matches(_ variable: String) -> Bool {
        name.last == "*" ? variable.hasPrefix(name.dropLast()) : variable == name
    }
}

/// An option of `imagebus serve`, with the value that a setting of another server gives it.
public struct PeerOption: Hashable, Sendable {
    /// Without dashes.
    public let name: String
    /// Empty for a flag.
    public let value: String
    /// Whether several settings are parts of one value, with commas between them.
    let isPart: Bool

    init(_ name: String, _ value: String = "", isPart: Bool = false) {
        (self.name, self.value, self.isPart) = (name, value, isPart)
    }

    /// One of the gateway.
    init(_ setting: GatewaySetting, _ value: String = "", isPart: Bool = false) {
        self.init("gateway-\(setting.rawValue)", value, isPart: isPart)
    }
}

// Rows of the tables.
extension PeerSetting {
    /// A value that is passed on as it is.
    static func text(_ name: String, _ option: String) -> PeerSetting {
        PeerSetting(
            name, .options(expected: "a text") { $0.isEmpty ? [] : [PeerOption(option, $0)] })
    }

    static func text(_ name: String, _ setting: GatewaySetting) -> PeerSetting {
        text(name, "gateway-\(setting.rawValue)")
    }

    /// A whole number; one that is `none` says nothing.
    static func count(_ name: String, _ options: [String], none: Int? = nil) -> PeerSetting {
        PeerSetting(
            name,
            .options(expected: "a whole number") { text in
                if text.isEmpty { return [] }
                guard let number = PeerValue.count(text) else { return nil }
                return number == none ? [] : options.map { PeerOption($0, "\(number)") }
            })
    }

    static func count(_ name: String, _ setting: GatewaySetting, none: Int? = nil) -> PeerSetting {
        count(name, ["gateway-\(setting.rawValue)"], none: none)
    }

    /// Seconds, or a duration such as `1h30m`.
    static func seconds(_ name: String, _ option: String, none: Int? = nil) -> PeerSetting {
        PeerSetting(
            name,
            .options(expected: "a number of seconds, or a time such as 90s or 24h") { text in
                if text.isEmpty { return [] }
                guard let number = PeerValue.seconds(text) else { return nil }
                return number == none ? [] : [PeerOption(option, "\(number)")]
            })
    }

    static func seconds(
        _ name: String, _ setting: GatewaySetting, none: Int? = nil
    ) -> PeerSetting {
        seconds(name, "gateway-\(setting.rawValue)", none: none)
    }

    /// Options where it is true, and others where it is not.
    static func flag(
        _ name: String, _ options: [PeerOption], else others: [PeerOption] = []
    ) -> PeerSetting {
        PeerSetting(
            name,
            .options(expected: "true or false") { text in
                text.isEmpty ? [] : PeerValue.flag(text).map { $0 ? options : others }
            })
    }

    /// A format that is offered where it is true.
    static func offer(_ name: String, _ format: String) -> PeerSetting {
        flag(
            name, [PeerOption(.offer, format, isPart: true)],
            else: [PeerOption(.offer, "", isPart: true)])
    }

    /// A format that is written progressively where it is true.
    static func progressive(_ name: String, _ format: String) -> PeerSetting {
        flag(name, [PeerOption(.progressive, format, isPart: true)])
    }

    /// The quality of a format.
    static func quality(_ name: String, of format: String) -> PeerSetting {
        PeerSetting(
            name,
            .options(expected: "a whole number from 1 to 100") { text in
                if ["", "None"].contains(text) { return [] }
                guard let number = PeerValue.count(text), (1...100).contains(number) else {
                    return nil
                }
                return [PeerOption(.formatQuality, "\(format)=\(number)", isPart: true)]
            })
    }

    /// A number that becomes an effort of a format.
    static func effort(
        _ name: String, of format: String, in range: ClosedRange<Int>,
        _ effort: @escaping @Sendable (Int) -> Int
    ) -> PeerSetting {
        PeerSetting(
            name,
            .options(
                expected: "a whole number from \(range.lowerBound) to \(range.upperBound)"
            ) { text in
                if ["", "None"].contains(text) { return [] }
                guard let number = PeerValue.count(text), range.contains(number) else {
                    return nil
                }
                return [PeerOption(.effort, "\(format)=\(effort(number))", isPart: true)]
            })
    }

    /// libavif's speed, 0 (slow) to 10: speeds 3 to 9 are the efforts 6 to 0.
    static func avifSpeed(_ name: String) -> PeerSetting {
        effort(name, of: "avif", in: 0...10) { min(6, max(0, 9 - $0)) }
    }

    /// What happens here anyway.
    static func always(_ name: String, _ values: Set<String>, _ advice: String) -> PeerSetting {
        PeerSetting(name, .fixed(values.union([""]), advice: advice))
    }

    /// What is not there, but where it is off anyway.
    static func absent(
        _ names: String..., off values: Set<String> = [], advice: String
    ) -> [PeerSetting] {
        names.map { PeerSetting($0, .fixed(values.union([""]), advice: advice)) }
    }
}

/// Values as other servers write them.
enum PeerValue {
    static let yes: Set<String> = ["1", "t", "T", "true", "True", "TRUE", "yes", "on"]
    static let no: Set<String> = ["0", "f", "F", "false", "False", "FALSE", "no", "off", "None"]

    static func flag(_ text: String) -> Bool? {
        yes.contains(text) ? true : no.contains(text) ? false : nil
    }

    /// Digits; thumbor has numbers such as `75e6`, too.
    static func count(_ text: String) -> Int? {
        if let number = Int(text) { return number }
        guard let number = Double(text), number.rounded() == number, abs(number) < 1e15 else {
            return nil
        }
        return Int(number)
    }

    /// A number of seconds, or one of Go's durations in whole seconds.
    static func seconds(_ text: String) -> Int? {
        if let number = Int(text) { return number >= 0 ? number : nil }
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        var (sum, digits) = (0, "")
        for character in text {
            if character.isASCII, character.isNumber {
                digits.append(character)
                continue
            }
            guard let unit = units[character], let number = Int(digits), number < 1 << 40 else {
                return nil
            }
            (sum, digits) = (sum + number * unit, "")
        }
        return digits.isEmpty && !text.isEmpty ? sum : nil
    }
}
