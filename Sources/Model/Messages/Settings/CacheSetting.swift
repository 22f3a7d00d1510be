/// A setting of the caches, given by an option of `serve`, its variable, or under `caches` in the
/// configuration. The same name is used in all these contexts, in the help and in errors.
public enum CacheSetting: String, Hashable, Sendable, CaseIterable {
    /// The maximum number of bytes of the memory tier.
    case memoryLimit = "memory-limit"
    /// The maximum number of entries of the memory tier; 0 for no limit.
    case memoryEntries = "memory-entries"
    /// The maximum number of bytes of the disk tier; 0 for no limit.
    case diskLimit = "disk-limit"
    /// The maximum number of entries of the disk tier; 0 for no limit.
    case diskEntries = "disk-entries"
    /// The age in seconds after which a disk entry is no longer served; -1 for no limit.
    case maxAge = "max-age"
    /// The date from which the age is counted and which orders evictions, with the numbers of
    /// SDWebImage's `ExpireType`.
    case expireType = "expire-type"
    /// The percentage of its limits down to which a tier evicts.
    case lowWater = "low-water"
    /// Whether entries are stored in memory.
    case memoryCache = "memory-cache"
    /// Whether entries are stored on disk.
    case diskCache = "disk-cache"
    /// Whether entries are written to disk when they are first requested.
    case diskFirstUse = "disk-first-use"
    /// Whether replies precede the disk writes that they report.
    case writeBehind = "write-behind"

    /// The type and range of a value.
    enum Values {
        /// A number of bytes with a minimum.
        case bytes(atLeast: Int64)
        /// The same, or `none`, which is 0.
        case bytesOrNone(atLeast: Int64)
        case number(ClosedRange<Int64>)
        /// A duration in whole seconds, or `never`, which is -1.
        case age
        /// The index of a word.
        case word([String])
        /// 0 is no, 1 is yes.
        case yesOrNo
    }

    /// The words of `expire-type`, in the order of SDWebImage's numbers.
    public static let expireTypes = ["access", "modification", "creation", "change"]

    /// The smallest byte limit: enough for any image.
    public static let bytesMin: Int64 = 1 << 20

    /// Returns the default limit of a disk tier: a tenth of its file system, at most 10 GiB. A file
    /// system of 0 bytes has an unknown size.
    public static func usualDiskLimit(ofFileSystem totalBytes: UInt64) -> Int64 {
        guard totalBytes > 0 else { return 10 << 30 }
        return min(max(Int64(clamping: totalBytes / 10), bytesMin), 10 << 30)
    }

    var values: Values {
        switch self {
        case .memoryLimit: .bytes(atLeast: Self.bytesMin)
        case .diskLimit: .bytesOrNone(atLeast: Self.bytesMin)
        case .memoryEntries, .diskEntries: .number(0...1_000_000_000)
        case .maxAge: .age
        case .expireType: .word(Self.expireTypes)
        case .lowWater: .number(0...100)
        case .memoryCache, .diskCache, .diskFirstUse, .writeBehind: .yesOrNo
        }
    }

    /// Whether the setting is a number of bytes.
    public var countsBytes: Bool {
        switch values {
        case .bytes, .bytesOrNone: true
        case .number, .age, .word, .yesOrNo: false
        }
    }

    /// Whether the setting is a boolean: 1 or 0.
    public var isYesOrNo: Bool { if case .yesOrNo = values { true } else { false } }

    /// The placeholder of the value in the help.
    public var placeholder: String {
        switch values {
        case .bytes, .bytesOrNone: "BYTES"
        case .number(let range): range.upperBound == 100 ? "PERCENT" : "N"
        case .age: "TIME"
        case .word: "WORD"
        case .yesOrNo: "yes|no"
        }
    }

    /// Parses a value; returns `nil` if it is invalid.
    public func value(of text: String) -> Int64? {
        switch values {
        case .bytesOrNone where text == Self.none: 0
        case .bytes(let least), .bytesOrNone(let least):
            PlainNumber.scaled(text, by: 1_024).flatMap { $0 >= least ? Int64($0) : nil }
        case .number(let range):
            PlainNumber.integer(text).flatMap { range.contains(Int64($0)) ? Int64($0) : nil }
        case .age: text == "never" ? -1 : DurationText.seconds(of: text)
        case .word(let words): words.firstIndex(of: text).map { Int64($0) }
        case .yesOrNo: ["no", "yes"].firstIndex(of: text).map { Int64($0) }
        }
    }

    private static let none = "none"

    /// Returns the text of a value.
    public func text(of value: Int64) -> String {
        switch values {
        case .bytesOrNone where value == 0: Self.none
        case .bytes, .bytesOrNone, .number: "\(value)"
        case .age: value < 0 ? "never" : "\(value)"
        case .word(let words):
            words.indices.contains(Int(value)) ? words[Int(value)] : "\(value)"
        case .yesOrNo: value == 0 ? "no" : "yes"
        }
    }

    /// Returns whether a value is valid.
    public func permits(_ value: Int64) -> Bool { self.value(of: text(of: value)) == value }

    /// The description of a valid text, for errors.
    public var expected: String {
        switch values {
        case .bytes(let least): Self.expectedBytes(atLeast: least)
        case .bytesOrNone(let least): "\(Self.expectedBytes(atLeast: least)), or \(Self.none)"
        case .number(let range):
            "an integer from \(range.lowerBound) to \(range.upperBound)"
        case .age: "\(DurationText.expected), or never"
        case .word(let words): "one of \(words.joined(separator: ", "))"
        case .yesOrNo: "yes or no"
        }
    }

    private static func expectedBytes(atLeast least: Int64) -> String {
        "a number of bytes, such as 268435456 or 256M; at least \(least >> 20)M (\(least) bytes)"
    }
}

/// The configuration of one cache.
public struct NamedCacheSettings: Hashable, Sendable {
    /// The name of the cache; empty for the default one.
    public var name: String
    /// The configured settings.
    public var settings: CacheSettings
    /// Read-only fallback directories for misses, in order; at most `ReadOnlyDirectory.countMax`.
    public var readOnly: [String]

    /// Creates a configuration.
    public init(name: String, settings: CacheSettings, readOnly: [String] = []) {
        (self.name, self.settings, self.readOnly) = (name, settings, readOnly)
    }

    /// The maximum number of caches in a configuration.
    public static let countMax = 64
}

/// Settings of the caches; unset ones have their defaults.
public struct CacheSettings: Hashable, Sendable {
    private var values: [CacheSetting: Int64] = [:]

    /// Creates empty settings.
    public init() {}

    /// The value of a setting; `nil` if unset.
    public subscript(setting: CacheSetting) -> Int64? {
        get { values[setting] }
        set { values[setting] = newValue }
    }

    /// Whether nothing is set.
    public var isEmpty: Bool { values.isEmpty }

    /// The values that are set, in the order of the settings.
    public var explicitSettings: [(setting: CacheSetting, value: Int64)] {
        CacheSetting.allCases.compactMap { setting in values[setting].map { (setting, $0) } }
    }

    /// Applies other settings, which take precedence.
    public mutating func merge(_ others: CacheSettings) {
        values.merge(others.values) { $1 }
    }
}
