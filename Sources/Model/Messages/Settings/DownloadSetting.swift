/// A setting of downloads, given by an option of `serve` or of a private stack, or by its variable.
/// The same name is used there, in the help and in errors.
public enum DownloadSetting: String, Hashable, Sendable, CaseIterable {
    /// The timeout in seconds for name resolution and connecting, including TLS.
    case connectTimeout = "connect-timeout"
    /// The timeout in seconds for a whole download, including redirects and resumed transfers.
    case transferTimeout = "transfer-timeout"
    /// The speed in bytes per second below which a transfer is too slow; 0 for none.
    case lowSpeed = "low-speed"
    /// Seconds for which a transfer may be that slow.
    case lowSpeedTime = "low-speed-time"
    /// The maximum number of redirects.
    case redirectLimit = "redirect-limit"
    /// The maximum number of times an interrupted transfer is resumed (SEMANTICS §10.7).
    case continuationLimit = "continuation-limit"
    /// The `User-Agent` sent to origins, unless the request sets one.
    case userAgent = "user-agent"
    /// The statuses whose bodies are accepted as images.
    case acceptStatus = "accept-status"
    /// The content types accepted as images; a missing type is accepted.
    case acceptType = "accept-type"
    /// The proxy for all transfers.
    case proxy

    /// A value.
    public enum Value: Hashable, Sendable {
        /// A count, a number of bytes, or seconds.
        case number(Int)
        /// A text.
        case text(String)
        /// Ranges of statuses.
        case statuses([ClosedRange<Int>])
        /// Content types in lower case, with `image/*` for all subtypes.
        case types([String])
    }

    private var form: SettingForm<Value> {
        switch self {
        case .connectTimeout: SettingForm.seconds(1...300).map { .number($0) }
        case .transferTimeout: SettingForm.seconds(1...3_600).map { .number($0) }
        case .lowSpeedTime: SettingForm.seconds(1...600).map { .number($0) }
        case .lowSpeed:
            SettingForm.bytes(0...1 << 30, "1024 or 1K, at most 1G; 0 for none")
                .map { .number($0) }
        case .redirectLimit: SettingForm.integer(0...50).map { .number($0) }
        case .continuationLimit: SettingForm.integer(0...20).map { .number($0) }
        case .userAgent:
            SettingForm(
                placeholder: "TEXT",
                expected: "a text of up to \(Self.headerBytesMax) bytes without control characters"
            ) { Self.isUserAgent($0) ? .text($0) : nil }
        case .acceptStatus:
            SettingForm(
                placeholder: "LIST",
                expected: "a list of statuses from 200 to 599, such as 200-299,404"
            ) { Self.list($0) { Self.statuses(of: $0) }.map { .statuses($0) } }
        case .acceptType:
            SettingForm(
                placeholder: "LIST",
                expected: "a list of content types, such as image/*,application/octet-stream"
            ) { Self.list($0) { Self.type(of: $0) }.map { .types($0) } }
        case .proxy:
            SettingForm(
                placeholder: "URL",
                expected: "a proxy, such as http://10.0.0.1:3128 or socks5h://proxy.internal:1080"
            ) { Self.isProxy($0) ? .text($0) : nil }
        }
    }

    /// The placeholder of the value in the help.
    public var placeholder: String { form.placeholder ?? "" }

    /// Parses a value; returns `nil` if it is invalid.
    public func value(of text: String) -> Value? { form.parse(text) }

    /// The description of a valid text, for errors.
    public var expected: String { form.expected }

    private static let headerBytesMax = 256
    private static let listMax = 64
}

extension DownloadSetting {
    private static func isUserAgent(_ text: String) -> Bool {
        HTTPHeader(name: "User-Agent", value: text).isValid && !text.isEmpty
            && text.utf8.count <= headerBytesMax
    }

    private static func list<Part>(_ text: String, _ part: (Substring) -> Part?) -> [Part]? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let values = parts.compactMap { part($0) }
        return parts.count <= listMax && values.count == parts.count ? values : nil
    }

    private static func statuses(of text: Substring) -> ClosedRange<Int>? {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        let numbers = ends.compactMap { PlainNumber.integer($0) }
        guard (1...2).contains(ends.count), numbers.count == ends.count, numbers[0] >= 200,
            numbers[numbers.count - 1] <= 599, numbers[0] <= numbers[numbers.count - 1]
        else { return nil }
        return numbers[0]...numbers[numbers.count - 1]
    }

    /// Parses `image/png` or `image/*`.
    private static func type(of text: Substring) -> String? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2,
            parts.allSatisfy({ HTTPHeader(name: String($0), value: "").isValid }),
            !parts[0].contains("*"), parts[1] == "*" || !parts[1].contains("*")
        else { return nil }
        return text.lowercased()
    }

    private static func isProxy(_ text: String) -> Bool {
        guard let scheme = ["http://", "socks5h://"].first(where: text.hasPrefix) else {
            return false
        }
        let place = text.dropFirst(scheme.count)
        guard let colon = place.lastIndex(of: ":"), colon > place.startIndex,
            let port = PlainNumber.integer(place[place.index(after: colon)...])
        else { return false }
        return (1...65_535).contains(port) && place.utf8.count <= headerBytesMax
            && place.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") }
    }
}

/// The configuration of downloads; unset values are those of the options of `serve`.
public struct DownloadSettings: Hashable, Sendable {
    /// The settings of download workers as validated texts.
    public private(set) var texts: [DownloadSetting: String] = [:]
    /// The maximum number of concurrent transfers of all download workers; `nil` for their
    /// capacity.
    public var transfersMax: Int?

    /// The valid range of `transfersMax`.
    public static let transfersRange = 1...65_536

    /// Creates empty settings.
    public init() {}

    /// Creates settings by name; returns `nil` if a name is unknown or a value is invalid.
    public init?(texts: [String: String]) {
        for (name, text) in texts {
            guard let setting = DownloadSetting(rawValue: name), set(setting, to: text) else {
                return nil
            }
        }
    }

    /// Sets a value. Returns false and changes nothing if the text is invalid.
    public mutating func set(_ setting: DownloadSetting, to text: String) -> Bool {
        guard setting.value(of: text) != nil else { return false }
        texts[setting] = text
        return true
    }

    /// The settings as sent to workers.
    public var named: [String: String] {
        Dictionary(uniqueKeysWithValues: texts.map { ($0.key.rawValue, $0.value) })
    }
}
