import CommandLineInterface
import ImageModel
import Imagebus
import Messages
import Reporting
import StackAccess

/// `imagebus prefetch`: a list of URLs into the caches.
enum PrefetchTool {
    static func run(_ options: PrefetchOptions) -> Int32 {
        do throws(ImageError) {
            let interruption = try Interruption.started()
            let list = try options.file.map { (file) throws(ImageError) in
                try URLList(file, interruption)
            }
            let urls = options.urls + (list?.lines.map(\.url) ?? [])
            guard urls.count <= RequestLimits.prefetchMax else {
                throw ImageError(
                    .limitExceeded, "a prefetch has at most \(RequestLimits.prefetchMax) URLs")
            }
            let stack = try OpenStack(options.stack, interruption)
            defer { stack.end(interruption) }
            let client = try stack.route.client(
                connectMilliseconds: stack.connectMilliseconds(
                    options.template.timeoutMilliseconds))
            defer { client.end() }
            return report(try run(options, urls, client, interruption), list, options)
        } catch {
            Terminal.complain("prefetch", of: error)
            return error.exitStatus
        }
    }

    /// How a prefetch ended.
    private struct End {
        let summary: PrefetchSummary
        let failures: [PrefetchFailure]
        let token: String
        let isCancelled: Bool

        /// That of the first failure, where there is one.
        var exitStatus: Int32 {
            if isCancelled { return ErrorCode.cancelled.rule.exitStatus }
            guard summary.counts.skipped > 0 else { return 0 }
            return failures.first?.error.exitStatus ?? ErrorCode.internalError.rule.exitStatus
        }
    }

    private static func begin(
        _ options: PrefetchOptions, _ urls: [String], _ client: ImagebusClient
    ) -> PrefetchTask {
        let task = client.prefetch(
            urls, template: options.template, concurrency: options.concurrency)
        if options.priority == .normal { client.reprioritise(task, .normal) }
        return task
    }

    /// Waits for the end. A first Ctrl-C cancels, a second does not even wait for that.
    private static func run(
        _ options: PrefetchOptions, _ urls: [String], _ client: ImagebusClient,
        _ interruption: Interruption
    ) throws(ImageError) -> End {
        let completion = try Completion<PrefetchCounts>.opened()
        let bar = options.progress.showsBar ? ProgressBar() : nil
        defer { bar?.end() }
        let task = begin(options, urls, client)
        completion.start { () throws(ImageError) in try await task.result }
        if let bar { Task.detached { for await counts in task.progress { bar.show(counts) } } }
        let counts = try completion.wait(interruption, cancel: task.cancel)
        return End(
            summary: PrefetchSummary(counts: counts, ends: task.ends), failures: task.failures,
            token: task.token.value.hex, isCancelled: interruption.count > 0)
    }

    /// Prints counts and failures; the exit status.
    private static func report(_ end: End, _ list: URLList?, _ options: PrefetchOptions) -> Int32 {
        // What ran into a cancel did not fail for what it is.
        let faults = PrefetchFault.all(end.isCancelled ? nil : list, end.failures)
        if options.printsJSON {
            let answer = PrefetchAnswer(end.summary, faults, token: end.token)
            // Numbers and texts are always JSON.
            let text = (try? JSONText.text(answer)) ?? ""
            return Terminal.finish("prefetch", text, status: end.exitStatus)
        }
        for line in lines(faults, of: end.summary.counts.skipped) {
            Terminal.complain("prefetch", line)
        }
        for line in PrefetchFault.advice(faults) { Terminal.complain("prefetch", "next: \(line)") }
        return Terminal.finish("prefetch", end.summary.text, status: end.exitStatus)
    }

    /// A line for each of the first failures.
    static func lines(_ faults: [PrefetchFault], of skipped: Int) -> [String] {
        let shown = faults.prefix(linesMax)
        let rest = skipped - shown.count
        return shown.map(\.line)
            + (rest > 0 ? ["and \(rest) more failed; a shorter list names them"] : [])
    }

    static let linesMax = 100
}
