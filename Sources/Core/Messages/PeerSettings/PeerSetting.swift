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
