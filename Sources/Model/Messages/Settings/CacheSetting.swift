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

    private var form: SettingForm<Int> {
        switch self {
        case .memoryLimit: .bytes(Self.bytesRange, Self.bytesExamples)
        case .diskLimit: Self.bytesOrNone
        case .memoryEntries, .diskEntries: .integer(0...1_000_000_000)
        case .maxAge: Self.age
        case .expireType:
            .word(
                Self.expireTypes, expected: "one of \(Self.expireTypes.joined(separator: ", "))")
        case .lowWater: .integer(0...100, placeholder: "PERCENT")
        case .memoryCache, .diskCache, .diskFirstUse, .writeBehind:
            .word(["no", "yes"], placeholder: "yes|no", expected: "yes or no")
        }
    }

    private static let bytesRange = Int(bytesMin)...Int.max
    private static let bytesExamples =
        "268435456 or 256M; at least \(bytesMin >> 20)M (\(bytesMin) bytes)"

    /// A number of bytes, or `none`, which is 0.
    private static var bytesOrNone: SettingForm<Int> {
        let bytes = SettingForm<Int>.bytes(bytesRange, "\(bytesExamples), or none")
        return SettingForm(placeholder: bytes.placeholder, expected: bytes.expected) {
            $0 == "none" ? 0 : bytes.parse($0)
        }
    }

    /// A duration in whole seconds, or `never`, which is -1.
    private static var age: SettingForm<Int> {
        SettingForm(placeholder: "TIME", expected: "\(DurationText.expected), or never") {
            $0 == "never" ? -1 : DurationText.seconds(of: $0).map { Int($0) }
        }
    }

    /// Whether the setting is a number of bytes.
    public var countsBytes: Bool { self == .memoryLimit || self == .diskLimit }

    /// Whether the setting is a boolean: 1 or 0.
    public var isYesOrNo: Bool { form.words.first == "no" }

    /// The placeholder of the value in the help.
    public var placeholder: String { form.placeholder ?? "" }

    /// Parses a value; returns `nil` if it is invalid.
    public func value(of text: String) -> Int64? { form.parse(text).map { Int64($0) } }

    /// Returns the text of a value.
    public func text(of value: Int64) -> String {
        switch (self, value) {
        case (.diskLimit, 0): return "none"
        case (.maxAge, ..<0): return "never"
        default:
            let words = form.words
            return words.indices.contains(Int(value)) ? words[Int(value)] : "\(value)"
        }
    }

    /// Returns whether a value is valid.
    public func permits(_ value: Int64) -> Bool { self.value(of: text(of: value)) == value }

    /// The description of a valid text, for errors.
    public var expected: String { form.expected }
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
