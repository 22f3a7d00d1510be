import ImageModel
import Linux

/// `imagebus get`: one request.
enum GetCommand {
    private static let doneStatus: Int32 = 0

    static func run(_ options: GetOptions) -> Int32 {
        let report = GetReport(options: options)
        let start = MonotonicClock.now()
        var token: String?
        do throws(ImageError) {
            // Before anything is started for it.
            if !options.readsStandardInput { _ = try SourceURL(options.request.url) }
            let interruption = try Interruption.started()
            let upload = try options.readsStandardInput ? StandardInput.read(interruption) : nil
            let stack = try OpenStack(options.stack, interruption)
            defer { stack.end(interruption) }
            if !stack.isOwn { warn(options.stack) }
            let load = try LoadRun(options, stack, uploading: upload)
            token = load.token
            do throws(ImageError) {
                let image = try load.wait(interruption)
                try write(image, options.target)
                report.tell(image, token: load.token)
            } catch {
                // The cached image is there all the same; the exit status is that of the error.
                guard let cached = load.cached else { throw error }
                try write(cached, options.target)
                report.tell(error, keeping: cached, token: load.token)
                return error.exitStatus
            }
            return doneStatus
        } catch {
            let spent = Double(MonotonicClock.now() - start) / 1e6
            report.tell(error, token: token, totalMilliseconds: spent)
            return error.exitStatus
        }
    }

    /// Some options are for a stack that is started.
    private static func warn(_ options: StackOptions) {
        if options.network != NetworkOptions() {
            Terminal.error(
                "imagebus get: the running stack decides which addresses it reaches; "
                    + "--private starts one that obeys --allow-… and --ca-file\n")
        }
        if options.configurationFile != nil {
            Terminal.error(
                "imagebus get: the running stack has a configuration of its own; "
                    + "--private starts one that obeys --config\n")
        }
    }

    private static func write(
        _ image: LoadedImage, _ target: GetOptions.OutputTarget
    ) throws(ImageError) {
        guard !image.isMiss else { return }
        switch target {
        case .none: break
        case .file(let path):
            try image.withBytes { (bytes) throws(ImageError) in
                try OutputFile.write(bytes, to: path)
            }
        case .standardOutput:
            do throws(Errno) {
                try image.withBytes { (bytes) throws(Errno) in
                    try FileDescriptor.writeAll(bytes, to: 1)
                }
            } catch {
                throw ImageError(.internalError, "standard output cannot be written (\(error))")
            }
        }
    }
}
