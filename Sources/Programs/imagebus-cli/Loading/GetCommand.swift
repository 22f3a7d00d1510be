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
        let report = GetReport(options)
        return report.run {
            try options.target.check()
            report.partials = try options.partialsDirectory.map { try PartialFiles(in: $0) }
            // Check before starting anything.
            if !options.readsStandardInput { try check(options.request.url) }
            let interruption = try Interruption()
            let upload = try options.readsStandardInput ? StandardInput.read(interruption) : nil
            let stack = try OpenStack(options.stack, interruption, for: "get")
            defer { stack.end(interruption) }
            var request = options.request
            while true {
                let load = try LoadRun(
                    request, options, stack, uploading: upload, showing: report.partials)
                // Its client keeps the image's memory mapped.
                defer { withExtendedLifetime(load) {} }
                report.token = load.token
                let (image, failure) = try load.end(interruption) {
                    (try? correction(of: request, for: $0, options)) == .some(nil)
                }
                if failure == nil, let next = try correction(of: request, for: image, options) {
                    // Its format differs from that of the file name, so it has to be loaded again.
                    (request, report.earlier) = (next, ImageProvenance(of: image))
                    continue
                }
                return try report.write(image, keptAfter: failure)
            }
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

    private static func correction(
        of request: ImageRequest, for image: ImageResponse, _ options: GetOptions
    ) throws(ImageError) -> ImageRequest? {
        guard let path = options.namedFile, let format = image.info?.format, !image.isMiss else {
            return nil
        }
        return try OutputName.correction(of: request, for: format, writingTo: path)
    }
}

/// One request, from sending it to its end, with progress and Ctrl-C.
final class LoadRun {
    private let request: ImageRequest
    private let completion: Completion<ImageResponse>
    private let client: ImagebusClient
    private let task: LoadTask
    private let bar: ProgressBar?
    private let mapsUnavailable: Bool

    /// How long to wait beyond the request's deadline, in milliseconds. The coordinator normally
    /// ends the request at the deadline; it may have gone away.
    private static let graceMilliseconds = 5_000

    /// Connects and sends the request, with the image if it has no URL.
    init(
        _ request: ImageRequest, _ options: GetOptions, _ stack: OpenStack,
        uploading upload: [UInt8]?, showing partials: PartialFiles? = nil
    ) throws(ImageError) {
        self.request = request
        mapsUnavailable = stack.isWaitedFor
        completion = try Completion()
        client = try stack.client(
            delivery: options.delivery, timeout: request.timeoutMilliseconds)
        bar = options.progress.showsBar ? ProgressBar() : nil
        let wantsProgress = bar != nil
        let task =
            if let upload {
                client.load(
                    request, uploading: upload, group: options.group,
                    wantsProgress: wantsProgress, trace: options.trace)
            } else {
                client.load(
                    request, slot: options.slot, group: options.group,
                    wantsProgress: wantsProgress, wantsInfo: options.partialsDirectory != nil,
                    trace: options.trace)
            }
        self.task = task
        let events = partials.map { _ in task.events }
        completion.start { () throws(ImageError) in
            if let partials, let events { await partials.write(events) }
            return try await task.response
        }
        guard let bar else { return }
        Task.detached {
            for await step in task.progress { bar.show(ProgressBar.text(step)) }
        }
    }

    deinit { client.end() }

    var token: String { task.token.value.hex }

    /// Waits for the image. The first Ctrl-C cancels; a second one also stops waiting. If only the
    /// refresh of a cached image failed, returns that image if it `isSuitable`, and the error.
    func end(
        _ interruption: Interruption, _ isSuitable: (ImageResponse) -> Bool
    ) throws(ImageError) -> (image: ImageResponse, failure: ImageError?) {
        defer { bar?.end() }
        do throws(ImageError) {
            return (
                try completion.wait(
                    interruption, atMost: request.timeoutMilliseconds + Self.graceMilliseconds,
                    cancel: task.cancel), nil
            )
        } catch {
            // The stack is running, but its coordinator does not come back in time.
            let isUnanswered = error.code == .unavailable && mapsUnavailable
            let failure = isUnanswered ? ImageError.noAnswer : error
            if let cached = task.cachedResponse, isSuitable(cached) { return (cached, failure) }
            throw failure
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
        try InputFile.read("standard input", bytesMax: bytesMax) { () throws(Errno) in
            try readToEnd(interruption)
        }
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

/// A status line on standard error that is redrawn repeatedly and erased at the end, or lines of a
/// command, one per second. Can be used from any thread.
final class ProgressBar: Sendable {
    private struct State {
        var isOver = false
        var drawnAt: UInt64 = 0
    }

    private let state = Mutex(State())
    /// `nil` for one line that is redrawn.
    private let command: String?
    private static let width = 30
    private static let wipe = "\r\u{1B}[K"

    init(linesOf command: String? = nil) { self.command = command }

    /// Draws the line unless it was drawn very recently or the display has ended.
    func show(_ text: @autoclosure () -> String) {
        let now = MonotonicClock.now()
        state.withLock { state in
            let pause: UInt64 = command == nil ? 50_000_000 : 1_000_000_000
            guard !state.isOver, now - state.drawnAt >= pause else { return }
            state.drawnAt = now
            if let command { return Terminal.complain(command, text()) }
            Terminal.control(2, Self.wipe + text())
        }
    }

    /// Erases the line and ends the display.
    func end() {
        state.withLock { state in
            if command == nil, state.drawnAt > 0, !state.isOver { Terminal.control(2, Self.wipe) }
            state.isOver = true
        }
    }

    /// Formats the progress of a removal.
    static func text(_ page: EntryPage) -> String {
        let examined = page.total == 0 ? "\(page.examined)" : "\(page.examined) of \(page.total)"
        return "removed \(page.disk.entries), examined \(examined)"
    }

    static func text(_ progress: RequestProgress) -> String {
        let received = ByteText.text(progress.received)
        guard progress.expected > 0 else { return received }
        let part = min(1, Double(progress.received) / Double(progress.expected))
        return "\(bar(part)) \(Int(part * 100))% of \(ByteText.text(progress.expected))"
    }

    static func text(_ counts: PrefetchCounts) -> String {
        let failed = counts.skipped > 0 ? ", failed \(counts.skipped)" : ""
        return text(counts.finished, of: counts.total) + failed
    }

    /// Formats how many of several parts are complete.
    static func text(_ done: Int, of total: Int) -> String {
        "\(bar(Double(done) / Double(max(1, total)))) \(done) of \(total)"
    }

    private static func bar(_ part: Double) -> String {
        let full = Int(part * Double(width))
        return "[" + String(repeating: "#", count: full)
            + String(repeating: ".", count: width - full) + "]"
    }
}
