import CommandLineInterface
import ImageModel
import Messages

extension CacheSettings {
    /// What the help says of the settings.
    static let definitions = CacheSetting.allCases.map { setting in
        OptionDefinition(
            setting.rawValue, value: setting.placeholder,
            of: setting == .expireType ? .words(CacheSetting.expireTypes) : nil, setting.help)
    }

    /// Checked here, so that a mistake is a usage error and no process that does not start.
    init(_ read: ReadOptions) throws(UsageError) {
        self.init()
        for setting in CacheSetting.allCases {
            self[setting] = try read.parsed(setting.rawValue) { (text) throws(UsageError) in
                guard let value = setting.value(of: text) else {
                    throw UsageError(
                        "'\(text)' is not \(setting.expected)\(Self.advice(setting, text))")
                }
                return value
            }
        }
    }

    /// A limit of a few bytes lacks its unit.
    private static func advice(_ setting: CacheSetting, _ text: String) -> String {
        guard setting.countsBytes, let count = PlainNumber.integer(text),
            (1..<Int(CacheSetting.bytesMin)).contains(count)
        else { return "" }
        return "; did you mean \(count)M?"
    }

    /// For the process of the cache.
    var arguments: [String] {
        said.flatMap { ["--\($0.setting.rawValue)", $0.setting.text(of: $0.value)] }
    }
}
