import ImageModel
import Imagebus
import Messages
import Reporting
import StackAccess

/// `imagebus cache`: one entry of the cache, or all of them.
enum CacheTool {
    /// Milliseconds for a put: sending, a look at the image, and the disk; also for a clear.
    private static let putMilliseconds = 35_000

    static func run(_ options: CacheOptions) -> Int32 {
        OperatorQuery.run("cache") { try text(options) }
    }

    private static func text(_ options: CacheOptions) throws -> String {
        if options.action == .remove { return try removal(options) }
        if options.action == .clear { return try clearing(options) }
        let found = try tiers(options)
        if options.stack.printsJSON {
            return try JSONText.text(CacheAnswer(key: options.key, cacheType: found.name))
        }
        return "\(found.name)\n"
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

    /// Removes all entries; the disk may have many files to let go of.
    private static func clearing(_ options: CacheOptions) throws -> String {
        let tiers = options.tiers
        let cleared = try OperatorQuery.ask(options.stack, answerMilliseconds: putMilliseconds) {
            client throws(ImageError) in try await client.clear(tiers)
        }
        if options.stack.printsJSON { return try JSONText.text(["cleared": cleared.name]) }
        return "cleared \(cleared == .all ? "memory and disk" : cleared.name)\n"
    }

    static func sentence(removed: CacheTypes) -> String {
        switch removed {
        case .none: "removed nothing: it was not there\n"
        case .all: "removed 1 entry from memory and disk\n"
        default: "removed 1 entry from \(removed.name)\n"
        }
    }

    /// The tiers that have the entry now.
    private static func tiers(_ options: CacheOptions) throws -> CacheTypes {
        let (key, cache, tiers) = (options.key, options.cache, options.tiers)
        switch options.action {
        case .contains:
            return try OperatorQuery.ask(options.stack) { client throws(ImageError) in
                try await client.contains(key, cache: cache, in: tiers)
            }
        case .remove, .clear: return .none
        case .put(let file):
            let bytes = try bytes(of: file)
            return try OperatorQuery.ask(options.stack, answerMilliseconds: putMilliseconds) {
                client throws(ImageError) in
                try await client.put(bytes, under: key, cache: cache, in: tiers)
            }
        }
    }

    private static func bytes(of file: String) throws -> [UInt8] {
        guard file == "-" else {
            return try InputFile.read(file, bytesMax: StandardInput.bytesMax)
        }
        return try StandardInput.read(try Interruption.started())
    }
}

/// What `cache` prints with `--json`.
struct CacheAnswer: Encodable {
    let key: String
    /// The tiers that have it.
    let cacheType: String
    /// The tiers that had it before `cache remove`; not there for others.
    var removed: String?
}
