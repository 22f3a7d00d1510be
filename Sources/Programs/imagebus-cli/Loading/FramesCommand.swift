import CommandLineInterface
import Imagebus
import Linux
import Model
import ProcessRuntime
import Reporting
import Synchronization

/// `imagebus get --frames`: writes every frame of an animation to a file.
enum FramesCommand {
    /// The number of frames loaded concurrently.
    private static let framesAtATime = 4

    /// The result.
    struct End: Sendable {
        let image: AnimatedImage
        /// The files by frame; empty for a frame that was not written.
        var files: [String]
        var bytes = 0
        var format: ImageFormat?
        var size = PixelSize(width: 0, height: 0)
        /// The error that prevented a file from being written.
        var failure: OutputError?
    }

    static func run(_ options: GetOptions, into directory: String) -> Int32 {
        let report = GetReport(options)
        return report.run {
            let files = try NumberedFiles("frame", in: directory, from: 0)
            try GetCommand.check(options.request.url)
            let interruption = try Interruption()
            let stack = try OpenStack(options.stack, interruption, for: "get")
            defer { stack.end(interruption) }
            let end = try load(options, into: files, stack, interruption)
            if let failure = end.failure { throw failure }
            return FramesReport(
                end: end, directory: directory, milliseconds: report.milliseconds
            ).write(options)
        }
    }

    /// Waits until all frames are written. The first Ctrl-C cancels; a second one also stops
    /// waiting.
    private static func load(
        _ options: GetOptions, into files: NumberedFiles, _ stack: OpenStack,
        _ interruption: Interruption
    ) throws(ImageError) -> End {
        let client = try stack.client(
            delivery: options.delivery, timeout: options.request.timeoutMilliseconds)
        defer { client.end() }
        let bar = options.progress.showsBar ? ProgressBar() : nil
        defer { bar?.end() }
        var request = options.request
        if request.output.format == nil { request.output.format = .png }
        let wanted = request
        return try Completion.result(interruption, cancel: client.close) {
            () throws(ImageError) in try await write(wanted, from: client, into: files, bar)
        }
    }

    /// Loads the frames and writes each as it arrives.
    private static func write(
        _ request: ImageRequest, from client: ImagebusClient, into files: NumberedFiles,
        _ bar: ProgressBar?
    ) async throws(ImageError) -> End {
        let image = try await AnimatedImage(request, from: client)
        var end = End(image: image, files: Array(repeating: "", count: image.count))
        var written = 0
        try await image.forEachFrame(atATime: framesAtATime) { frame in
            guard let response = frame.response, let info = response.info else { return true }
            let path = files.path(frame.index, info.format)
            do throws(OutputError) {
                try response.write(to: path)
            } catch {
                end.failure = error
                return false
            }
            end.files[frame.index] = path
            end.bytes += frame.memoryCost
            (end.format, end.size) = (info.format, info.size)
            written += 1
            bar?.show(ProgressBar.text(written, of: image.count))
            return true
        }
        return end
    }
}

/// The output of `get --frames`, human-readable or as JSON (SEMANTICS §15.3).
struct FramesReport {
    let end: FramesCommand.End
    let directory: String
    let milliseconds: Double

    private var count: Int { end.image.count }
    /// The duration of each frame in microseconds; 0 for a still image.
    private var durations: [Int] { end.image.durations.map { Int($0 / .microseconds(1)) } }

    /// Prints the report; returns the exit status.
    func write(_ options: GetOptions) -> Int32 {
        guard options.printsJSON else { return Terminal.finish("get", summary) }
        let answer: JSONObject = [
            "status": "ok", "count": count, "durations": durations, "loops": end.image.plays,
            "width": end.size.width, "height": end.size.height, "bytes": end.bytes,
            "files": end.files, "format": end.format?.name,
        ]
        // Integers and texts can always be encoded as JSON.
        return Terminal.finish("get", (try? JSONText.text(answer)) ?? "")
    }

    private var summary: String {
        let times = durations.reduce(0, +) / 1_000
        let plays = end.image.plays
        let shown = plays == 0 ? "forever" : plays == 1 ? "once" : "\(plays) times"
        let played = count == 1 ? "a still image" : "\(count) frames of \(times) ms, \(shown)"
        let parts = [
            played, "\(end.format?.name ?? "") \(end.size)", ByteText.text(UInt64(end.bytes)),
            "\(Int(milliseconds.rounded())) ms",
        ]
        return "\(PlainText.line(directory)): \(parts.joined(separator: ", "))\n"
    }
}

/// `imagebus get --partials`: writes images of the bytes received so far to files.
final class PartialFiles: Sendable {
    struct File: Encodable, Sendable {
        let file: String
        /// The number of source bytes received.
        let arrived: UInt64
        let width: Int
        let height: Int
        /// The time since the load began.
        let milliseconds: Double
    }

    /// What happened before the end of the load.
    struct Account: Sendable {
        /// The bytes received and the milliseconds elapsed when the header was known; `nil` if it
        /// never was.
        var infoArrived: UInt64?
        var infoMilliseconds: Double?
        var files: [File] = []
        /// The error that prevented a file from being written; no file was written after it.
        var failure: OutputError?

        var object: JSONObject {
            ["infoArrived": infoArrived, "infoMilliseconds": infoMilliseconds, "files": files]
        }
    }

    private let files: NumberedFiles
    private let start = MonotonicClock.now()
    private let account = Mutex(Account())

    /// Creates the directory.
    init(in directory: String) throws(OutputError) {
        files = try NumberedFiles("partial", in: directory, from: 1)
    }

    /// The files written so far.
    var written: Account { account.withLock { $0 } }

    /// Writes the partial images of a load until it ends.
    func write(_ events: AsyncStream<LoadEvent>) async {
        for await event in events {
            do throws(OutputError) {
                try handle(event)
            } catch {
                return account.withLock { $0.failure = error }
            }
        }
    }

    private func handle(_ event: LoadEvent) throws(OutputError) {
        switch event {
        case .progress(let progress) where progress.info != nil:
            let now = milliseconds
            account.withLock { account in
                guard account.infoArrived == nil else { return }
                (account.infoArrived, account.infoMilliseconds) = (progress.received, now)
            }
        case .partial(let image): try write(image)
        case .progress, .info, .cached, .end: break
        }
    }

    private func write(_ image: ImageResponse) throws(OutputError) {
        guard let info = image.info else { return }
        let path = files.path(account.withLock { $0.files.count } + 1, info.format)
        try image.write(to: path)
        let file = File(
            file: path, arrived: image.arrivedBytes ?? 0, width: info.size.width,
            height: info.size.height, milliseconds: milliseconds)
        account.withLock { $0.files.append(file) }
    }

    private var milliseconds: Double {
        (Double(MonotonicClock.now() - start) / 1e3).rounded() / 1e3
    }
}

/// Numbered files in a directory.
struct NumberedFiles {
    private let directory: String
    private let prefix: String
    /// The minimum number of digits.
    private static let digits = 4

    /// Prepares files such as `DIR/frame-0007.png`. Creates the directory, but not its parents, and
    /// checks whether the file with the first number can be written.
    init(_ prefix: String, in directory: String, from first: Int) throws(OutputError) {
        self.directory = directory.hasSuffix("/") ? directory : directory + "/"
        self.prefix = prefix
        do throws(Errno) {
            try FileDescriptor.makeDirectory(path: directory, mode: 0o777)
        } catch .fileExists {
        } catch {
            throw OutputError(destination: directory, reason: error, wasOpened: false)
        }
        try OutputFile(path(first, .png)).check()
    }

    func path(_ number: Int, _ format: ImageFormat) -> String {
        let text = "\(number)"
        let zeros = String(repeating: "0", count: max(0, Self.digits - text.count))
        let fileExtension = format.traits.extensions.first ?? format.name
        return "\(directory)\(prefix)-\(zeros)\(text).\(fileExtension)"
    }
}
