import CommandLineInterface
import ImageModel
import Linux
import Messages
import StackAccess

extension Command {
    static let cache = Command(
        name: "cache",
        summary: "look at the caches, read, put or remove entries, or let go of some",
        usage: "ACTION [KEY] [FILE] [options]",
        operands: [.words(CacheOptions.actions), .free, .file],
        options: [
            (
                "What is concerned",
                [
                    OptionDefinition(
                        "type", value: "TIER", of: .words(CacheOptions.tierNames),
                        "memory, disk or all (default)"),
                    OptionDefinition(
                        "cache", value: "NAME",
                        "a named cache; without it the default one where a KEY is\n"
                            + "named, else all of them"),
                    OptionDefinition(
                        "url", value: "URL",
                        "the original of that URL and all that was made of it"),
                    OptionDefinition("prefix", value: "TEXT", "entries whose key begins so"),
                    OptionDefinition(
                        "tag", value: "TAG", separators: [",", " "],
                        "entries with that tag; with put: a tag of the entry (repeatable)"),
                    OptionDefinition(
                        "older-than", value: "TIME",
                        "entries stored that long ago, such as 90s, 12h, 7d or 4w"),
                    OptionDefinition("all", "with clear: every entry of every cache"),
                ]
            ),
            (
                "What is printed",
                [
                    OptionDefinition(
                        "limit", value: "N", "of list: so many entries at most (1000)"),
                    OptionDefinition(
                        "after", value: "PLACE", "of list: go on where the list before ended"),
                    OptionDefinition(
                        "output", letter: "o", value: "FILE",
                        "of get: where the bytes go; - is standard output (default)"),
                    OptionDefinition(
                        "extended-data", value: "FILE",
                        "of put: 1 to \(ExtendedData.bytesMax) bytes that are kept beside the "
                            + "image"),
                    OptionDefinition(
                        "media-type", value: "TYPE",
                        "what they are (\(ExtendedData.unknownType))"),
                ]
            ), ("", OperatorOptions.definitions),
        ],
        notes: notes,
        examples: [
            ("imagebus cache stats", "sizes, hits, trims, and how the disk is"),
            (
                "imagebus cache remove --url https://example.org/a.jpg",
                "the original and every size of it, of everybody"
            ),
            ("imagebus cache list --prefix https://example.org/ --json", "what there is of a site"),
            ("imagebus cache remove --tag shop", "whatever was stored with that tag"),
            ("imagebus cache remove --older-than 30d --type disk", "what was stored long ago"),
            (
                "imagebus cache put https://example.org/a.jpg a.jpg --type disk",
                "loads get this file, and do not ask the origin"
            ),
        ])

    private static let notes = """
        imagebus cache stats | list | count | size | trim
        imagebus cache contains KEY | get KEY | put KEY FILE | remove [KEY]
        imagebus cache clear --all | clear --cache NAME

        KEY is the text that imagebus get --json prints as key, and list: the URL, with what was
        done to the image before its extension. contains prints the tiers that have it (none, disk,
        memory or all); a look does not count as use. get writes the bytes as they are stored; where
        no tier has them it ends 1.

        remove takes a KEY, or any of --url, --prefix, --tag, --older-than and --cache, which all
        have to hold; with --url also what a client asked for with credentials, and what depends
        on header fields. A URL that looks like a variant of another one, such as a-Auth(1).jpg of
        a.jpg, goes with it. clear --all removes every entry of every cache, clear --cache those
        of one. When either answers, no load finds these entries any more. Loads that are under
        way for them begin anew, so that older bytes are not stored after the removal. Neither
        asks before. With --type memory the disk keeps its entries, and loads go on. External caches
        remove entries in steps; standard error shows how many are removed and examined. If one of
        them stops, or Ctrl-C ends the command, the rest stays: repeat the command to go on.

        The NAME of --cache may stand for several caches (caches in the file of serve --config);
        contains, get, put, remove and clear then mean those that the file says for them.

        list, count and size say what there is; an entry in both tiers counts in both. bytes of list
        are those of the image, those of count and size what the tier needs for it. stats says what
        was so a second ago at most; BESIDE are the bytes of the log of the index and of damaged
        indexes, which were SET ASIDE so often, LOST are entries that were found damaged, SKIPPED
        those that the disk did not take. trim has both tiers go down to their low-water mark (serve
        --low-water), and removes what is over age.

        put keeps the bytes of FILE, or of standard input for -, as they are, once a decoder has
        read their header, at most 64 MiB; it prints the tiers that have them. What is no image ends
        65, what is too large 77, and 75 where no tier has room. With --type memory the disk keeps
        what it has. Who loads KEY from its origin meanwhile stores after it. Its --tag and
        --extended-data are those of the entry from now on: without them it has none.
        """
}

/// The options of `imagebus cache`.
struct CacheOptions: Hashable {
    /// The action.
    enum Action: Hashable {
        case contains
        case remove
        /// Stores the contents of a file; `-` for standard input.
        case put(file: String)
        /// Writes to a file; `-` for standard output.
        case get(file: String)
        /// Removes all entries; no key is specified.
        case clear
        /// Removes all entries of a cache, or of the caches that a name stands for.
        case clearCache
        /// Removes the selected entries.
        case removeSelected
        case list
        case count
        case size
        case trim
        case stats
    }

    var action: Action
    var key: String
    /// The cache of the key; `nil` for the default one.
    var cache: String?
    /// The selected entries, if no key is specified.
    var selection = EntrySelection()
    var page = CachePageOptions()
    /// The tags of the entry to store.
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

    /// Checks that all options apply to the action.
    private func check(_ read: ReadOptions) throws(UsageError) {
        // The command doesn't ask for confirmation, so `--all` is required.
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
    /// The values of `--type`.
    static let tierNames = offeredTiers.map(\.name)
    /// The words accepted as the first operand.
    static let actions = [
        "stats", "list", "count", "size", "trim", "contains", "get", "put", "remove", "clear",
    ]
}

extension CacheOptions.Action {
    /// Whether the action refers to the entry of a key.
    var hasKey: Bool {
        switch self {
        case .contains, .remove, .put, .get: true
        case .clear, .clearCache, .removeSelected, .list, .count, .size, .trim, .stats: false
        }
    }

    /// Whether the action applies to a selection of entries.
    var selects: Bool {
        switch self {
        case .removeSelected, .list, .count, .size: true
        default: false
        }
    }
}

/// The requested part of a list.
struct CachePageOptions: Hashable {
    /// The maximum number of entries.
    var limit = limitDefault
    /// Where to continue; 0 for the beginning.
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
    /// Returns the path of a file, or `-`.
    fileprivate static func file(_ text: String) throws(UsageError) -> String {
        text == "-" ? text : try path(text)
    }
}

/// A file with extended data for an image, and its media type.
struct ExtendedDataFile: Hashable {
    let path: String
    let mediaType: String

    /// Returns `nil` if no file is specified.
    init?(_ read: ReadOptions) throws(UsageError) {
        let type = try read.parsed("media-type") { (text) throws(UsageError) in
            guard ExtendedData.isMediaType(text) else {
                throw UsageError("'\(text)' is no media type, such as application/json")
            }
            return text
        }
        guard let path = try read.parsed("extended-data", OptionValue.path) else {
            if type != nil { throw UsageError("--media-type is of --extended-data FILE") }
            return nil
        }
        self.path = path
        mediaType = type ?? ExtendedData.unknownType
    }

    /// Reads the file. Throws if it can't be read, is empty or too large.
    func data() throws(ImageError) -> ExtendedData {
        let bytes = try InputFile.read(path, bytesMax: ExtendedData.bytesMax)
        return ExtendedData(bytes, mediaType: mediaType)
    }
}

/// Reads input files of commands.
enum InputFile {
    /// Returns the contents of a file.
    ///
    /// Throws `invalidRequest` if it can't be read or is empty, and `limitExceeded` if it is larger
    /// than `bytesMax`.
    static func read(_ path: String, bytesMax: Int) throws(ImageError) -> [UInt8] {
        let bytes: [UInt8]
        do throws(Errno) {
            bytes = try FileDescriptor.open(path, [.readOnly]).readToEnd(bytesMax: bytesMax)
        } catch .fileTooLarge {
            throw ImageError(
                .limitExceeded, "\(path) has more than \(bytesMax) bytes",
                details: ["limit": "\(bytesMax)"])
        } catch {
            throw ImageError(
                .invalidRequest, "\(path) cannot be read (\(error)): \(advice(error))")
        }
        if bytes.isEmpty { throw ImageError(.invalidRequest, "\(path) is empty") }
        return bytes
    }

    private static func advice(_ error: Errno) -> String {
        switch error {
        case .noSuchFile, .notDirectory:
            "look at its name with ls, or give - and the bytes by a pipe"
        case .isDirectory: "it is a directory; name a file in it"
        case .accessDenied, .notPermitted:
            "name a file that user \(CurrentProcess.userID) may read"
        default: "copy it elsewhere, and name the copy"
        }
    }
}
