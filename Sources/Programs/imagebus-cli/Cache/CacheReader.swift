import CommandLineInterface
import ImageModel
import Imagebus
import Messages
import Reporting
import StackAccess

/// `imagebus cache get`: the bytes of one entry.
enum CacheReader {
    /// No tier has the entry: as grep has it for what is not there.
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
                    "no tier has the entry: nothing was written; imagebus cache list names those "
                        + "that there are")
                return ""
            }
            return try write(found, to: file, options)
        }
        return end == 0 ? status : end
    }

    /// The bytes, out of the memory that only lives with the client, and the tier that had them.
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
