internal import ImageModel

/// What an operator sets of downloads: by an option of `serve` and of a private stack, and by its
/// variable. One word names it there, in the help and in errors.
public enum DownloadSetting: String, Hashable, Sendable, CaseIterable {
    /// Seconds for resolving a name and connecting, TLS included.
    case connectTimeout = "connect-timeout"
    /// Seconds for a whole download: redirects, and what broke off.
    case transferTimeout = "transfer-timeout"
    /// Bytes a second below which a transfer is too slow; 0: none is.
    case lowSpeed = "low-speed"
    /// Seconds for which it may be that slow.
    case lowSpeedTime = "low-speed-time"
    /// Redirects followed at most.
    case redirectLimit = "redirect-limit"
    /// How often a body that broke off goes on where it was, at most (SEMANTICS §10.7).
    case continuationLimit = "continuation-limit"
    /// What an origin is told of who asks, unless a request says something else.
    case userAgent = "user-agent"
    /// Statuses whose bodies are images.
    case acceptStatus = "accept-status"
    /// Content types that are images; a body without any is one.
    case acceptType = "accept-type"
    /// Through which proxy all goes.
    case proxy

    /// A value.
    public enum Value: Hashable, Sendable {
        /// Of a count, of bytes, of seconds.
        case number(Int)
        /// As it is.
        case text(String)
        /// Statuses.
        case statuses([ClosedRange<Int>])
        /// Content types in lower case, `image/*` for all that begin so.
        case types([String])
    }

    enum Values {
        case seconds(ClosedRange<Int>)
        case bytes
        case count(ClosedRange<Int>)
        case header
        case statuses
        case types
        case proxy
    }

    var values: Values {
        switch self {
        case .connectTimeout: .seconds(1...300)
        case .transferTimeout: .seconds(1...3_600)
        case .lowSpeedTime: .seconds(1...600)
        case .lowSpeed: .bytes
        case .redirectLimit: .count(0...50)
        case .continuationLimit: .count(0...20)
        case .userAgent: .header
        case .acceptStatus: .statuses
        case .acceptType: .types
        case .proxy: .proxy
        }
    }

    /// What stands for its value in the help.
    public var placeholder: String {
        switch values {
        case .seconds: "TIME"
        case .bytes: "BYTES"
        case .count: "N"
        case .header: "TEXT"
        case .statuses, .types: "LIST"
        case .proxy: "URL"
        }
    }

    /// What the help says of it.
    public var help: String {
        switch self {
        case .connectTimeout: "for resolving a name and connecting (10s)"
        case .transferTimeout: "for a whole download, redirects included (5m)"
        case .lowSpeed: "a second, below which a transfer is too slow; 0: none is (1K)"
        case .lowSpeedTime: "for which a transfer may be that slow (15s)"
        case .redirectLimit: "redirects followed at most (10)"
        case .continuationLimit:
            "how often a body that broke off goes on where it was (3; 0: never)"
        case .userAgent: "what origins are told, such as \"shop/2.1\" (Imagebus and its version)"
        case .acceptStatus: "statuses that bring an image, such as 200-299,404 (200-299)"
        case .acceptType:
            "content types that are images, such as image/*; what says none is\n"
                + "one (all)"
        case .proxy:
            "http://HOST:PORT or socks5h://HOST:PORT, through which all goes:\n"
                + "the proxy resolves names, and has to refuse private addresses"
        }
    }

    /// The value of a text; `nil` for anything else.
    public func value(of text: String) -> Value? {
        switch values {
        case .seconds(let range): DurationText.seconds(of: text).flatMap { number(Int($0), range) }
        case .bytes: PlainNumber.scaled(text, by: 1_024).flatMap { number($0, 0...1 << 30) }
        case .count(let range): PlainNumber.integer(text).flatMap { number($0, range) }
        case .header:
            HTTPHeader(name: "User-Agent", value: text).isValid && !text.isEmpty
                && text.utf8.count <= Self.headerBytesMax ? .text(text) : nil
        case .statuses: Self.list(text) { Self.statuses(of: $0) }.map { .statuses($0) }
        case .types: Self.list(text) { Self.type(of: $0) }.map { .types($0) }
        case .proxy: Self.isProxy(text) ? .text(text) : nil
        }
    }

    /// What a text of it is, for errors.
    public var expected: String {
        switch values {
        case .seconds(let range):
            "\(DurationText.expected), from \(range.lowerBound)s to \(range.upperBound)s"
        case .bytes: "a number of bytes, such as 1024 or 1K, at most 1G; 0 for none"
        case .count(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .header: "a text of up to \(Self.headerBytesMax) bytes without control characters"
        case .statuses: "a list of statuses from 200 to 599, such as 200-299,404"
        case .types: "a list of content types, such as image/*,application/octet-stream"
        case .proxy: "a proxy, such as http://10.0.0.1:3128 or socks5h://proxy.internal:1080"
        }
    }

    private static let headerBytesMax = 256
    private static let listMax = 64
}

extension DownloadSetting {
    private func number(_ number: Int, _ range: ClosedRange<Int>) -> Value? {
        range.contains(number) ? .number(number) : nil
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

    /// `image/png`, or `image/*`.
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
