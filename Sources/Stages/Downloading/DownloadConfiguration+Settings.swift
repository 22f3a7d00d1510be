public import Messages

extension DownloadConfiguration {
    /// Sets what an operator says. Returns false, and changes nothing, where the text is no value
    /// of the setting.
    public mutating func set(_ setting: DownloadSetting, to text: String) -> Bool {
        guard let value = setting.value(of: text) else { return false }
        switch (setting, value) {
        case (.connectTimeout, .number(let seconds)): connectTimeoutMilliseconds = seconds * 1_000
        case (.transferTimeout, .number(let seconds)): totalTimeoutMilliseconds = seconds * 1_000
        case (.lowSpeed, .number(let bytes)): lowSpeedBytesPerSecond = bytes
        case (.lowSpeedTime, .number(let seconds)): lowSpeedSeconds = seconds
        case (.redirectLimit, .number(let count)): redirectsMax = count
        case (.continuationLimit, .number(let count)): continuationsMax = count
        case (.userAgent, .text(let text)): userAgent = text
        case (.acceptStatus, .statuses(let statuses)): accepted.statuses = statuses
        case (.acceptType, .types(let types)): accepted.types = types
        case (.proxy, .text(let url)): proxy = url
        default: return false
        }
        return true
    }
}
