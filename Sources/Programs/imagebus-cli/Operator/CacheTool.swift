import CommandLineInterface
import Imagebus
import Linux
import Model
import Reporting

/// `imagebus cache`: manages cache entries and reports the state of the caches.
enum CacheTool {
    /// The timeout in milliseconds for actions that take longer than a lookup: storing, which
    /// involves a decoder, and walking the disk.
    static let longMilliseconds = 60_000

    static func run(_ options: CacheOptions) throws -> Int32 {
        if options.action == .get { return try CacheReader.run(options) }
        return try answer(options).print("cache", asJSON: options.stack.printsJSON)
    }

    private static func answer(_ options: CacheOptions) throws -> OperatorAnswer {
        switch options.action {
        case .contains:
            let tiers = try OperatorQuery.ask(options.stack) { client throws(ImageError) in
                try await client.contains(options.key, cache: options.cache, in: options.tiers)
            }
            return OperatorAnswer(entry(options, in: tiers), "\(tiers.name)\n")
        case .put:
            let tiers = try put(bytes(of: options.file), options)
            return OperatorAnswer(entry(options, in: tiers), "\(tiers.name)\n")
        case .remove where options.hasKey: return try removal(options)
        case .remove: return try selectedRemoval(options, verb: "removed")
        case .clear where options.cache == nil: return try clearing(options)
        case .clear: return try selectedRemoval(options, verb: "cleared")
        case .list:
            let page = try walk(options) { client throws(ImageError) in
                try await pages(client, options)
            }
            return OperatorAnswer(object(page), table(page))
        case .count: return try counting(options) { "\($0.entries)" }
        case .size: return try counting(options) { ByteText.text($0.bytes) }
        case .trim:
            let page = try walk(options) { client throws(ImageError) in
                try await client.trim(options.tiers)
            }
            return OperatorAnswer(counts(page), sentence(page, options.tiers, verb: "trimmed"))
        case .stats:
            let report = try StatusCommand.report(options.stack)
            return OperatorAnswer(CacheMetrics.object(report), CacheMetrics.text(report))
        case .get: throw ImageError(.internalError, "get prints no answer")
        }
    }

    // MARK: - One entry

    /// The answer for one entry, with the tiers that have it.
    static func entry(_ options: CacheOptions, in tiers: CacheTypes) -> JSONObject {
        ["key": options.key, "cacheType": tiers.name]
    }

    private static func put(_ bytes: [UInt8], _ options: CacheOptions) throws -> CacheTypes {
        let data = try options.extendedData?.data()
        return try OperatorQuery.ask(options.stack, answerMilliseconds: longMilliseconds) {
            client throws(ImageError) in
            try await client.put(
                bytes, under: options.key, cache: options.cache, in: options.tiers,
                tags: options.tags, extendedData: data)
        }
    }

    private static func bytes(of file: String) throws -> [UInt8] {
        guard file == "-" else {
            return try InputFile.read(file, bytesMax: StandardInput.bytesMax)
        }
        return try StandardInput.read(try Interruption())
    }

    /// Removes an entry; reports which tiers had it immediately before.
    private static func removal(_ options: CacheOptions) throws -> OperatorAnswer {
        let removed = try OperatorQuery.ask(options.stack) { client throws(ImageError) in
            let found = try await client.contains(
                options.key, cache: options.cache, in: options.tiers)
            try await client.remove(options.key, cache: options.cache, from: options.tiers)
            return found
        }
        return OperatorAnswer(
            ["key": options.key, "cacheType": CacheTypes.none.name, "removed": removed.name],
            sentence(removed: removed))
    }

    static func sentence(removed: CacheTypes) -> String {
        switch removed {
        case .none: "nothing removed: no such entry\n"
        case .all: "removed 1 entry from memory and disk\n"
        default: "removed 1 entry from \(removed.name)\n"
        }
    }

    // MARK: - Several entries

    /// Removes all entries; there may be many files to delete.
    private static func clearing(_ options: CacheOptions) throws -> OperatorAnswer {
        let cleared = try OperatorQuery.ask(options.stack, answerMilliseconds: longMilliseconds) {
            client throws(ImageError) in try await client.clear(options.tiers)
        }
        return OperatorAnswer(
            ["cleared": cleared.name],
            "cleared \(cleared == .all ? "memory and disk" : cleared.name)\n")
    }

    private static func selectedRemoval(
        _ options: CacheOptions, verb: String
    ) throws -> OperatorAnswer {
        let activity = QueryActivity()
        let bar = ProgressBar(linesOf: Terminal.errorIsTerminal ? nil : "cache")
        defer { bar.end() }
        let page = try walk(options, activity) { client throws(ImageError) in
            try await client.remove(options.selection, from: options.tiers) { page in
                activity.note()
                bar.show(ProgressBar.text(page))
            }
        }
        return OperatorAnswer(counts(page), sentence(page, options.tiers, verb: verb))
    }

    /// Describes what was removed; an entry in both tiers counts in both.
    static func sentence(_ page: EntryPage, _ tiers: CacheTypes, verb: String) -> String {
        let parts = counts(page, tiers).map { tier, count in
            "\(count.entries) from \(tier) (\(ByteText.text(count.bytes)))"
        }
        return "\(verb) \(parts.joined(separator: ", "))\n"
    }

    private static func counting(
        _ options: CacheOptions, _ value: (EntryCount) -> String
    ) throws -> OperatorAnswer {
        let page = try walk(options) { client throws(ImageError) in
            try await client.count(options.selection, in: options.tiers)
        }
        let lines = counts(page, options.tiers).map { "\($0) \(value($1))\n" }
        return OperatorAnswer(counts(page), lines.joined())
    }

    private static func counts(
        _ page: EntryPage, _ tiers: CacheTypes
    ) -> [(tier: String, count: EntryCount)] {
        [(CacheTypes.memory, page.memory), (.disk, page.disk)]
            .filter { tiers.contains($0.0) }.map { ($0.0.name, $0.1) }
    }

    /// The number and size of entries by tier.
    private static func counts(_ page: EntryPage) -> JSONObject {
        func tier(_ count: EntryCount) -> JSONObject {
            ["entries": count.entries, "bytes": count.bytes]
        }
        return ["memory": tier(page.memory), "disk": tier(page.disk)]
    }

    // MARK: - Lists

    /// Loads as many pages as needed, because a message has a limited number of entries.
    private static func pages(
        _ client: OperatorClient, _ options: CacheOptions
    ) async throws(ImageError) -> EntryPage {
        var all = EntryPage(next: options.after)
        while true {
            let page = try await client.entries(
                of: options.selection, in: options.tiers, after: all.next,
                limit: options.limit - all.entries.count)
            all.entries += page.entries
            all.next = page.next
            if page.next == 0 || all.entries.count >= options.limit { return all }
        }
    }

    /// The output of `cache list --json`. Dates are in milliseconds since 1970; that of the last
    /// access is 0 in the memory tier, which doesn't record it.
    static func object(_ page: EntryPage) -> JSONObject {
        let entries = page.entries.map { (entry) -> JSONObject in
            [
                "key": entry.key, "cache": name(of: entry), "tier": entry.tier.name,
                "bytes": entry.bytes, "format": entry.format.name, "width": entry.size.width,
                "height": entry.size.height, "storedAt": entry.storedMilliseconds,
                "accessedAt": entry.accessedMilliseconds,
            ]
        }
        // The value for `--after` to continue; null if the list is complete.
        let next = page.next == 0 ? nil : "\(page.next)"
        return ["entries": entries, "next": next]
    }

    private static func name(of entry: EntryDescription) -> String {
        entry.cache.isEmpty ? "default" : entry.cache
    }

    static func table(_ page: EntryPage) -> String {
        guard !page.entries.isEmpty else { return "no matching entries\n" }
        let hasNames = page.entries.contains { !$0.cache.isEmpty }
        let header = ["KEY"] + (hasNames ? ["CACHE"] : []) + ["TIER", "BYTES", "FORMAT", "SIZE"]
        let rows: [[TextTable.Cell]] = page.entries.map { entry in
            [entry.key] + (hasNames ? [name(of: entry)] : [])
                + [entry.tier.name, entry.bytes, entry.format.name, entry.size]
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

/// `imagebus cache get`: writes the bytes of an entry.
enum CacheReader {
    /// The exit status if no tier has the entry, as in grep if nothing is found.
    private static let missStatus: Int32 = 1

    static func run(_ options: CacheOptions) throws -> Int32 {
        let found = try entry(options)
        if found == nil, !options.stack.printsJSON {
            Terminal.complain(
                "cache",
                "no tier has the entry: nothing was written; imagebus cache list shows the entries")
            return missStatus
        }
        let status = Terminal.finish(
            "cache",
            try found.map { try write($0, options) }
                ?? JSONText.text(CacheTool.entry(options, in: .none)))
        return found == nil && status == 0 ? missStatus : status
    }

    /// Returns a copy of the bytes, because the mapped memory is only valid while the client
    /// exists, and the tier that had them.
    private static func entry(_ options: CacheOptions) throws -> (bytes: [UInt8], tier: CacheTypes)?
    {
        try OperatorQuery.ask(options.stack, answerMilliseconds: CacheTool.longMilliseconds) {
            client throws(ImageError) in
            let found = try await client.entry(
                options.key, cache: options.cache, in: options.tiers)
            guard let found, let bytes = found.bytes else { return nil }
            return (bytes.array, found.cacheType)
        }
    }

    private static func write(
        _ found: (bytes: [UInt8], tier: CacheTypes), _ options: CacheOptions
    ) throws -> String {
        if options.file == "-" {
            try found.bytes.span.bytes.withUnsafeBytes { (bytes) throws(OutputError) in
                try Terminal.put(bytes)
            }
            return ""
        }
        try OutputFile(options.file).write(found.bytes)
        if options.stack.printsJSON {
            return try JSONText.text(CacheTool.entry(options, in: found.tier))
        }
        return "\(found.bytes.count) bytes from \(found.tier.name)\n"
    }
}
