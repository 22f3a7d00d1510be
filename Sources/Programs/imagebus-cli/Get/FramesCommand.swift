import CommandLineInterface
import ImageModel
import Imagebus
import Linux
import StackAccess

/// `imagebus get --frames`: every frame of an animation as a file of its own.
enum FramesCommand {
    /// Frames that are loaded at a time.
    private static let framesAtATime = 4
    /// Digits of a frame's number in the name of its file, at least.
    private static let digits = 4

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
        do throws(OutputError) {
            try make(directory)
            try OutputFile.check(name(of: 0, in: directory, .png))
        } catch {
            return report.tell(error)
        }
        do throws(ImageError) {
            try GetCommand.check(options.request.url)
            let interruption = try Interruption.started()
            let stack = try OpenStack(options.stack, interruption)
            defer { stack.end(interruption) }
            if !stack.isOwn { GetCommand.warn(options.stack) }
            let end = try load(options, into: directory, stack, interruption)
            if let failure = end.failure { return report.tell(failure) }
            return FramesReport(end, in: directory, milliseconds: spent).tell(options)
        } catch {
            return report.tell(error, token: nil, totalMilliseconds: spent)
        }
    }

    /// The directory itself is made, none above it.
    private static func make(_ directory: String) throws(OutputError) {
        do throws(Errno) {
            try FileDescriptor.makeDirectory(path: directory, mode: 0o777)
        } catch .fileExists {
            return
        } catch {
            throw OutputError(destination: directory, reason: error, wasOpened: false)
        }
    }

    /// Waits until all frames are written. A first Ctrl-C cancels, a second does not even wait for
    /// that.
    private static func load(
        _ options: GetOptions, into directory: String, _ stack: OpenStack,
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
            try await write(wanted, from: client, into: directory, bar)
        }
        return try completion.wait(interruption, cancel: client.close)
    }

    /// Each frame is written when it has come.
    private static func write(
        _ request: ImageRequest, from client: ImagebusClient, into directory: String,
        _ bar: ProgressBar?
    ) async throws(ImageError) -> End {
        let image = try await AnimatedImage(request, from: client)
        var end = End(image: image, files: Array(repeating: "", count: image.count))
        var written = 0
        try await image.forEachFrame(atATime: framesAtATime) { frame in
            guard let response = frame.response, let info = response.info else { return true }
            let path = name(of: frame.index, in: directory, info.format)
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

    /// `DIR/frame-0007.png`
    static func name(of index: Int, in directory: String, _ format: ImageFormat) -> String {
        let number = "\(index)"
        let zeros = String(repeating: "0", count: max(0, digits - number.count))
        let ending = format.traits.extensions.first ?? format.name
        let folder = directory.hasSuffix("/") ? directory : directory + "/"
        return "\(folder)frame-\(zeros)\(number).\(ending)"
    }
}
