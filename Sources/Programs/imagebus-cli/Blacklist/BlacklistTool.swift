import ImageModel
import Imagebus
import Messages
import Reporting
import StackAccess

/// `imagebus blacklist`: what the stack does not try, and taking it off the list.
enum BlacklistTool {
    static func run(_ options: BlacklistOptions) -> Int32 {
        OperatorQuery.run("blacklist") { try text(options) }
    }

    private static func text(_ options: BlacklistOptions) throws -> String {
        switch options.action {
        case .list:
            let entries = try OperatorQuery.ask(options.stack) {
                client throws(ImageError) in try await all(client)
            }
            return options.stack.printsJSON
                ? try JSONText.text(BlacklistAnswer(entries)) : table(entries)
        case .remove(let url): return try removed(.remove(url: url), options)
        case .clear: return try removed(.clear, options)
        }
    }

    /// A message holds only so many: page after page.
    private static func all(_ client: ImagebusClient) async throws(ImageError)
        -> [BlacklistReport.Entry]
    {
        var entries: [BlacklistReport.Entry] = []
        while true {
            let page = try await client.blacklist(.list(after: entries.last?.number ?? 0))
            entries += page.entries
            guard page.hasMore, !page.entries.isEmpty else { return entries }
        }
    }

    private static func removed(
        _ command: BlacklistCommand, _ options: BlacklistOptions
    ) throws -> String {
        let report = try OperatorQuery.ask(options.stack) {
            client throws(ImageError) in try await client.blacklist(command)
        }
        if options.stack.printsJSON {
            return try JSONText.text(["removed": report.removed])
        }
        return report.removed == 0 ? "nothing was on the list\n" : "removed \(report.removed)\n"
    }

    static func table(_ entries: [BlacklistReport.Entry]) -> String {
        guard !entries.isEmpty else { return "nothing is on the list\n" }
        return TextTable.text(
            ["URL", "OPERATION", "REASON", "FOR"],
            entries.map {
                [
                    $0.url, $0.operation, $0.reason.rule.name,
                    $0.expiresInMilliseconds == 0
                        ? "ever" : StatusTable.duration($0.expiresInMilliseconds),
                ]
            })
    }
}

/// What `blacklist list --json` prints.
struct BlacklistAnswer: Encodable {
    struct Entry: Encodable {
        let url: String
        let operation: String
        let reason: String
        /// 0: never.
        let expiresInMilliseconds: UInt64
    }

    let entries: [Entry]

    init(_ entries: [BlacklistReport.Entry]) {
        self.entries = entries.map {
            Entry(
                url: $0.url, operation: $0.operation, reason: $0.reason.rule.name,
                expiresInMilliseconds: $0.expiresInMilliseconds)
        }
    }
}
