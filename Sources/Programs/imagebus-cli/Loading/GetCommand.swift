import CommandLineInterface
import Imagebus
import Linux
import Model
import Reporting
import Synchronization

/// `imagebus get`: one request.
enum GetCommand {
    static func run(_ options: GetOptions) -> Int32 {
        if let directory = options.framesDirectory {
            return FramesCommand.run(options, into: directory)
        }
        if options.shows { return ShowCommand.run(options) }
        var report = GetReport(options: options)
        do throws(OutputError) {
            try options.target.check()
            report.partials = try options.partialsDirectory.map { (directory) throws(OutputError) in
                try PartialFiles(in: directory)
            }
        } catch {
            return report.write(error)
        }
        let start = MonotonicClock.now()
        var token: String?
        do throws(ImageError) {
            // Check before starting anything.
            if !options.readsStandardInput { try check(options.request.url) }
            let interruption = try Interruption.started()
            let upload = try options.readsStandardInput ? StandardInput.read(interruption) : nil
            let stack = try OpenStack(options.stack, interruption)
            defer { stack.end(interruption) }
            if !stack.isOwn { warn(options.stack) }
            var request = options.request
            while true {
                let load = try LoadRun(
                    request, options, stack, uploading: upload, showing: report.partials)
                token = load.token
                switch try end(load, options, report, interruption) {
                case .status(let status): return status
                case .again(let next, let provenance):
                    (request, report.earlier) = (next, provenance)
                }
            }
        } catch {
            let spent = Double(MonotonicClock.now() - start) / 1e6
            return report.write(error, token: token, totalMilliseconds: spent)
        }
    }

    /// Checks a URL. A file is not a URL and must be passed as a different operand.
    static func check(_ url: String) throws(ImageError) {
        do throws(ImageError) {
            _ = try SourceURL(url)
        } catch {
            var failure = ImageError(
                error.code,
                advising: error.message + "; pass a URL such as https://example.com/photo.jpg, or "
                    + "pipe an image: imagebus get - <FILE")
            failure.typedDetails = error.typedDetails
            throw failure
        }
    }

    private enum End {
        case status(Int32)
        /// The image's format differs from that of the file name, so it has to be loaded again;
        /// with the provenance of the image so far.
        case again(ImageRequest, ImageProvenance)
    }

    /// Waits for the image, writes it and reports the result.
    private static func end(
        _ load: LoadRun, _ options: GetOptions, _ report: GetReport,
        _ interruption: Interruption
    ) throws(ImageError) -> End {
        do throws(ImageError) {
            let image = try load.wait(interruption)
            if let request = try correction(of: load.request, for: image, options) {
                return .again(request, ImageProvenance(of: image))
            }
            let status = write(image, options.target, load, report) {
                report.write(image, token: load.token)
            }
            return .status(status)
        } catch {
            // The cached image is still written; the exit status is that of the error.
            guard let cached = load.cached,
                (try? correction(of: load.request, for: cached, options)) == .some(nil)
            else { throw error }
            let failure = error
            let status = write(cached, options.target, load, report) {
                report.write(failure, keeping: cached, token: load.token)
            }
            return .status(status)
        }
    }

    private static func correction(
        of request: ImageRequest, for image: ImageResponse, _ options: GetOptions
    ) throws(ImageError) -> ImageRequest? {
        guard let path = options.namedFile, let format = image.info?.format, !image.isMiss else {
            return nil
        }
        return try OutputName.correction(of: request, for: format, writingTo: path)
    }

    /// Warns about options that only affect a stack started for this command.
    static func warn(_ options: StackOptions, of command: String = "get") {
        let config: Set = [OptionDefinition.config.name]
        let ignored =
            (options.ofPrivateStack.isSubset(of: config) ? [] : ["--allow-… and --ca-file"])
            + (options.ofPrivateStack.isDisjoint(with: config) ? [] : ["configuration"])
        for name in ignored {
            Terminal.complain(
                command,
                "the running stack uses its own \(name); pass --private to start one with yours")
        }
    }

    /// Writes an image; returns the exit status of the subsequent report, or of the output error.
    private static func write(
        _ image: ImageResponse, _ target: GetOptions.OutputTarget, _ load: LoadRun,
        _ report: GetReport, then finish: () -> Int32
    ) -> Int32 {
        do throws(OutputError) {
            try target.write(image)
            if let failure = report.partials?.failure { throw failure }
            return finish()
        } catch {
            return report.write(error, of: image, token: load.token)
        }
    }
}

/// One request, from sending it to its end, with progress and Ctrl-C.
final class LoadRun {
    let request: ImageRequest
    private let completion: Completion<ImageResponse>
    private let client: ImagebusClient
    private let task: LoadTask
    private let bar: ProgressBar?
    /// The partial images shown before the end.
    let partials: PartialFiles?
    private let mapsUnavailable: Bool

    /// How long to wait beyond the request's deadline, in milliseconds. The coordinator normally
    /// ends the request at the deadline; it may have gone away.
    private static let graceMilliseconds = 5_000

    /// Connects and sends the request, with the image if it has no URL.
    init(
        _ request: ImageRequest, _ options: GetOptions, _ stack: OpenStack,
        uploading upload: [UInt8]?, showing partials: PartialFiles? = nil
    ) throws(ImageError) {
        (self.request, self.partials) = (request, partials)
        mapsUnavailable = stack.isWaitedFor
        completion = try .opened()
        client = try stack.client(
            delivery: options.delivery, timeout: request.timeoutMilliseconds)
        bar = options.progress.showsBar ? ProgressBar() : nil
        let task = Self.begin(
            request, options, client, uploading: upload, wantsProgress: bar != nil)
        self.task = task
        let events = partials.map { _ in task.events }
        completion.start { () throws(ImageError) in
            if let partials, let events { await partials.write(events) }
            return try await task.response
        }
        if let bar { Task.detached { for await step in task.progress { bar.show(step) } } }
    }

    deinit { client.end() }

    private static func begin(
        _ request: ImageRequest, _ options: GetOptions, _ client: ImagebusClient,
        uploading upload: [UInt8]?, wantsProgress: Bool
    ) -> LoadTask {
        guard let upload else {
            return client.load(
                request, slot: options.slot, group: options.group, wantsProgress: wantsProgress,
                wantsInfo: options.partialsDirectory != nil, trace: options.trace)
        }
        return client.load(
            request, uploading: upload, group: options.group, wantsProgress: wantsProgress,
            trace: options.trace)
    }

    var token: String { task.token.value.hex }

    /// The cached image of a load whose refresh failed.
    var cached: ImageResponse? { task.cachedResponse }

    /// Waits for the result. The first Ctrl-C cancels; a second one also stops waiting.
    func wait(_ interruption: Interruption) throws(ImageError) -> ImageResponse {
        defer { bar?.end() }
        do throws(ImageError) {
            return try completion.wait(
                interruption, atMost: request.timeoutMilliseconds + Self.graceMilliseconds,
                cancel: task.cancel)
        } catch {
            // The stack is running, but its coordinator does not come back in time.
            throw error.code == .unavailable && mapsUnavailable ? .noAnswer : error
        }
    }
}

/// The image read by `get -`.
enum StandardInput {
    /// The coordinator's default upload limit in bytes.
    static let bytesMax = 64 << 20
    private static let chunkBytes = 1 << 16

    /// Reads to the end of file or until Ctrl-C, before a stack is contacted or started.
    ///
    /// Throws `invalidRequest` if there is no input, and `limitExceeded` as soon as it exceeds
    /// `bytesMax`.
    static func read(_ interruption: Interruption) throws(ImageError) -> [UInt8] {
        let bytes: [UInt8]
        do throws(Errno) {
            bytes = try readToEnd(interruption)
        } catch .interrupted {
            throw ImageError(.cancelled, "cancelled")
        } catch .fileTooLarge {
            throw ImageError(
                .limitExceeded, "standard input is larger than \(bytesMax) bytes"
            ) { $0.limit = "\(bytesMax)" }
        } catch {
            throw ImageError(.invalidRequest, "standard input cannot be read (\(error))")
        }
        if bytes.isEmpty { throw ImageError(.invalidRequest, "standard input is empty") }
        return bytes
    }

    /// Throws `interrupted` after Ctrl-C and `fileTooLarge` beyond `bytesMax`.
    private static func readToEnd(_ interruption: Interruption) throws(Errno) -> [UInt8] {
        // Duplicates the descriptor, so that closing the duplicate leaves standard input open.
        let first = FileDescriptor(owning: 0)
        let input = try first.duplicate()
        _ = first.relinquish()
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: chunkBytes, alignment: 16)
        defer { chunk.deallocate() }
        var bytes: [UInt8] = []
        while true {
            let ready = try interruption.wait(for: [input.number], milliseconds: nil)
            if interruption.count > 0 { throw .interrupted }
            if ready.isEmpty { continue }
            let count = try input.read(into: chunk)
            if count == 0 { return bytes }
            bytes += chunk[..<count]
            if bytes.count > bytesMax { throw .fileTooLarge }
        }
    }
}

/// A status line on standard error that is redrawn repeatedly and erased at the end. Can be used
/// from any thread.
final class ProgressBar: Sendable {
    private struct State {
        var isOver = false
        var drawnAt: UInt64 = 0
    }

    private let state = Mutex(State())
    private static let width = 30
    private static let pauseNanoseconds: UInt64 = 50_000_000
    private static let wipe = "\r\u{1B}[K"

    func show(_ progress: RequestProgress) { show(Self.text(progress)) }

    func show(_ counts: PrefetchCounts) { show(Self.text(counts)) }

    /// Shows how many of several parts are complete.
    func show(_ done: Int, of total: Int) { show(Self.text(done, of: total)) }

    /// Shows the progress of a removal, in examined entries.
    func show(_ removal: EntryPage) { show(RemovalDisplay.text(removal)) }

    /// Draws the line unless it was drawn very recently or the display has ended.
    private func show(_ text: @autoclosure () -> String) {
        let now = MonotonicClock.now()
        state.withLock { state in
            guard !state.isOver, now - state.drawnAt >= Self.pauseNanoseconds else { return }
            state.drawnAt = now
            Terminal.control(2, Self.wipe + text())
        }
    }

    /// Erases the line and ends the display.
    func end() {
        state.withLock { state in
            if state.drawnAt > 0, !state.isOver { Terminal.control(2, Self.wipe) }
            state.isOver = true
        }
    }

    static func text(_ progress: RequestProgress) -> String {
        let received = ByteText.text(progress.received)
        guard progress.expected > 0 else { return received }
        let part = min(1, Double(progress.received) / Double(progress.expected))
        return "\(bar(part)) \(Int(part * 100))% of \(ByteText.text(progress.expected))"
    }

    static func text(_ counts: PrefetchCounts) -> String {
        let part = Double(counts.finished) / Double(max(1, counts.total))
        let failed = counts.skipped > 0 ? ", failed \(counts.skipped)" : ""
        return "\(bar(part)) \(counts.finished) of \(counts.total)\(failed)"
    }

    static func text(_ done: Int, of total: Int) -> String {
        "\(bar(Double(done) / Double(max(1, total)))) \(done) of \(total)"
    }

    private static func bar(_ part: Double) -> String {
        let full = Int(part * Double(width))
        return "[" + String(repeating: "#", count: full)
            + String(repeating: ".", count: width - full) + "]"
    }
}
