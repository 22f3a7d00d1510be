import CommandLineInterface
import ImageModel
import Imagebus
import Messages
import Reporting
import StackAccess

/// `imagebus cache`: entries of the caches, and how the caches are.
enum CacheTool {
    /// Milliseconds for what takes longer than a look: a put, with its decoder; a walk over the
    /// disk.
    static let longMilliseconds = 60_000

    static func run(_ options: CacheOptions) -> Int32 {
        if case .get(let file) = options.action { return CacheReader.run(options, file: file) }
        return OperatorQuery.run("cache") { try text(options) }
    }

    private static func text(_ options: CacheOptions) throws -> String {
        switch options.action {
        case .contains: try tell(tiersThatHave(options), options)
        case .put(let file): try tell(put(bytes(of: file), options), options)
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

    private static func tell(_ tiers: CacheTypes, _ options: CacheOptions) throws -> String {
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

    /// Removes the entry, and says which tiers had it just before.
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
        case .none: "removed nothing: it was not there\n"
        case .all: "removed 1 entry from memory and disk\n"
        default: "removed 1 entry from \(removed.name)\n"
        }
    }

    /// Removes all entries; the disk may have many files to let go of.
    private static func clearing(_ options: CacheOptions) throws -> String {
        let tiers = options.tiers
        let cleared = try OperatorQuery.ask(options.stack, answerMilliseconds: longMilliseconds) {
            client throws(ImageError) in try await client.clear(tiers)
        }
        if options.stack.printsJSON { return try JSONText.text(["cleared": cleared.name]) }
        return "cleared \(cleared == .all ? "memory and disk" : cleared.name)\n"
    }
}

/// What `cache` prints of one entry with `--json`.
struct CacheAnswer: Encodable {
    let key: String
    /// The tiers that have it.
    let cacheType: String
    /// The tiers that had it before `cache remove`; not there for others.
    var removed: String?
}
