import ImageModel
import Linux
import Messages
import SharedArena
import Supervision

/// Asks a coordinator for its status.
enum StatusQuery {
    /// Throws `unavailable` where nobody answers within the time.
    static func report(
        _ options: StatusOptions, milliseconds: Int
    ) throws(ImageError) -> StatusReport {
        let paths = try options.paths()
        if options.endpoint == nil, (try? StackLock.isHeld(in: paths.root)) == false {
            throw ImageError(
                .unavailable,
                "no stack runs in \(paths.root): start one with imagebus serve, or name another "
                    + "with --runtime-dir")
        }
        let client = try StackClient(
            paths, asOperator: true, connectMilliseconds: milliseconds)
        let value: Result<StatusReport, ImageError>?
        do throws(Errno) {
            let completion = try Completion<StatusReport>()
            client.status(into: completion)
            _ = try ReadinessPoll.wait([completion.number], milliseconds: milliseconds)
            value = completion.value
        } catch {
            throw ImageError(.internalError, "the wait for the status failed (\(error))")
        }
        if let value { return try value.get() }
        throw ImageError(
            .unavailable,
            "the coordinator at \(paths.adminEndpoint) does not answer within \(milliseconds) ms")
    }
}
