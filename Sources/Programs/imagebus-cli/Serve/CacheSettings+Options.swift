import CommandLineInterface
import Messages

extension CacheSettings {
    /// What the help says of the settings.
    static let definitions = CacheSetting.allCases.map { setting in
        OptionDefinition(setting.rawValue, value: setting.placeholder, setting.help)
    }

    /// Checked here, so that a mistake is a usage error and no process that does not start.
    init(_ read: ReadOptions) throws(UsageError) {
        self.init()
        for setting in CacheSetting.allCases {
            self[setting] = try read.parsed(setting.rawValue) { (text) throws(UsageError) in
                if setting.countsBytes { return Int64(try OptionValue.cacheLimit(text)) }
                guard let value = setting.value(of: text) else {
                    throw UsageError("'\(text)' is not \(setting.expected)")
                }
                return value
            }
        }
    }

    /// For the process of the cache.
    var arguments: [String] {
        said.flatMap { ["--\($0.setting.rawValue)", $0.setting.text(of: $0.value)] }
    }
}
