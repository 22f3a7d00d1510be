import CommandLineInterface
import ImageModel
import Messages
import StackAccess

/// What `imagebus cache` was told.
struct CacheOptions: Hashable {
    /// What is done.
    enum Action: Hashable {
        case contains
        case remove
        /// With the bytes of a file; `-` is standard input.
        case put(file: String)
        /// Into a file; `-` is standard output.
        case get(file: String)
        /// All entries, and no key.
        case clear
        /// All entries of one cache, or of those for which its name stands.
        case clearCache
        /// Those of the selection.
        case removeSelected
        case list
        case count
        case size
        case trim
        case stats
    }

    var action: Action
    var key: String
    /// Of the key; nil: the default one.
    var cache: String?
    /// Which entries, where no key is named.
    var selection = EntrySelection()
    var page = CachePageOptions()
    /// Of what is put.
    var tags: [String] = []
    var extendedData: ExtendedDataFile?
    var tiers: CacheTypes
    var stack: OperatorOptions

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        stack = try OperatorOptions(read, environment: environment)
        cache = read.last("cache")
        tiers = try read.parsed("type", Self.tiers) ?? .all
        selection = try Self.selection(read)
        page = try CachePageOptions(read)
        action = try Self.action(read)
        if case .put = action { (tags, selection.tag) = (try RequestReader.tags(read), nil) }
        extendedData = try ExtendedDataFile(read)
        key = action.hasKey ? read.operands[1] : ""
        try check(read)
    }

    private static func action(_ read: ReadOptions) throws(UsageError) -> Action {
        let words = read.operands
        switch (words.first, words.count) {
        case ("contains", 2): return .contains
        case ("remove", 2): return .remove
        case ("remove", 1): return .removeSelected
        case ("get", 2): return .get(file: try read.parsed("output", OptionValue.file) ?? "-")
        case ("put", 3): return .put(file: words[2])
        case ("clear", 1):
            return read.last("cache") != nil && !read.isSet("all") ? .clearCache : .clear
        case ("list", 1): return .list
        case ("count", 1): return .count
        case ("size", 1): return .size
        case ("trim", 1): return .trim
        case ("stats", 1): return .stats
        default:
            throw UsageError(
                "say stats, list, count, size, trim, clear --all, contains KEY, get KEY, put KEY "
                    + "FILE, remove KEY, or remove with --url, --prefix, --tag, --older-than or "
                    + "--cache")
        }
    }

    /// What is said besides has to mean something for what is done.
    private func check(_ read: ReadOptions) throws(UsageError) {
        // It asks nothing: so it has to be said.
        guard (action == .clear) == read.isSet("all"), action != .clear || cache == nil else {
            throw UsageError(
                "clear --all removes every entry of every cache, clear --cache NAME those of one, "
                    + "with --type of one tier; remove KEY removes one entry")
        }
        let names = ["url", "prefix", "older-than"]
        if !action.selects, let name = names.first(where: { read.last($0) != nil }) {
            throw UsageError("--\(name) is for list, count, size, and remove without a key")
        }
        if !action.selects, tags.isEmpty, read.last("tag") != nil {
            throw UsageError("--tag is for list, count, size, put, and remove without a key")
        }
        if action.selects, read.entries.filter({ $0.name == "tag" }).count > 1 {
            throw UsageError("--tag: entries are selected by one tag")
        }
        if case .put = action {
        } else if read.last("extended-data") != nil {
            throw UsageError("--extended-data and --media-type are for put")
        }
        if action == .removeSelected, selection.isAll {
            throw UsageError(
                "remove what? a KEY, or --url U, --prefix P, --tag T, --older-than D, "
                    + "--cache NAME; clear --all removes everything")
        }
        if action == .trim || action == .stats, cache != nil {
            throw UsageError("--cache: trim and stats are of all caches together")
        }
        guard action == .list || page == CachePageOptions() else {
            throw UsageError("--limit and --after are for list")
        }
        if case .get = action { return }
        if read.last("output") != nil { throw UsageError("--output is for get") }
    }

    private static func selection(_ read: ReadOptions) throws(UsageError) -> EntrySelection {
        let age = try read.parsed("older-than") { (text) throws(UsageError) in
            guard let seconds = DurationText.seconds(of: text) else {
                throw UsageError("'\(text)' is not \(DurationText.expected)")
            }
            return UInt64(seconds)
        }
        return EntrySelection(
            cache: read.last("cache"), url: read.last("url"), prefix: read.last("prefix"),
            olderThanSeconds: age, tag: try read.parsed("tag", RequestReader.tag))
    }

    private static func tiers(_ word: String) throws(UsageError) -> CacheTypes {
        try OptionValue.word(word, offeredTiers.map { ($0.name, $0) })
    }

    private static let offeredTiers: [CacheTypes] = [.memory, .disk, .all]
    /// The words of `--type`.
    static let tierNames = offeredTiers.map(\.name)
    /// The words that stand first.
    static let actions = [
        "stats", "list", "count", "size", "trim", "contains", "get", "put", "remove", "clear",
    ]
}

extension CacheOptions.Action {
    /// Whether it is about the entry of one key.
    var hasKey: Bool {
        switch self {
        case .contains, .remove, .put, .get: true
        case .clear, .clearCache, .removeSelected, .list, .count, .size, .trim, .stats: false
        }
    }

    /// Whether a selection says which entries are meant.
    var selects: Bool {
        switch self {
        case .removeSelected, .list, .count, .size: true
        default: false
        }
    }
}

/// Which part of a list is wanted.
struct CachePageOptions: Hashable {
    /// Entries at most.
    var limit = limitDefault
    /// Where it goes on; 0: from the first one on.
    var after: UInt64 = 0

    private static let limitDefault = 1_000
    private static let limitMax = 1_000_000

    init() {}

    init(_ read: ReadOptions) throws(UsageError) {
        let limit = try read.parsed("limit") { (text) throws(UsageError) in
            try OptionValue.integer(text, in: 1...Self.limitMax)
        }
        let after = try read.parsed("after") { (text) throws(UsageError) in
            guard let number = UInt64(text) else {
                throw UsageError("'\(text)' is not what a list named to go on with")
            }
            return number
        }
        (self.limit, self.after) = (limit ?? Self.limitDefault, after ?? 0)
    }
}

extension OptionValue {
    /// A file, or `-`.
    fileprivate static func file(_ text: String) throws(UsageError) -> String {
        text == "-" ? text : try path(text)
    }
}
