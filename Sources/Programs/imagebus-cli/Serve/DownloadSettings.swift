import CommandLineInterface
import Messages

/// What `serve` hands on to its download workers as it was said: checked here, so that a mistake is
/// a usage error and no process that does not start.
struct DownloadSettings: Hashable {
    private(set) var arguments: [String] = []

    init() {}

    init(_ read: ReadOptions) throws(UsageError) {
        for setting in DownloadSetting.allCases {
            let said = try read.parsed(setting.rawValue, as: setting.expected) { text in
                setting.value(of: text).map { _ in text }
            }
            if let said { arguments += ["--\(setting.rawValue)", said] }
        }
    }

    /// What the help says of the settings.
    static let definitions = DownloadSetting.allCases.map { setting in
        OptionDefinition(setting.rawValue, value: setting.placeholder, setting.help)
    }
}
