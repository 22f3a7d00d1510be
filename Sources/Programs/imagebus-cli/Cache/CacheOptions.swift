import CommandLineInterface
import ImageModel
import Messages
import StackAccess

/// What `imagebus cache` was told.
struct CacheOptions: Hashable {
    /// What is done with the entry.
    enum Action: Hashable {
        case contains
        case remove
        /// With the bytes of a file; `-` is standard input.
        case put(file: String)
        /// All entries, and no key.
        case clear
    }

    var action: Action
    var key: String
    var cache: String?
    var tiers: CacheTypes
    var stack: OperatorOptions

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        stack = try OperatorOptions(read, environment: environment)
        cache = read.last("cache")
        tiers = try read.parsed("type", Self.tiers) ?? .all
        let words = read.operands
        switch (words.first, words.count) {
        case ("contains", 2): action = .contains
        case ("remove", 2): action = .remove
        case ("put", 3): action = .put(file: words[2])
        case ("clear", 1): action = .clear
        default: throw UsageError("say contains KEY, remove KEY, put KEY FILE, or clear --all")
        }
        // It asks nothing: so it has to be said.
        guard (action == .clear) == read.isSet("all"), action != .clear || cache == nil else {
            throw UsageError(
                "clear --all removes every entry of every cache, with --type of one tier; "
                    + "remove KEY removes one entry")
        }
        key = action == .clear ? "" : words[1]
    }

    private static func tiers(_ word: String) throws(UsageError) -> CacheTypes {
        try OptionValue.word(
            word, [CacheTypes.memory, .disk, .all].map { ($0.name, $0) })
    }
}
