internal import ImageModel

/// What an operator sets of the caches: by an option of `serve`, its variable, or under `caches` in
/// the configuration. One word names it in all these places, in the help and in errors.
public enum CacheSetting: String, Hashable, Sendable, CaseIterable {
    /// Bytes of the memory tier.
    case memoryLimit = "memory-limit"
    /// Entries of the memory tier; 0 is no limit.
    case memoryEntries = "memory-entries"
    /// Bytes of the disk tier; 0 is no limit.
    case diskLimit = "disk-limit"
    /// Entries of the disk tier; 0 is no limit.
    case diskEntries = "disk-entries"
    /// Seconds after which an entry of the disk is not answered any more; -1 is never.
    case maxAge = "max-age"
    /// From which date the age counts, and which entries go first: `ExpireType`'s numbers.
    case expireType = "expire-type"
    /// To how many percent of its limits a tier goes down when it makes room.
    case lowWater = "low-water"
    /// Whether entries are kept in memory.
    case memoryCache = "memory-cache"
    /// Whether entries are kept on the disk.
    case diskCache = "disk-cache"
    /// Whether what is asked for the first time is written to the disk.
    case diskFirstUse = "disk-first-use"
    /// Whether replies go out before the disk has what they say is stored.
    case writeBehind = "write-behind"

    /// What its values are.
    enum Values {
        /// Bytes, at least so many.
        case bytes(atLeast: Int64)
        /// The same, or `none`, which is 0.
        case bytesOrNone(atLeast: Int64)
        case number(ClosedRange<Int64>)
        /// A duration in whole seconds, or `never`, which is -1.
        case age
        /// The place of the word.
        case word([String])
        /// 0 is no, 1 is yes.
        case yesOrNo
    }

    /// The words of `expire-type`, by upstream's numbers.
    public static let expireTypes = ["access", "modification", "creation", "change"]

    /// The smallest limit of bytes: any image fits into so many.
    public static let bytesMin: Int64 = 1 << 20

    /// The limit of a disk tier where nobody says one: a tenth of its file system, and 10 GiB at
    /// most. A file system of 0 bytes is one whose size is not known.
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

    /// Whether it is a number of bytes.
    public var countsBytes: Bool {
        switch values {
        case .bytes, .bytesOrNone: true
        case .number, .age, .word, .yesOrNo: false
        }
    }

    /// Whether it is yes or no: 1 or 0.
    public var isYesOrNo: Bool { if case .yesOrNo = values { true } else { false } }

    /// Whether a change in the configuration takes effect with the next process of the cache only
    /// where it is larger than before: the segments of the memory tier are measured at the start.
    public var isMeasuredAtStart: Bool { self == .memoryLimit }

    /// What stands for its value in the help.
    public var placeholder: String {
        switch values {
        case .bytes, .bytesOrNone: "BYTES"
        case .number(let range): range.upperBound == 100 ? "PERCENT" : "N"
        case .age: "TIME"
        case .word: "WORD"
        case .yesOrNo: "yes|no"
        }
    }

    /// What the help says of it.
    public var help: String {
        switch self {
        case .memoryLimit:
            "the memory tier, such as 256M; at least 1M (a quarter of what\n"
                + "the container or cgroup may use, 16M to 4G; 256M without such\n"
                + "a limit)"
        case .memoryEntries: "entries of the memory tier (0: no limit)"
        case .diskLimit:
            "the disk tier, such as 20G: bodies in whole blocks, the index, its\n"
                + "log, and damaged indexes that were kept; at least 1M, or none\n"
                + "(10G, or a tenth of the file system where that is less)"
        case .diskEntries: "entries of the disk tier (0: no limit)"
        case .maxAge:
            "age from which an entry is removed and not answered any more,\n"
                + "such as 12h or 30d, or never (7d)"
        case .expireType:
            "the date that counts for the age, and the oldest goes first:\n"
                + "access (the last use), modification (stored), creation (first\n"
                + "stored under its key) or change (as modification) (access)"
        case .lowWater: "percent of its limits to which a tier goes down to make room (50)"
        case .memoryCache: "whether entries are kept in memory (yes)"
        case .diskCache: "whether entries are kept on the disk (yes)"
        case .diskFirstUse:
            "whether what is asked for the first time is written to the disk;\n"
                + "no: the second time it is, or is used in memory (yes)"
        case .writeBehind:
            "whether replies go out before the disk has what is stored for\n"
                + "them (yes)"
        }
    }

    /// The value of a text; `nil` for anything else.
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

    /// The text of a value.
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

    /// Whether a value is one of it.
    public func permits(_ value: Int64) -> Bool { self.value(of: text(of: value)) == value }

    /// What a text of it is, for errors.
    public var expected: String {
        switch values {
        case .bytes(let least): Self.expectedBytes(atLeast: least)
        case .bytesOrNone(let least): "\(Self.expectedBytes(atLeast: least)), or \(Self.none)"
        case .number(let range):
            "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .age: "\(DurationText.expected), or never"
        case .word(let words): "one of \(words.joined(separator: ", "))"
        case .yesOrNo: "yes or no"
        }
    }

    private static func expectedBytes(atLeast least: Int64) -> String {
        "a number of bytes, such as 268435456 or 256M; at least \(least >> 20)M (\(least) bytes)"
    }
}

/// What the configuration sets of one cache.
public struct NamedCacheSettings: Hashable, Sendable {
    /// The name of the cache; empty: the default one.
    public var name: String
    /// What is set.
    public var settings: CacheSettings
    /// Directories in which it looks for what it does not have itself, the first one first; at most
    /// `ReadOnlyDirectory.countMax`.
    public var readOnly: [String]

    /// Names settings.
    public init(name: String, settings: CacheSettings, readOnly: [String] = []) {
        (self.name, self.settings, self.readOnly) = (name, settings, readOnly)
    }

    /// Caches of one configuration at most.
    public static let countMax = 64
}

/// What is set of the caches; what is not set is as usual.
public struct CacheSettings: Hashable, Sendable {
    private var values: [CacheSetting: Int64] = [:]

    /// Sets nothing.
    public init() {}

    /// What it is set to; `nil` where it is not.
    public subscript(setting: CacheSetting) -> Int64? {
        get { values[setting] }
        set { values[setting] = newValue }
    }

    /// Whether nothing is set.
    public var isEmpty: Bool { values.isEmpty }

    /// What is set, in the order of the settings.
    public var said: [(setting: CacheSetting, value: Int64)] {
        CacheSetting.allCases.compactMap { setting in values[setting].map { (setting, $0) } }
    }

    /// What others set takes the place of what is set here.
    public mutating func take(_ others: CacheSettings) {
        values.merge(others.values) { $1 }
    }
}
