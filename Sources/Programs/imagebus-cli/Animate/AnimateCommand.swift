import CommandLineInterface
import ImageModel
import Imagebus
import Linux
import StackAccess

/// `imagebus animate`: an animation of several images.
enum AnimateCommand {
    /// The animation, and the load that made it.
    private struct End: Sendable {
        let image: ImageResponse
        let token: String
    }

    static func run(_ options: AnimateOptions) -> Int32 {
        let report = GetReport(
            Command.animate.name, options.request, writingTo: options.target,
            printsJSON: options.printsJSON)
        do throws(OutputError) {
            try options.target.check()
        } catch {
            return report.tell(error)
        }
        let start = MonotonicClock.now()
        do throws(ImageError) {
            let interruption = try Interruption.started()
            let stack = try OpenStack(options.stack, interruption)
            defer { stack.end(interruption) }
            if !stack.isOwn { GetCommand.warn(options.stack, of: Command.animate.name) }
            return write(try make(options, stack, interruption), options.target, report)
        } catch {
            let spent = Double(MonotonicClock.now() - start) / 1e6
            return report.tell(error, token: nil, totalMilliseconds: spent)
        }
    }

    /// Waits for the end. A first Ctrl-C cancels, a second does not even wait for that.
    private static func make(
        _ options: AnimateOptions, _ stack: OpenStack, _ interruption: Interruption
    ) throws(ImageError) -> End {
        let completion = try Completion<End>.opened()
        let client = try stack.route.client(
            delivery: options.delivery,
            connectMilliseconds: stack.connectMilliseconds(options.request.timeoutMilliseconds))
        defer { client.end() }
        let bar = options.progress.showsBar ? ProgressBar() : nil
        defer { bar?.end() }
        completion.start { () throws(ImageError) in
            let parts = options.parts
            let file = try await client.animationFile(of: parts, loops: options.loops) {
                bar?.show($0, of: parts.count)
            }
            let task = client.load(options.request, uploading: file)
            return End(image: try await task.response, token: task.token.value.hex)
        }
        return try completion.wait(interruption, cancel: client.close)
    }

    /// The exit status.
    private static func write(
        _ end: End, _ target: GetOptions.OutputTarget, _ report: GetReport
    ) -> Int32 {
        do throws(OutputError) {
            try target.write(end.image)
            return report.tell(end.image, token: end.token)
        } catch {
            return report.tell(error, of: end.image, token: end.token)
        }
    }
}
