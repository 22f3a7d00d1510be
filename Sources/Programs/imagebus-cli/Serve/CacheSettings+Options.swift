import CommandLineInterface
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
            self[setting] =
                setting.countsBytes
                ? try read.parsed(setting.rawValue, OptionValue.cacheLimit).map { Int64($0) }
                : try read.parsed(setting.rawValue, as: setting.expected) { setting.value(of: $0) }
        }
    }

    /// For the process of the cache.
    var arguments: [String] {
        said.flatMap { ["--\($0.setting.rawValue)", $0.setting.text(of: $0.value)] }
    }
}
