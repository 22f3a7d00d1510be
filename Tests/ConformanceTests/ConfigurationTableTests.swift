import TestKit
import Testing

@testable import CommandLineInterface
@testable import imagebus_cli

/// `CONFIGURATION.md` lists every field of SDWebImage's configuration objects once, with an
/// existing option and test, or with the reason why there is none.
@Suite struct ConfigurationTableTests {
    private let tests = NamedTests()

    /// The fields in the headers of SDWebImage 5.21.5, in order.
    static let fields = [
        "Cache": [
            "shouldDisableiCloud", "shouldCacheImagesInMemory", "shouldUseWeakMemoryCache",
            "shouldRemoveExpiredDataWhenEnterBackground", "shouldRemoveExpiredDataWhenTerminate",
            "diskCacheReadingOptions", "diskCacheWritingOptions", "maxDiskAge", "maxDiskSize",
            "maxMemoryCost", "maxMemoryCount", "diskCacheExpireType", "ioQueueAttributes",
            "memoryCacheClass", "diskCacheClass", "fileManager",
        ],
        "Downloader": [
            "maxConcurrentDownloads", "downloadTimeout", "minimumProgressInterval",
            "sessionConfiguration", "operationClass", "executionOrder", "urlCredential",
            "username", "password", "acceptableStatusCodes", "acceptableContentTypes",
        ],
        "Prefetcher": [
            "maxConcurrentPrefetchCount", "options", "context", "delegate", "delegateQueue",
            "manager",
        ],
    ]

    @Test(arguments: fields.keys.sorted())
    func everyFieldHasOneRow(heading: String) throws {
        let rows = DocumentTable.rows(of: "CONFIGURATION.md", below: heading)
        #expect(rows.map { $0.first } == Self.fields[heading]?.map { "`\($0)`" })
        let commands = Command.serve.definitions + Command.prefetch.definitions
        let options = Set(commands.map { "--\($0.name)" })
        for row in rows {
            try #require(row.count == 4, "\(row)")
            for name in DocumentTable.names(in: row[2]) where name.hasPrefix("--") {
                #expect(options.contains(name), "\(row[0]): no option \(name)")
            }
            for name in DocumentTable.names(in: row[3]) {
                #expect(tests.all.contains(name), "\(row[0]): no test \(name)")
            }
            if !row[2].hasPrefix("none: ") { #expect(row[3].hasPrefix("`"), "\(row[0])") }
        }
    }
}
