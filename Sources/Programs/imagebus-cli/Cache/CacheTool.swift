import ImageModel
import Messages

/// `imagebus cache`: one entry of the cache.
enum CacheTool {
    static func run(_ options: CacheOptions) -> Int32 {
        OperatorQuery.run("cache") { try text(options) }
    }

    private static func text(_ options: CacheOptions) throws -> String {
        let (key, cache, tiers) = (options.key, options.cache, options.tiers)
        let found: CacheTypes
        switch options.action {
        case .contains:
            found = try OperatorQuery.ask(options.stack) { client throws(ImageError) in
                try await client.contains(key, cache: cache, in: tiers)
            }
        case .remove:
            try OperatorQuery.ask(options.stack) { client throws(ImageError) in
                try await client.remove(key, cache: cache, from: tiers)
            }
            found = .none
        }
        if options.stack.printsJSON {
            return try JSONText.text(CacheAnswer(key: key, cacheType: found.name))
        }
        return options.action == .contains ? "\(found.name)\n" : ""
    }
}

/// What `cache contains --json` prints.
struct CacheAnswer: Encodable {
    let key: String
    /// The tiers that have it.
    let cacheType: String
}
