import ImageModel
import Imagebus
import Linux
import Messages

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
            let (counts, token, isCancelled) = try run(options, urls, client, interruption)
            try tell(counts, token: token, options)
            return isCancelled ? ErrorCode.cancelled.rule.exitStatus : 0
        } catch {
            Terminal.complain("prefetch", error)
            return error.exitStatus
        }
    }

    /// Waits for the end. A first Ctrl-C cancels, a second does not even wait for that.
    private static func run(
        _ options: PrefetchOptions, _ urls: [String], _ client: StackClient,
        _ interruption: Interruption
    ) throws(ImageError) -> (PrefetchCounts, token: String, isCancelled: Bool) {
        let completion: Completion<PrefetchCounts>
        do throws(Errno) {
            completion = try Completion()
        } catch {
            throw ImageError(.internalError, "no descriptor is left (\(error))")
        }
        let bar = options.progress.showsBar ? ProgressBar() : nil
        defer { bar?.end() }
        let running = client.prefetch(
            urls, like: options.template, priority: options.priority,
            concurrency: options.concurrency, progress: bar, into: completion)
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
        return (try value.get(), running.token.value.hex, cancelledAt != nil)
    }

    private static func tell(
        _ counts: PrefetchCounts, token: String, _ options: PrefetchOptions
    ) throws(ImageError) {
        guard options.printsJSON else {
            let rest = counts.cancelled > 0 ? ", cancelled \(counts.cancelled)" : ""
            Terminal.out("finished \(counts.finished), skipped \(counts.skipped)\(rest)\n")
            return
        }
        guard let text = try? JSONText.text(PrefetchAnswer(counts, token: token)) else {
            throw ImageError(.internalError, "the counts cannot be written as JSON")
        }
        Terminal.out(text)
    }

    private static let cancelled = ImageError(.cancelled, "cancelled")
}
