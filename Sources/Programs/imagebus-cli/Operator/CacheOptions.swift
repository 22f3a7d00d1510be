import CommandLineInterface
import Linux
import Model

extension Command {
    static let cache = Command(
        name: "cache",
        summary: "inspect and manage the caches",
        usage: "ACTION [KEY] [FILE] [options]",
        operands: [.words(CacheOptions.actions), .free, .file],
        options: [
            (
                "selection",
                [
                    OptionDefinition(
                        "type", value: "TIER", of: .words(CacheOptions.tierNames),
                        "cache tier: memory, disk or all (all)"),
                    OptionDefinition(
                        "cache", value: "NAME",
                        "a named cache (with a KEY the default cache, else all caches)"),
                    OptionDefinition(
                        "url", value: "URL",
                        "the original of URL and all results made from it"),
                    OptionDefinition("prefix", value: "TEXT", "entries whose key starts with TEXT"),
                    OptionDefinition(
                        "tag", value: "TAG", separators: [",", " "],
                        "entries with TAG; with put: tags of the entry, replacing earlier ones "
                            + "(repeatable)"),
                    OptionDefinition(
                        "older-than", value: "TIME",
                        "entries stored at least TIME ago, such as 90s, 12h, 7d or 4w"),
                    OptionDefinition("all", "with clear: remove all entries of all caches"),
                ]
            ),
            (
                "input and output",
                [
                    OptionDefinition(
                        "limit", value: "N", "with list: maximum number of entries (1000)"),
                    OptionDefinition(
                        "after", value: "PLACE",
                        "with list: continue after PLACE, which the previous list printed"),
                    OptionDefinition(
                        "output", letter: "o", value: "FILE",
                        "with get: write the bytes to FILE; - is standard output (-)"),
                    OptionDefinition(
                        "extended-data", value: "FILE",
                        "with put: store up to \(ExtendedData.bytesMax) bytes from FILE"),
                    OptionDefinition(
                        "media-type", value: "TYPE",
                        "media type of the extended data (\(ExtendedData.unknownType))"),
                ]
            ), ("", OperatorOptions.definitions),
        ],
        notes: notes,
        examples: [
            ("imagebus cache stats", "print sizes, hits, trims and the state of the disk"),
            (
                "imagebus cache remove --url https://example.org/a.jpg",
                "remove the original and all results made from it"
            ),
            ("imagebus cache list --prefix https://example.org/ --json", "list entries of a site"),
            ("imagebus cache remove --tag shop", "remove all entries with the tag"),
            ("imagebus cache remove --older-than 30d --type disk", "remove old disk entries"),
            (
                "imagebus cache put https://example.org/a.jpg a.jpg --type disk",
                "store a file that loads use instead of downloading the URL"
            ),
        ])

    private static let notes = """
        imagebus cache stats | list | count | size | trim
        imagebus cache contains KEY | get KEY | put KEY FILE | remove [KEY]
        imagebus cache clear --all | clear --cache NAME

        KEY is the cache key printed by list and by imagebus get --json: the URL, with the steps
        inserted before its extension. contains prints the tiers that have the entry (none,
        disk, memory or all), without counting as an access. get writes the bytes as stored; it
        exits 1 if no tier has them.

        remove takes a KEY, or any combination of --url, --prefix, --tag, --older-than and
        --cache, all of which must match; --url includes entries loaded with credentials and
        those that vary by header fields. It also includes URLs that look like a variant of the
        given one, such as a-Auth(1).jpg for a.jpg. clear --all removes all entries of all
        caches, clear --cache those of one cache. Once the command returns, loads no longer find
        these entries. Loads in progress for them restart, so that stale bytes aren't stored
        after the removal. Neither command asks for confirmation. With --type memory, the disk
        keeps its entries and loads continue. External caches remove entries in steps; standard
        error shows how many were removed and examined. If an external cache fails, or Ctrl-C
        interrupts the command, the remaining entries are kept: repeat the command to continue.

        The NAME of --cache can be a composite cache of the configuration file; contains, get,
        put, remove and clear then apply to its members.

        list, count and size report the entries; an entry in both tiers counts twice. bytes is
        the size of the image in list, and the space used by the tier in count and size. stats
        is at most a second old. Its columns: OVERHEAD is the size of the index log and of
        quarantined indexes, LOST the number of damaged entries found, QUARANTINED the number of
        quarantined indexes, and SKIPPED the number of entries that the disk tier did not store.
        trim reduces both tiers to their low-water mark (serve --low-water) and removes expired
        entries.

        put stores the bytes of FILE (standard input for -) unchanged, at most 64 MiB, after a
        decoder has checked the header, and prints the tiers that have them. It exits 65 if they
        are not an image, 77 if they are too large, and 75 if no tier has space. With --type
        memory, the disk keeps its entry. A load of KEY in progress may overwrite the entry when
        it completes. The new entry has exactly the tags and extended data given with --tag and
        --extended-data.
        """
}

struct CacheOptions: Hashable {
    enum Action: String, CaseIterable {
        case stats, list, count, size, trim, contains, get, put, remove, clear

        /// The possible numbers of operands, such as KEY and FILE.
        fileprivate var operands: ClosedRange<Int> {
            switch self {
            case .contains, .get: 1...1
            case .put: 2...2
            case .remove: 0...1
            case .stats, .list, .count, .size, .trim, .clear: 0...0
            }
        }
    }

    var action: Action
    /// Empty if none is specified.
    var key: String
    var hasKey: Bool
    /// The file that `get` writes or `put` stores; `-` for standard output or input.
    var file: String
    /// The cache of the key; `nil` for the default one.
    var cache: String?
    /// The selected entries, if no key is specified.
    var selection = EntrySelection()
    /// With `list`: the maximum number of entries, and where to continue; 0 for the beginning.
    var limit: Int
    var after: UInt64
    /// The tags of the entry to store.
    var tags: [String] = []
    var extendedData: ExtendedDataFile?
    var tiers: CacheTypes
    var stack: OperatorOptions

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        stack = try OperatorOptions(read, environment: environment)
        cache = read.last("cache")
        tiers = try read.word("type", Self.offeredTiers.map { ($0.name, $0) }) ?? .all
        selection = try Self.selection(read)
        limit = try read.integer("limit", in: 1...1_000_000) ?? Self.limitDefault
        after = try read.parsed("after", as: "a PLACE printed by list") { UInt64($0) } ?? 0
        let operands = read.operands.dropFirst()
        guard let action = read.operands.first.flatMap({ Action(rawValue: $0) }),
            action.operands.contains(operands.count)
        else {
            throw UsageError(
                "expected stats, list, count, size, trim, clear --all, contains KEY, get KEY, "
                    + "put KEY FILE, remove KEY, or remove with --url, --prefix, --tag, "
                    + "--older-than or --cache")
        }
        (self.action, key, hasKey) = (action, operands.first ?? "", !operands.isEmpty)
        file =
            action == .get
            ? try read.parsed("output", OptionValue.file) ?? "-" : operands.last ?? ""
        if action == .put { (tags, selection.tag) = (try RequestReader.tags(read), nil) }
        extendedData = try ExtendedDataFile(read)
        try check(read)
    }

    /// Whether the action applies to a selection of entries.
    private var selects: Bool {
        [.list, .count, .size].contains(action) || action == .remove && !hasKey
    }

    /// Checks that all options apply to the action.
    private func check(_ read: ReadOptions) throws(UsageError) {
        // The command doesn't ask for confirmation, so `--all` is required.
        let clearsAll = action == .clear && (cache == nil || read.isSet("all"))
        guard clearsAll == read.isSet("all"), !clearsAll || cache == nil else {
            throw UsageError(
                "clear requires --all or --cache NAME, optionally with --type; remove KEY removes "
                    + "one entry")
        }
        let names = ["url", "prefix", "older-than"]
        if !selects, let name = names.first(where: { read.last($0) != nil }) {
            throw UsageError("--\(name) requires list, count, size, or remove without a KEY")
        }
        if !selects, tags.isEmpty, read.last("tag") != nil {
            throw UsageError("--tag requires list, count, size, put, or remove without a KEY")
        }
        if selects, read.entries.filter({ $0.name == "tag" }).count > 1 {
            throw UsageError("--tag: only one tag can be selected")
        }
        if action != .put, read.last("extended-data") != nil {
            throw UsageError("--extended-data and --media-type require put")
        }
        if action == .remove, !hasKey, selection.isAll {
            throw UsageError(
                "remove requires a KEY, --url, --prefix, --tag, --older-than or --cache; clear "
                    + "--all removes everything")
        }
        if action == .trim || action == .stats, cache != nil {
            throw UsageError("--cache cannot be used with trim or stats")
        }
        guard action == .list || (limit, after) == (Self.limitDefault, 0) else {
            throw UsageError("--limit and --after require list")
        }
        if action != .get, read.last("output") != nil { throw UsageError("--output requires get") }
    }

    private static func selection(_ read: ReadOptions) throws(UsageError) -> EntrySelection {
        let age = try read.parsed("older-than", as: DurationText.expected) {
            DurationText.seconds(of: $0).map { UInt64($0) }
        }
        return EntrySelection(
            cache: read.last("cache"), url: read.last("url"), prefix: read.last("prefix"),
            olderThanSeconds: age, tag: try read.parsed("tag", RequestReader.tag))
    }

    private static let limitDefault = 1_000
    private static let offeredTiers: [CacheTypes] = [.memory, .disk, .all]
    /// The values of `--type`.
    static let tierNames = offeredTiers.map(\.name)
    /// The words accepted as the first operand.
    static let actions = Action.allCases.map(\.rawValue)
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
        let type = try read.parsed("media-type", as: "a media type, such as application/json") {
            ExtendedData.isMediaType($0) ? $0 : nil
        }
        guard let path = try read.parsed("extended-data", OptionValue.path) else {
            if type != nil { throw UsageError("--media-type requires --extended-data FILE") }
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
        try read(path, bytesMax: bytesMax) { () throws(Errno) in
            try FileDescriptor.open(path, [.readOnly]).readToEnd(bytesMax: bytesMax)
        } advice: { error in
            switch error {
            case .noSuchFile, .notDirectory: ": check the name, or pass - and pipe the bytes in"
            case .isDirectory: ": it is a directory; pass a file"
            case .accessDenied, .notPermitted:
                ": pass a file that user \(CurrentProcess.userID) can read"
            default: ": copy it elsewhere and pass the copy"
            }
        }
    }

    /// Returns what `body` reads from the named input; `cancelled` if it is interrupted.
    static func read(
        _ name: String, bytesMax: Int, _ body: () throws(Errno) -> [UInt8],
        advice: (Errno) -> String = { _ in "" }
    ) throws(ImageError) -> [UInt8] {
        let bytes: [UInt8]
        do throws(Errno) {
            bytes = try body()
        } catch .interrupted {
            throw ImageError(.cancelled, "cancelled")
        } catch .fileTooLarge {
            throw ImageError(.limitExceeded, "\(name) is larger than \(bytesMax) bytes") {
                $0.limit = "\(bytesMax)"
            }
        } catch {
            throw ImageError(.invalidRequest, "\(name) cannot be read (\(error))\(advice(error))")
        }
        if bytes.isEmpty { throw ImageError(.invalidRequest, "\(name) is empty") }
        return bytes
    }
}
