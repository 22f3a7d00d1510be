import CommandLineInterface
import Imagebus
import Linux
import Model
import Reporting
import Synchronization

/// `imagebus cache`: manages cache entries and reports the state of the caches.
enum CacheTool {
    /// The timeout in milliseconds for actions that take longer than a lookup: storing, which
    /// involves a decoder, and walking the disk.
    static let longMilliseconds = 60_000

    static func run(_ options: CacheOptions) -> Int32 {
        if case .get(let file) = options.action { return CacheReader.run(options, file: file) }
        return OperatorQuery.run("cache") { try text(options) }
    }

    private static func text(_ options: CacheOptions) throws -> String {
        switch options.action {
        case .contains: try describe(tiersThatHave(options), options)
        case .put(let file): try describe(put(bytes(of: file), options), options)
        case .remove: try removal(options)
        case .clear: try clearing(options)
        case .clearCache, .removeSelected: try selectedRemoval(options)
        case .list: try list(options)
        case .count: try counting(options) { "\($0.entries)" }
        case .size: try counting(options) { ByteText.text($0.bytes) }
        case .trim: try trimming(options)
        case .stats: try statistics(options)
        case .get: ""
        }
    }

    // MARK: - One entry

    private static func describe(_ tiers: CacheTypes, _ options: CacheOptions) throws -> String {
        guard options.stack.printsJSON else { return "\(tiers.name)\n" }
        return try JSONText.text(CacheAnswer(key: options.key, cacheType: tiers.name))
    }

    private static func tiersThatHave(_ options: CacheOptions) throws -> CacheTypes {
        let (key, cache, tiers) = (options.key, options.cache, options.tiers)
        return try OperatorQuery.ask(options.stack) { client throws(ImageError) in
            try await client.contains(key, cache: cache, in: tiers)
        }
    }

    private static func put(_ bytes: [UInt8], _ options: CacheOptions) throws -> CacheTypes {
        let (key, cache, tiers) = (options.key, options.cache, options.tiers)
        let (tags, data) = (options.tags, try options.extendedData?.data())
        return try OperatorQuery.ask(options.stack, answerMilliseconds: longMilliseconds) {
            client throws(ImageError) in
            try await client.put(
                bytes, under: key, cache: cache, in: tiers, tags: tags, extendedData: data)
        }
    }

    private static func bytes(of file: String) throws -> [UInt8] {
        guard file == "-" else {
            return try InputFile.read(file, bytesMax: StandardInput.bytesMax)
        }
        return try StandardInput.read(try Interruption.started())
    }

    /// Removes an entry; reports which tiers had it immediately before.
    private static func removal(_ options: CacheOptions) throws -> String {
        let (key, cache, tiers) = (options.key, options.cache, options.tiers)
        let removed = try OperatorQuery.ask(options.stack) { client throws(ImageError) in
            let found = try await client.contains(key, cache: cache, in: tiers)
            try await client.remove(key, cache: cache, from: tiers)
            return found
        }
        if options.stack.printsJSON {
            return try JSONText.text(
                CacheAnswer(key: key, cacheType: CacheTypes.none.name, removed: removed.name))
        }
        return sentence(removed: removed)
    }

    static func sentence(removed: CacheTypes) -> String {
        switch removed {
        case .none: "nothing removed: no such entry\n"
        case .all: "removed 1 entry from memory and disk\n"
        default: "removed 1 entry from \(removed.name)\n"
        }
    }

    /// Removes all entries; there may be many files to delete.
    private static func clearing(_ options: CacheOptions) throws -> String {
        let tiers = options.tiers
        let cleared = try OperatorQuery.ask(options.stack, answerMilliseconds: longMilliseconds) {
            client throws(ImageError) in try await client.clear(tiers)
        }
        if options.stack.printsJSON { return try JSONText.text(["cleared": cleared.name]) }
        return "cleared \(cleared == .all ? "memory and disk" : cleared.name)\n"
    }
}

/// The output of `cache --json` for one entry.
struct CacheAnswer: Encodable {
    let key: String
    /// The tiers that have it.
    let cacheType: String
    /// The tiers that had it before `cache remove`; absent for other actions.
    var removed: String?
}

// Actions on several entries selected by their properties.
extension CacheTool {
    static func selectedRemoval(_ options: CacheOptions) throws -> String {
        let (selection, tiers) = (options.selection, options.tiers)
        let (activity, display) = (QueryActivity(), RemovalDisplay())
        defer { display.end() }
        let page = try walk(options, activity) { client throws(ImageError) in
            try await client.remove(selection, from: tiers) { page in
                activity.note()
                display.show(page)
            }
        }
        display.end()
        return try describe(
            page, options, verb: options.action == .clearCache ? "cleared" : "removed")
    }

    static func trimming(_ options: CacheOptions) throws -> String {
        let tiers = options.tiers
        let page = try walk(options) { client throws(ImageError) in try await client.trim(tiers) }
        return try describe(page, options, verb: "trimmed")
    }

    private static func describe(
        _ page: EntryPage, _ options: CacheOptions, verb: String
    ) throws -> String {
        if options.stack.printsJSON { return try JSONText.text(CacheCounts(page)) }
        return sentence(page, options.tiers, verb: verb)
    }

    /// Describes what was removed; an entry in both tiers counts in both.
    static func sentence(_ page: EntryPage, _ tiers: CacheTypes, verb: String) -> String {
        let parts = counts(page, tiers).map { tier, count in
            "\(count.entries) from \(tier) (\(ByteText.text(count.bytes)))"
        }
        return "\(verb) \(parts.joined(separator: ", "))\n"
    }

    static func counting(
        _ options: CacheOptions, _ value: (EntryCount) -> String
    ) throws -> String {
        let (selection, tiers) = (options.selection, options.tiers)
        let page = try walk(options) { client throws(ImageError) in
            try await client.count(selection, in: tiers)
        }
        if options.stack.printsJSON { return try JSONText.text(CacheCounts(page)) }
        return counts(page, tiers).map { "\($0) \(value($1))\n" }.joined()
    }

    private static func counts(
        _ page: EntryPage, _ tiers: CacheTypes
    ) -> [(tier: String, count: EntryCount)] {
        [(CacheTypes.memory, page.memory), (.disk, page.disk)]
            .filter { tiers.contains($0.0) }.map { ($0.0.name, $0.1) }
    }

    // MARK: - Lists

    static func list(_ options: CacheOptions) throws -> String {
        let (selection, tiers, wanted) = (options.selection, options.tiers, options.page)
        let page = try walk(options) { client throws(ImageError) in
            try await pages(client, selection, tiers, wanted)
        }
        if options.stack.printsJSON { return try JSONText.text(CacheList(page)) }
        return table(page)
    }

    /// Loads as many pages as needed, because a message has a limited number of entries.
    private static func pages(
        _ client: OperatorClient, _ selection: EntrySelection, _ tiers: CacheTypes,
        _ wanted: CachePageOptions
    ) async throws(ImageError) -> EntryPage {
        var all = EntryPage(next: wanted.after)
        while true {
            let page = try await client.entries(
                of: selection, in: tiers, after: all.next,
                limit: wanted.limit - all.entries.count)
            all.entries += page.entries
            all.next = page.next
            if page.next == 0 || all.entries.count >= wanted.limit { return all }
        }
    }

    static func table(_ page: EntryPage) -> String {
        guard !page.entries.isEmpty else { return "no matching entries\n" }
        let hasNames = page.entries.contains { !$0.cache.isEmpty }
        let header = ["KEY"] + (hasNames ? ["CACHE"] : []) + ["TIER", "BYTES", "FORMAT", "SIZE"]
        let rows = page.entries.map { entry in
            [entry.key] + (hasNames ? [entry.cache.isEmpty ? "default" : entry.cache] : []) + [
                entry.tier.name, "\(entry.bytes)", entry.format.name,
                "\(entry.size.width)x\(entry.size.height)",
            ]
        }
        let more = page.next == 0 ? "" : "more entries: --after \(page.next)\n"
        return TextTable.text(header, rows) + more
    }

    private static func walk(
        _ options: CacheOptions, _ activity: QueryActivity? = nil,
        _ question: @escaping @Sendable (OperatorClient) async throws(ImageError) -> EntryPage
    ) throws -> EntryPage {
        try OperatorQuery.ask(
            options.stack, milliseconds: longMilliseconds, answerMilliseconds: longMilliseconds,
            activity: activity, question)
    }
}

/// The number and size of entries by tier, as JSON.
struct CacheCounts: Encodable {
    struct Tier: Encodable {
        let entries: UInt64
        let bytes: UInt64

        init(_ count: EntryCount) { (entries, bytes) = (count.entries, count.bytes) }
    }

    let memory: Tier
    let disk: Tier

    init(_ page: EntryPage) { (memory, disk) = (Tier(page.memory), Tier(page.disk)) }
}

/// The output of `cache list --json`.
struct CacheList: Encodable {
    struct Entry: Encodable {
        let key: String
        /// `default`, or the name of the cache.
        let cache: String
        let tier: String
        let bytes: UInt64
        let format: String
        let width: Int
        let height: Int
        /// Milliseconds since 1970.
        let storedAt: UInt64
        /// Milliseconds since 1970, as recorded on disk; 0 for the memory tier, which doesn't
        /// record it.
        let accessedAt: UInt64
    }

    let entries: [Entry]
    /// The value for `--after` to continue; null if the list is complete.
    let next: String?

    init(_ page: EntryPage) {
        entries = page.entries.map { entry in
            Entry(
                key: entry.key, cache: entry.cache.isEmpty ? "default" : entry.cache,
                tier: entry.tier.name, bytes: entry.bytes, format: entry.format.name,
                width: entry.size.width, height: entry.size.height,
                storedAt: entry.storedMilliseconds, accessedAt: entry.accessedMilliseconds)
        }
        next = page.next == 0 ? nil : "\(page.next)"
    }

    private enum CodingKeys: String, CodingKey { case entries, next }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(entries, forKey: .entries)
        try values.encode(next, forKey: .next)
    }
}

// The state of the caches.
extension CacheTool {
    static func statistics(_ options: CacheOptions) throws -> String {
        let report = try OperatorQuery.ask(options.stack) { client throws(ImageError) in
            try await client.status()
        }
        return options.stack.printsJSON
            ? try JSONText.text(CacheMetrics.object(report)) : CacheMetrics.text(report)
    }
}

/// `imagebus cache get`: writes the bytes of an entry.
enum CacheReader {
    /// The exit status if no tier has the entry, as in grep if nothing is found.
    private static let missStatus: Int32 = 1

    static func run(_ options: CacheOptions, file: String) -> Int32 {
        var status: Int32 = 0
        let end = OperatorQuery.run("cache") {
            guard let found = try entry(options) else {
                status = missStatus
                if options.stack.printsJSON {
                    return try JSONText.text(
                        CacheAnswer(key: options.key, cacheType: CacheTypes.none.name))
                }
                Terminal.complain(
                    "cache",
                    "no tier has the entry: nothing was written; imagebus cache list shows the "
                        + "entries")
                return ""
            }
            return try write(found, to: file, options)
        }
        return end == 0 ? status : end
    }

    /// Returns a copy of the bytes, because the mapped memory is only valid while the client
    /// exists, and the tier that had them.
    private static func entry(_ options: CacheOptions) throws -> (bytes: [UInt8], tier: CacheTypes)?
    {
        let (key, cache, tiers) = (options.key, options.cache, options.tiers)
        return try OperatorQuery.ask(
            options.stack, answerMilliseconds: CacheTool.longMilliseconds
        ) { client throws(ImageError) in
            guard let found = try await client.entry(key, cache: cache, in: tiers),
                let bytes = found.bytes
            else { return nil }
            return (bytes.array, found.cacheType)
        }
    }

    private static func write(
        _ found: (bytes: [UInt8], tier: CacheTypes), to file: String, _ options: CacheOptions
    ) throws -> String {
        if file == "-" {
            try found.bytes.span.bytes.withUnsafeBytes { (bytes) throws(OutputError) in
                try Terminal.put(bytes)
            }
            return ""
        }
        try OutputFile.write(found.bytes, to: file)
        if options.stack.printsJSON {
            return try JSONText.text(CacheAnswer(key: options.key, cacheType: found.tier.name))
        }
        return "\(found.bytes.count) bytes from \(found.tier.name)\n"
    }
}

/// Shows the progress of a removal in steps on standard error: on a terminal as one line that is
/// redrawn, otherwise as one line per second. Can be used from any thread.
final class RemovalDisplay: Sendable {
    private let bar = Terminal.errorIsTerminal ? ProgressBar() : nil
    private let shownAt = Mutex<UInt64?>(nil)
    private static let pauseNanoseconds: UInt64 = 1_000_000_000

    func show(_ page: EntryPage) {
        if let bar { return bar.show(page) }
        let now = MonotonicClock.now()
        let isDue = shownAt.withLock { shownAt in
            if let shown = shownAt, now - shown < Self.pauseNanoseconds { return false }
            shownAt = now
            return true
        }
        if isDue { Terminal.error("imagebus cache: \(Self.text(page))\n") }
    }

    func end() { bar?.end() }

    static func text(_ page: EntryPage) -> String {
        let examined = page.total == 0 ? "\(page.examined)" : "\(page.examined) of \(page.total)"
        return "removed \(page.disk.entries), examined \(examined)"
    }
}
