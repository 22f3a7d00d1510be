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
            var urls = options.urls
            if let file = options.file { urls += try URLList.read(file, interruption) }
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
            return report(try run(options, urls, client, interruption), options)
        } catch {
            Terminal.complain("prefetch", error)
            return error.exitStatus
        }
    }

    /// How a prefetch ended.
    private struct End {
        let counts: PrefetchCounts
        let failures: [PrefetchFailure]
        let token: String
        let isCancelled: Bool

        /// That of the first failure, where there is one.
        var exitStatus: Int32 {
            if isCancelled { return ErrorCode.cancelled.rule.exitStatus }
            guard counts.skipped > 0 else { return 0 }
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
            counts: counts, failures: task.failures, token: task.token.value.hex,
            isCancelled: interruption.count > 0)
    }

    /// Prints counts and failures; the exit status.
    private static func report(_ end: End, _ options: PrefetchOptions) -> Int32 {
        let counts = end.counts
        if options.printsJSON {
            let answer = PrefetchAnswer(counts, end.failures, token: end.token)
            // Numbers and texts are always JSON.
            let text = (try? JSONText.text(answer)) ?? ""
            return Terminal.finish("prefetch", text, status: end.exitStatus)
        }
        for line in lines(end.failures, of: counts.skipped) { Terminal.complain("prefetch", line) }
        let rest = counts.cancelled > 0 ? ", cancelled \(counts.cancelled)" : ""
        let text = "finished \(counts.finished), skipped \(counts.skipped)\(rest)\n"
        return Terminal.finish("prefetch", text, status: end.exitStatus)
    }

    /// A line for each of the first failures. Who reads along sees nothing secret: no user info,
    /// and no query.
    static func lines(_ failures: [PrefetchFailure], of skipped: Int) -> [String] {
        let shown = failures.prefix(linesMax)
        var lines = shown.map { failure in
            let url = (try? SourceURL(failure.url))?.forLogs ?? "a text that is no URL"
            let status = failure.error.details["httpStatus"].map { " httpStatus=\($0)" } ?? ""
            return "\(url): \(failure.error)\(status)"
        }
        if skipped > shown.count { lines.append("and \(skipped - shown.count) more failed") }
        return lines
    }

    private static let linesMax = 10
}
