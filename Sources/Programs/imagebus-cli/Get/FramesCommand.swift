import CommandLineInterface
import ImageModel
import Imagebus
import Linux
import StackAccess

/// `imagebus get --frames`: every frame of an animation as a file of its own.
enum FramesCommand {
    /// Frames that are loaded at a time.
    private static let framesAtATime = 4

    /// What came of it.
    struct End: Sendable {
        let image: AnimatedImage
        /// Files by frame; empty where one was not written.
        var files: [String]
        var bytes = 0
        var format: ImageFormat?
        var size = PixelSize(width: 0, height: 0)
        /// What kept a file from being written.
        var failure: OutputError?
    }

    static func run(_ options: GetOptions, into directory: String) -> Int32 {
        let report = GetReport(options: options)
        let start = MonotonicClock.now()
        var spent: Double { Double(MonotonicClock.now() - start) / 1e6 }
        let files: NumberedFiles
        do throws(OutputError) {
            files = try NumberedFiles("frame", in: directory, from: 0)
        } catch {
            return report.tell(error)
        }
        do throws(ImageError) {
            try GetCommand.check(options.request.url)
            let interruption = try Interruption.started()
            let stack = try OpenStack(options.stack, interruption)
            defer { stack.end(interruption) }
            if !stack.isOwn { GetCommand.warn(options.stack) }
            let end = try load(options, into: files, stack, interruption)
            if let failure = end.failure { return report.tell(failure) }
            return FramesReport(end, in: directory, milliseconds: spent).tell(options)
        } catch {
            return report.tell(error, token: nil, totalMilliseconds: spent)
        }
    }

    /// Waits until all frames are written. A first Ctrl-C cancels, a second does not even wait for
    /// that.
    private static func load(
        _ options: GetOptions, into files: NumberedFiles, _ stack: OpenStack,
        _ interruption: Interruption
    ) throws(ImageError) -> End {
        let completion = try Completion<End>.opened()
        let client = try stack.route.client(
            delivery: options.delivery,
            connectMilliseconds: stack.connectMilliseconds(options.request.timeoutMilliseconds))
        defer { client.end() }
        let bar = options.progress.showsBar ? ProgressBar() : nil
        defer { bar?.end() }
        var request = options.request
        if request.output.format == nil { request.output.format = .png }
        let wanted = request
        completion.start { () throws(ImageError) in
            try await write(wanted, from: client, into: files, bar)
        }
        return try completion.wait(interruption, cancel: client.close)
    }

    /// Each frame is written when it has come.
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
                try response.withBytes { (bytes) throws(OutputError) in
                    try OutputFile.write(bytes, to: path)
                }
            } catch {
                end.failure = error
                return false
            }
            end.files[frame.index] = path
            end.bytes += frame.memoryCost
            (end.format, end.size) = (info.format, info.size)
            written += 1
            bar?.show(written, of: image.count)
            return true
        }
        return end
    }
}
