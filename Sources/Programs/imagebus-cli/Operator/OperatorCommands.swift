import CommandLineInterface
import Imagebus
import Model
import Reporting

extension Command {
    static let cancel = Command(
        name: "cancel",
        summary: "cancel requests of any client",
        usage: "TOKEN | --group G [options]",
        options: [
            (
                "",
                [
                    OptionDefinition(
                        "group", value: "G", "cancel all requests of group G, 32 hex digits")
                ] + OperatorOptions.definitions
            )
        ],
        notes: """
            A token is 32 hex digits, as printed by `imagebus get --json`. The request ends with
            cancelled (2002, status 130); work that no other request needs is stopped. Cancelling a
            completed request has no effect. The printed count includes other requests cancelled at
            the same moment.
            """,
        examples: [
            ("imagebus cancel 00112233445566778899aabbccddeeff", "cancel one request"),
            ("imagebus cancel --group 00112233445566778899aabbccddeeff", "cancel a group"),
        ])
}

/// `imagebus cancel`: cancels requests of any client.
enum CancelTool {
    /// What to cancel.
    enum Target: Hashable {
        case token(Token)
        case group(GroupID)
    }

    static func target(_ read: ReadOptions) throws(UsageError) -> Target {
        let group = try read.parsed("group") { text throws(UsageError) in
            GroupID(try OptionValue.identifier(text))
        }
        switch (read.operands.count, group) {
        case (0, let group?): return .group(group)
        case (1, nil): return .token(Token(try OptionValue.identifier(read.operands[0])))
        default: throw UsageError("expected one TOKEN or --group G")
        }
    }

    /// The coordinator doesn't acknowledge this, so the change of a counter shows how many ended.
    static func answer(_ target: Target, _ stack: OperatorOptions) throws -> OperatorAnswer {
        let ended = try OperatorQuery.ask(stack) { client throws(ImageError) -> UInt64 in
            let before = try await client.status().count(counter)
            switch target {
            case .token(let token): client.cancelAny(token)
            case .group(let group): client.cancelAny(group: group)
            }
            return try await client.status().count(counter) - before
        }
        return OperatorAnswer(
            ["cancelled": ended], ended == 0 ? "no matching requests\n" : "cancelled \(ended)\n")
    }

    private static let counter = "cancelled"
}

extension Command {
    static let failureCache = Command(
        name: "failure-cache",
        formerNames: ["blacklist"],
        summary: "list and manage the failure cache",
        usage: "list | remove URL | clear [options]",
        operands: [.words(["list", "remove", "clear"]), .free],
        options: [("", OperatorOptions.definitions)],
        notes: """
            A URL that failed permanently, for example because its body is not an image, is kept in
            the failure cache for ten minutes, or as set by serve --failure-cache-seconds. Meanwhile
            loads fail with blacklisted (status 66), unless they use --option retry-failed. Content
            that crashed or hung a worker twice in a row is quarantined: loads that need it fail
            immediately with poisoned (status 65). Entries last until the coordinator exits. The
            list shows URLs without their query, as logs do; remove takes a complete URL, or a URL
            from the list, which may match several entries.
            """,
        examples: [
            ("imagebus failure-cache list", "list the entries and when they expire"),
            ("imagebus failure-cache remove https://example.org/a.jpg", "retry a URL"),
        ])
}

/// `imagebus failure-cache`: lists and removes entries of the failure cache.
enum FailureCacheTool {
    static func command(_ read: ReadOptions) throws(UsageError) -> FailureCacheCommand {
        switch (read.operands.first, read.operands.count) {
        case ("list", 1): return .list(after: 0)
        case ("clear", 1): return .clear
        case ("remove", 2): return .remove(url: read.operands[1])
        case ("remove", _): throw UsageError("remove requires one URL")
        default: throw UsageError("expected list, remove URL or clear")
        }
    }

    static func answer(
        _ command: FailureCacheCommand, _ stack: OperatorOptions
    ) throws -> OperatorAnswer {
        if case .list = command {
            let entries = try OperatorQuery.ask(stack, all)
            return OperatorAnswer(object(entries), table(entries))
        }
        let removed = try OperatorQuery.ask(stack) {
            client throws(ImageError) in try await client.failureCache(command).removed
        }
        return OperatorAnswer(
            ["removed": removed],
            removed == 0 ? "no matching entries\n" : "removed \(removed)\n")
    }

    /// Loads all pages, because a message has a limited number of entries.
    @Sendable private static func all(
        _ client: OperatorClient
    ) async throws(ImageError) -> [FailureCacheReport.Entry] {
        var entries: [FailureCacheReport.Entry] = []
        while true {
            let page = try await client.failureCache(.list(after: entries.last?.number ?? 0))
            entries += page.entries
            guard page.hasMore, !page.entries.isEmpty else { return entries }
        }
    }

    /// The output of `failure-cache list --json`. Entries that never expire have 0 milliseconds.
    static func object(_ entries: [FailureCacheReport.Entry]) -> JSONObject {
        let entries = entries.map { (entry) -> JSONObject in
            [
                "url": entry.url, "operation": entry.operation, "reason": entry.reason.rule.name,
                "expiresInMilliseconds": entry.expiresInMilliseconds,
            ]
        }
        return ["entries": entries]
    }

    static func table(_ entries: [FailureCacheReport.Entry]) -> String {
        guard !entries.isEmpty else { return "the failure cache is empty\n" }
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

extension Command {
    static let downloads = Command(
        name: "downloads",
        summary: "suspend or resume downloads",
        usage: "suspend | resume [options]",
        operands: [.words(["suspend", "resume"])],
        options: [("", OperatorOptions.definitions)],
        notes: """
            While downloads are suspended, those in progress continue and new ones are queued until
            the timeout of their request; cached images are still delivered. imagebus status and
            the metrics show that downloads are suspended. They stay suspended until imagebus
            downloads resume, or until the coordinator exits.
            """,
        examples: [
            ("imagebus downloads suspend", "during maintenance of an origin"),
            ("imagebus downloads resume", "start the queued downloads"),
        ])
}

/// `imagebus downloads`: suspends or resumes downloads.
enum DownloadsTool {
    static func command(_ read: ReadOptions) throws(UsageError) -> DownloadCommand {
        switch (read.operands.first, read.operands.count) {
        case ("suspend", 1): return .suspend
        case ("resume", 1): return .resume
        default: throw UsageError("expected suspend or resume")
        }
    }

    static func answer(
        _ command: DownloadCommand, _ stack: OperatorOptions
    ) throws -> OperatorAnswer {
        let report = try OperatorQuery.ask(stack) {
            client throws(ImageError) in try await client.downloads(command)
        }
        let fetches = report.stages.first { $0.stage == "fetch" }
        let isSuspended = report.count("downloadsSuspended") > 0
        let (waiting, running) = (fetches?.queued ?? 0, fetches?.running ?? 0)
        return OperatorAnswer(
            ["isSuspended": isSuspended, "waiting": waiting, "running": running],
            "downloads \(isSuspended ? "suspended" : "active"): \(waiting) queued, "
                + "\(running) running\n")
    }
}

extension Command {
    static let drain = Command(
        name: "drain",
        summary: "replace the processes of one kind without failing requests",
        usage: "KIND|KIND/POOL [options]",
        operands: [.words(WorkerKind.allCases.map(\.name))],
        options: [("", OperatorOptions.definitions)],
        notes: """
            KIND is coordinator, download, cache, decode or transform, and POOL one of its pools, as
            shown by imagebus status. The selected processes accept no new work, finish their jobs,
            write pending data and exit; their supervisors start replacements immediately. The
            command waits up to 8 s for the replacements, then exits with 124 and reports what is
            missing. Jobs that a process can't finish in time are restarted by another one, within
            the timeout of the request.
            """,
        examples: [
            ("imagebus drain decode", "replace all decoders, for example after an update"),
            ("imagebus drain decode/raw", "replace only the pool raw of the configuration"),
            ("imagebus drain coordinator", "clients retry with the new coordinator"),
        ])
}

/// The processes to replace: those of a kind, or of one of its pools.
struct DrainTarget: Hashable {
    var kind: WorkerKind
    /// `nil` for all pools of the kind.
    var pool: PoolName?

    init(_ kind: WorkerKind, pool: PoolName? = nil) { (self.kind, self.pool) = (kind, pool) }

    init(_ read: ReadOptions) throws(UsageError) {
        guard read.operands.count == 1 else {
            let names = WorkerKind.allCases.map(\.name).joined(separator: ", ")
            throw UsageError("expected one KIND (\(names)) or KIND/POOL, such as decode/raw")
        }
        try self.init(read.operands[0])
    }

    /// Parses `KIND` or `KIND/POOL`, as shown in the status.
    init(_ text: String) throws(UsageError) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let kind = WorkerKind(name: String(parts[0])) else {
            let names = WorkerKind.allCases.map(\.name).joined(separator: ", ")
            throw UsageError(
                "'\(parts[0])' is not one of \(names); write pools as KIND/POOL, such as "
                    + "decode/raw")
        }
        self.kind = kind
        guard parts.count == 2 else { return }
        guard kind != .coordinator, let name = PoolName(String(parts[1])) else {
            throw UsageError("'\(parts[1])' is not a valid name for a pool of \(kind.name) workers")
        }
        pool = name
    }

    /// The name in messages.
    var name: String { pool.map { "\(kind.name)/\($0)" } ?? kind.name }

    /// Whether a process is included.
    func includes(_ process: StatusReport.ProcessStatus) -> Bool {
        process.kind == kind && (pool.map { $0 == process.pool } ?? true)
    }

    /// Throws if the stack doesn't have the pool.
    func check(in report: StatusReport) throws(ImageError) {
        let pools = report.pools.filter { $0.kind == kind }.map(\.name)
        guard let pool, !pools.contains(pool) else { return }
        throw ImageError(
            .invalidRequest,
            "no pool '\(pool)' of \(kind.name) workers exists; the pools are "
                + pools.map { "\(kind.name)/\($0)" }.joined(separator: ", "))
    }
}

/// `imagebus drain`: replaces the processes of a kind, or of one of its pools.
enum DrainTool {
    /// The timeout for the whole operation in milliseconds (SEMANTICS §14.10).
    private static let limitMilliseconds = 8_000
    private static let pause = Duration.milliseconds(20)

    static func answer(_ target: DrainTarget, _ stack: OperatorOptions) throws -> OperatorAnswer {
        let replaced = try OperatorQuery.ask(
            stack, milliseconds: limitMilliseconds + OperatorQuery.answerMilliseconds
        ) { client throws(ImageError) in try await replace(target, client) }
        var answer: JSONObject = ["kind": target.kind.name, "replaced": replaced]
        answer["pool"] = target.pool?.text
        return OperatorAnswer(answer, sentence(target, replaced: replaced))
    }

    private static func replace(
        _ target: DrainTarget, _ client: OperatorClient
    ) async throws(ImageError) -> Int {
        let before = try await client.status()
        try target.check(in: before)
        let notified = Int(try await client.drain(target.kind, pool: target.pool))
        let clock = ContinuousClock()
        let deadline = clock.now.advanced(by: .milliseconds(limitMilliseconds))
        while true {
            let missing = missing(target, notified: notified, before, try await client.status())
            if missing == 0 { return notified }
            guard clock.now < deadline else {
                throw ImageError(
                    .deadlineExceeded,
                    advising:
                        "\(missing) of \(notified) \(target.name) processes were not replaced "
                        + "within \(limitMilliseconds / 1_000) s; check imagebus status")
            }
            // Ends early only if the task is canceled, and then no one waits for it.
            try? await Task.sleep(for: pause)
        }
    }

    /// Returns how many of the drained processes are still running or have no replacement yet.
    static func missing(
        _ target: DrainTarget, notified: Int, _ before: StatusReport, _ now: StatusReport
    ) -> Int {
        let rows = now.processes.filter(target.includes)
        let old = before.processes.filter(target.includes)
        if target.kind == .coordinator {
            return rows.map(\.restarts) == old.map(\.restarts) ? notified : 0
        }
        let leaving = rows.count { $0.state == "draining" }
        let wanted = old.count { $0.state != "draining" }
        return min(notified, max(leaving, wanted - (rows.count - leaving)))
    }

    static func sentence(_ target: DrainTarget, replaced: Int) -> String {
        switch replaced {
        case 0: "no \(target.name) process is running\n"
        case 1: "replaced 1 \(target.name) process\n"
        default: "replaced \(replaced) \(target.name) processes\n"
        }
    }
}
