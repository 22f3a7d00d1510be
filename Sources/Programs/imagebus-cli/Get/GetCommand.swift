import CommandLineInterface
import ImageModel
import Imagebus
import Linux
import StackAccess

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
            return report.tell(error)
        }
        let start = MonotonicClock.now()
        var token: String?
        do throws(ImageError) {
            // Before anything is started for it.
            if !options.readsStandardInput { try check(options.request.url) }
            let interruption = try Interruption.started()
            let upload = try options.readsStandardInput ? StandardInput.read(interruption) : nil
            let stack = try OpenStack(options.stack, interruption)
            defer { stack.end(interruption) }
            if !stack.isOwn { warn(options.stack) }
            let partials = report.partials
            var attempt = try Attempt(options.request, options, stack, upload, partials)
            token = attempt.load.token
            while true {
                switch try end(attempt, options, report, interruption) {
                case .status(let status): return status
                case .again(let request):
                    attempt = try Attempt(request, options, stack, upload, partials)
                    token = attempt.load.token
                }
            }
        } catch {
            let spent = Double(MonotonicClock.now() - start) / 1e6
            return report.tell(error, token: token, totalMilliseconds: spent)
        }
    }

    /// One load of what is asked for.
    private struct Attempt {
        let request: ImageRequest
        let load: LoadRun

        init(
            _ request: ImageRequest, _ options: GetOptions, _ stack: OpenStack,
            _ upload: [UInt8]?, _ partials: PartialFiles?
        ) throws(ImageError) {
            self.request = request
            load = try LoadRun(request, options, stack, uploading: upload, showing: partials)
        }
    }

    /// A file is no URL, and is read by another operand.
    static func check(_ url: String) throws(ImageError) {
        do throws(ImageError) {
            _ = try SourceURL(url)
        } catch {
            throw ImageError(
                error.code,
                error.message + "; name a URL such as https://example.com/photo.jpg, or give an "
                    + "image in a file as imagebus get - <FILE", details: error.details)
        }
    }

    private enum End {
        case status(Int32)
        /// The image is of another format than the name of its file says.
        case again(ImageRequest)
    }

    /// Waits for the image, writes it and tells of it.
    private static func end(
        _ attempt: Attempt, _ options: GetOptions, _ report: GetReport,
        _ interruption: Interruption
    ) throws(ImageError) -> End {
        let load = attempt.load
        do throws(ImageError) {
            let image = try load.wait(interruption)
            if let request = try correction(of: attempt.request, for: image, options) {
                return .again(request)
            }
            let status = write(image, options.target, load, report) {
                report.tell(image, token: load.token)
            }
            return .status(status)
        } catch {
            // The cached image is there all the same; the exit status is that of the error.
            guard let cached = load.cached,
                (try? correction(of: attempt.request, for: cached, options)) == .some(nil)
            else { throw error }
            let failure = error
            let status = write(cached, options.target, load, report) {
                report.tell(failure, keeping: cached, token: load.token)
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

    /// Some options are for a stack that is started.
    static func warn(_ options: StackOptions, of command: String = "get") {
        let config = OptionDefinition.config.name
        if !options.ofPrivateStack.subtracting([config]).isEmpty {
            Terminal.error(
                "imagebus \(command): the running stack decides which addresses it reaches; "
                    + "--private starts one that obeys --allow-… and --ca-file\n")
        }
        if options.ofPrivateStack.contains(config) {
            Terminal.error(
                "imagebus \(command): the running stack has a configuration of its own; "
                    + "--private starts one that obeys --config\n")
        }
    }

    /// The exit status of what is told then, or of an image that cannot be written.
    private static func write(
        _ image: ImageResponse, _ target: GetOptions.OutputTarget, _ load: LoadRun,
        _ report: GetReport, then tell: () -> Int32
    ) -> Int32 {
        do throws(OutputError) {
            try target.write(image)
            if let failure = report.partials?.failure { throw failure }
            return tell()
        } catch {
            return report.tell(error, of: image, token: load.token)
        }
    }
}
