import CommandLineInterface
import ImageModel
import Imagebus
import Linux
import Messages
import Reporting
import StackAccess

/// `imagebus prefetch`: a list of URLs into the caches.
enum PrefetchTool {
    /// How long a cancelled prefetch may take to say so.
    private static let cancelMilliseconds = 2_000

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
            let client = try StackClient(
                stack.route,
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

    /// Waits for the end. A first Ctrl-C cancels, a second does not even wait for that.
    private static func run(
        _ options: PrefetchOptions, _ urls: [String], _ client: StackClient,
        _ interruption: Interruption
    ) throws(ImageError) -> End {
        let completion: Completion<PrefetchCounts>
        do throws(Errno) {
            completion = try Completion()
        } catch {
            throw ImageError(.internalError, "no descriptor is left (\(error))")
        }
        let bar = options.progress.showsBar ? ProgressBar() : nil
        let show = bar.map { bar in { @Sendable (counts: PrefetchCounts) in bar.show(counts) } }
        defer { bar?.end() }
        let running = client.prefetch(
            urls, like: options.template, priority: options.priority,
            concurrency: options.concurrency, progress: show, into: completion)
        var cancelledAt: UInt64?
        while completion.value == nil {
            let waited = cancelledAt.map { Int((MonotonicClock.now() - $0) / 1_000_000) }
            if waited ?? 0 >= cancelMilliseconds || interruption.count > 1 { throw cancelled }
            do throws(Errno) {
                _ = try interruption.wait(
                    for: [completion.number],
                    milliseconds: waited.map { cancelMilliseconds - $0 + 1 })
            } catch {
                throw ImageError(.internalError, "the wait for the end failed (\(error))")
            }
            if interruption.count == 1, cancelledAt == nil {
                cancelledAt = MonotonicClock.now()
                running.cancel()
            }
        }
        guard let value = completion.value else { throw cancelled }
        return End(
            counts: try value.get(), failures: running.failures, token: running.token.value.hex,
            isCancelled: cancelledAt != nil)
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

    private static let cancelled = ImageError(.cancelled, "cancelled")
}
