/// Translates the environment variables of other image servers, so that Imagebus can be tried in a
/// deployment before it is migrated (`Proto/Migration`). Pure: a table that doesn't access the
/// environment.
public enum PeerSettings {
    /// The result of translating variables.
    public struct Translation: Hashable, Sendable {
        /// An option of `imagebus serve`, and the variable it comes from.
        public struct Entry: Hashable, Sendable {
            /// The option.
            public var option: PeerOption
            /// The variable.
            public var variable: String
        }

        /// The options in the order of the variable names.
        public var entries: [Entry] = []
        /// The lines of a key file.
        public var keyLines: [String] = []
        /// The variables that contain keys.
        public var keyVariables: [String] = []
    }

    /// A variable that is not supported or has an invalid value.
    public struct InvalidVariable: Error, Hashable, Sendable, CustomStringConvertible {
        /// The variable.
        public let variable: String
        /// How to fix it.
        public let advice: String

        /// The message: `IMGPROXY_SECRET is not supported: …`
        public var description: String { "\(variable): \(advice)" }
    }

    /// Translates the variables of an environment for a URL grammar. Variables of other programs
    /// are ignored.
    ///
    /// Throws for a variable that Imagebus does not support, and for an invalid value.
    public static func translate(
        _ environment: [String: String], grammar: String
    ) throws(InvalidVariable) -> Translation {
        let servers = PeerServer.all(of: grammar)
        guard !servers.isEmpty else { return Translation() }
        var translation = Translation()
        for variable in environment.keys.sorted() {
            let value = environment[variable] ?? ""
            for server in servers {
                guard let row = server.row(of: variable) else { continue }
                try translateVariable(row, variable, value, environment, &translation)
                break
            }
        }
        translation.join()
        try translation.keyLines = keyLines(of: translation.keyVariables, environment)
        return translation
    }

    /// Returns whether a variable name is specific to another image server.
    public static func isOfServer(_ variable: String) -> Bool {
        PeerServer.allCases.contains { variable.hasPrefix($0.prefix) }
    }

    private static func translateVariable(
        _ row: PeerSetting?, _ variable: String, _ value: String, _ environment: [String: String],
        _ translation: inout Translation
    ) throws(InvalidVariable) {
        guard let row else {
            if value.isEmpty { return }
            throw InvalidVariable(
                variable: variable,
                advice:
                    "this setting is not supported: remove the variable, and see Proto/Migration "
                    + "for an equivalent")
        }
        switch row.outcome {
        case .keys:
            if !value.isEmpty { translation.keyVariables.append(variable) }
        case .fixed(let values, let advice):
            guard !values.contains(value) else { return }
            throw InvalidVariable(variable: variable, advice: "\(advice); then remove the variable")
        case .options(let expected, let options):
            guard let options = options(value) else {
                throw InvalidVariable(
                    variable: variable, advice: "'\(value.prefix(60))' is not \(expected)")
            }
            translation.entries += options.map { .init(option: $0, variable: variable) }
        }
    }

    // MARK: - Keys

    /// imgproxy has lists of keys and salts in hexadecimal digits; the others have one key.
    private static func keyLines(
        of variables: [String], _ environment: [String: String]
    ) throws(InvalidVariable) -> [String] {
        var lines: [String] = []
        for variable in variables {
            let value = environment[variable] ?? ""
            switch variable {
            case "IMGPROXY_SALT":
                guard environment["IMGPROXY_KEY"]?.isEmpty == false else {
                    throw InvalidVariable(
                        variable: variable, advice: "requires IMGPROXY_KEY: set both")
                }
            case "IMGPROXY_KEY":
                let keys = value.split(separator: ",", omittingEmptySubsequences: false)
                let salts = (environment["IMGPROXY_SALT"] ?? "")
                    .split(separator: ",", omittingEmptySubsequences: false)
                guard keys.count == salts.count, !salts.contains(where: \.isEmpty) else {
                    throw InvalidVariable(
                        variable: variable,
                        advice: "IMGPROXY_SALT must have as many salts as IMGPROXY_KEY has keys")
                }
                lines += zip(keys, salts).map { "\($0) \($1)" }
            default: lines.append(value)
            }
        }
        return lines
    }
}

extension PeerSettings.Translation {
    /// Joins the parts that several variables contribute to one option.
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
        // If all of them are off, offer nothing.
        entries = joined.map { entry in
            guard entry.option.isPart, entry.option.value.isEmpty else { return entry }
            return Entry(option: PeerOption(entry.option.name, "none"), variable: entry.variable)
        }
    }
}

/// A server whose variables are supported.
enum PeerServer: CaseIterable {
    case imgproxy, thumbor, imagor

    /// Returns the servers that use a URL grammar.
    static func all(of grammar: String) -> [PeerServer] {
        switch grammar {
        case "imgproxy": [.imgproxy]
        case "thumbor": [.thumbor]
        case "imagor": [.imagor]
        default: []
        }
    }

    /// The prefix of variables that are specific to the server.
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

    /// Returns the row of a variable, `.some(nil)` if the variable belongs to the server but has no
    /// row, and `nil` if it doesn't belong to the server.
    ///
    /// thumbor's names have no prefix: they are accepted with the prefix `THUMBOR_`, and without it
    /// unless other programs are likely to use them.
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

    /// Returns whether a thumbor variable has a name that many programs use.
    private static func isShared(_ variable: String) -> Bool {
        !variable.contains("_")
            || [
                "SENTRY_", "STATSD_", "REDIS_", "SQS_", "ERROR_", "GC_", "APP_", "LOG_",
                "UPLOAD_", "STORAGE_", "MAX_", "MIN_", "HANDLER_", "NON_BLOCKING_",
            ].contains { variable.hasPrefix($0) }
            || ["FFMPEG_PATH", "ENABLE_ETAGS"].contains(variable)
    }
}

/// A setting of another image server, by the name of its variable, and its translation.
public struct PeerSetting: Sendable {
    /// The variable; a trailing `*` matches any suffix.
    public let name: String
    /// The translation.
    public let outcome: Outcome

    /// The translation of a setting.
    public enum Outcome: Sendable {
        /// Options of `imagebus serve`; the function returns `nil` for an invalid value.
        case options(expected: String, @Sendable (String) -> [PeerOption]?)
        /// Keys for signed paths, which must not appear on a command line.
        case keys
        /// Fixed behavior of Imagebus that corresponds to these values; any other value is an error
        /// with this advice.
        case fixed(Set<String>, advice: String)
    }

    init(_ name: String, _ outcome: Outcome) { (self.name, self.outcome) = (name, outcome) }

    /// A setting with options that depend on its value; an empty one sets none.
    init(
        _ name: String, expected: String, _ options: @escaping @Sendable (String) -> [PeerOption]?
    ) {
        self.init(name, .options(expected: expected) { $0.isEmpty ? [] : options($0) })
    }

    /// Returns whether a variable matches this setting.
    func matches(_ variable: String) -> Bool {
        name.last == "*" ? variable.hasPrefix(name.dropLast()) : variable == name
    }
}

/// An option of `imagebus serve` with the value translated from another server.
public struct PeerOption: Hashable, Sendable {
    /// The name without dashes.
    public let name: String
    /// The value; empty for a flag.
    public let value: String
    /// Whether several settings contribute to one value, separated by commas.
    let isPart: Bool

    init(_ name: String, _ value: String = "", isPart: Bool = false) {
        (self.name, self.value, self.isPart) = (name, value, isPart)
    }

    /// An option of the gateway.
    init(_ setting: GatewaySetting, _ value: String = "", isPart: Bool = false) {
        self.init("gateway-\(setting.rawValue)", value, isPart: isPart)
    }
}

// Constructors for rows of the tables.
extension PeerSetting {
    /// A value that is passed on unchanged.
    static func text(_ name: String, _ option: String) -> PeerSetting {
        PeerSetting(name, expected: "a nonempty text") { [PeerOption(option, $0)] }
    }

    static func text(_ name: String, _ setting: GatewaySetting) -> PeerSetting {
        text(name, "gateway-\(setting.rawValue)")
    }

    /// An integer; `none` is the value that means unset.
    static func count(_ name: String, _ options: [String], none: Int? = nil) -> PeerSetting {
        PeerSetting(name, expected: "an integer") { text in
            guard let number = PeerValue.count(text) else { return nil }
            return number == none ? [] : options.map { PeerOption($0, "\(number)") }
        }
    }

    static func count(_ name: String, _ setting: GatewaySetting, none: Int? = nil) -> PeerSetting {
        count(name, ["gateway-\(setting.rawValue)"], none: none)
    }

    /// Seconds, or a duration such as `1h30m`.
    static func seconds(_ name: String, _ option: String, none: Int? = nil) -> PeerSetting {
        PeerSetting(name, expected: "a number of seconds or a duration such as 90s or 24h") {
            text in
            guard let number = PeerValue.seconds(text) else { return nil }
            return number == none ? [] : [PeerOption(option, "\(number)")]
        }
    }

    static func seconds(
        _ name: String, _ setting: GatewaySetting, none: Int? = nil
    ) -> PeerSetting {
        seconds(name, "gateway-\(setting.rawValue)", none: none)
    }

    /// Options for true, and other options for false.
    static func flag(
        _ name: String, _ options: [PeerOption], else others: [PeerOption] = []
    ) -> PeerSetting {
        PeerSetting(name, expected: "true or false") { text in
            PeerValue.flag(text).map { $0 ? options : others }
        }
    }

    /// A format that is offered if the value is true.
    static func offer(_ name: String, _ format: String) -> PeerSetting {
        flag(
            name, [PeerOption(.offer, format, isPart: true)],
            else: [PeerOption(.offer, "", isPart: true)])
    }

    /// A format that is encoded progressively if the value is true.
    static func progressive(_ name: String, _ format: String) -> PeerSetting {
        flag(name, [PeerOption(.progressive, format, isPart: true)])
    }

    static func quality(_ name: String, of format: String) -> PeerSetting {
        PeerSetting(name, expected: "an integer from 1 to 100") { text in
            if text == "None" { return [] }
            guard let number = PeerValue.count(text), (1...100).contains(number) else {
                return nil
            }
            return [PeerOption(.formatQuality, "\(format)=\(number)", isPart: true)]
        }
    }

    /// A number that is converted to the effort of a format.
    static func effort(
        _ name: String, of format: String, in range: ClosedRange<Int>,
        _ effort: @escaping @Sendable (Int) -> Int
    ) -> PeerSetting {
        PeerSetting(name, expected: "an integer from \(range.lowerBound) to \(range.upperBound)") {
            text in
            if text == "None" { return [] }
            guard let number = PeerValue.count(text), range.contains(number) else {
                return nil
            }
            return [PeerOption(.effort, "\(format)=\(effort(number))", isPart: true)]
        }
    }

    /// libavif's speed, 0 (slow) to 10: speeds 3 to 9 correspond to efforts 6 to 0.
    static func avifSpeed(_ name: String) -> PeerSetting {
        effort(name, of: "avif", in: 0...10) { min(6, max(0, 9 - $0)) }
    }

    /// Behavior that Imagebus always has.
    static func always(_ name: String, _ values: Set<String>, _ advice: String) -> PeerSetting {
        PeerSetting(name, .fixed(values.union([""]), advice: advice))
    }

    /// Settings that have no meaning for Imagebus; any value is accepted.
    static func unneeded(_ names: String...) -> [PeerSetting] {
        names.map { PeerSetting($0, expected: "a text") { _ in [] } }
    }

    /// A feature that Imagebus lacks, so that only values that turn it off are accepted.
    static func absent(
        _ names: String..., off values: Set<String> = [], advice: String
    ) -> [PeerSetting] {
        names.map { PeerSetting($0, .fixed(values.union([""]), advice: advice)) }
    }
}

/// Parses values in the syntax of other servers.
enum PeerValue {
    static let yes: Set<String> = ["1", "t", "T", "true", "True", "TRUE", "yes", "on"]
    static let no: Set<String> = ["0", "f", "F", "false", "False", "FALSE", "no", "off", "None"]

    static func flag(_ text: String) -> Bool? {
        yes.contains(text) ? true : no.contains(text) ? false : nil
    }

    /// Parses an integer, including thumbor's notation `75e6`.
    static func count(_ text: String) -> Int? {
        if let number = Int(text) { return number }
        guard let number = Double(text), number.rounded() == number, abs(number) < 1e15 else {
            return nil
        }
        return Int(number)
    }

    /// Parses a number of seconds, or a Go duration in whole seconds.
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
