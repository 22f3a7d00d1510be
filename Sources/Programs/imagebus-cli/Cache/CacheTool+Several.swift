import CommandLineInterface
import ImageModel
import Imagebus
import Messages
import Reporting
import StackAccess

// Several entries at a time, by what they are.
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
        return try tell(
            page, options, verb: options.action == .clearCache ? "cleared" : "removed")
    }

    static func trimming(_ options: CacheOptions) throws -> String {
        let tiers = options.tiers
        let page = try walk(options) { client throws(ImageError) in try await client.trim(tiers) }
        return try tell(page, options, verb: "trimmed")
    }

    private static func tell(
        _ page: EntryPage, _ options: CacheOptions, verb: String
    ) throws -> String {
        if options.stack.printsJSON { return try JSONText.text(CacheCounts(page)) }
        return sentence(page, options.tiers, verb: verb)
    }

    /// What is gone; an entry that was in both tiers counts in both.
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

    /// A message holds only so many entries: page after page, until there are enough.
    private static func pages(
        _ client: ImagebusClient, _ selection: EntrySelection, _ tiers: CacheTypes,
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
        guard !page.entries.isEmpty else { return "there are no such entries\n" }
        let hasNames = page.entries.contains { !$0.cache.isEmpty }
        let header = ["KEY"] + (hasNames ? ["CACHE"] : []) + ["TIER", "BYTES", "FORMAT", "SIZE"]
        let rows = page.entries.map { entry in
            [entry.key] + (hasNames ? [entry.cache.isEmpty ? "default" : entry.cache] : []) + [
                entry.tier.name, "\(entry.bytes)", entry.format.name,
                "\(entry.size.width)x\(entry.size.height)",
            ]
        }
        let more = page.next == 0 ? "" : "there are more: --after \(page.next)\n"
        return TextTable.text(header, rows) + more
    }

    private static func walk(
        _ options: CacheOptions, _ activity: QueryActivity? = nil,
        _ question: @escaping @Sendable (ImagebusClient) async throws(ImageError) -> EntryPage
    ) throws -> EntryPage {
        try OperatorQuery.ask(
            options.stack, milliseconds: longMilliseconds, answerMilliseconds: longMilliseconds,
            activity: activity, question)
    }
}

/// Entries and bytes by tier, as JSON.
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

/// What `cache list --json` prints.
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
        /// The same, as far as the disk knows; memory does not say: 0.
        let accessedAt: UInt64
    }

    let entries: [Entry]
    /// What `--after` takes to go on; null: that was all.
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
