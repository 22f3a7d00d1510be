/// What the configuration sets of downloads; what it does not set is as the options of `serve` say.
public struct DownloadSettings: Hashable, Sendable {
    /// Texts of settings of download workers, each a value of its setting.
    public private(set) var texts: [DownloadSetting: String] = [:]
    /// Transfers at a time, all download workers together; `nil`: as many as they take.
    public var transfersMax: Int?

    /// What `transfersMax` may be.
    public static let transfersRange = 1...65_536

    /// Sets nothing.
    public init() {}

    /// Settings by name; `nil` where one is unknown, or has a value that it cannot have.
    public init?(texts: [String: String]) {
        for (name, text) in texts {
            guard let setting = DownloadSetting(rawValue: name), set(setting, to: text) else {
                return nil
            }
        }
    }

    /// Sets one of them. Returns false, and changes nothing, where the text is no value of it.
    public mutating func set(_ setting: DownloadSetting, to text: String) -> Bool {
        guard setting.value(of: text) != nil else { return false }
        texts[setting] = text
        return true
    }

    /// What workers are told of it.
    public var named: [String: String] {
        Dictionary(uniqueKeysWithValues: texts.map { ($0.key.rawValue, $0.value) })
    }
}
