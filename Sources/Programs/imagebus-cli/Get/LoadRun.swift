import ImageModel
import Linux
import Messages
import StackAccess

/// One request from its sending to its end, with progress and Ctrl-C.
final class LoadRun {
    private let timeoutMilliseconds: Int
    private let completion: Completion<LoadedImage>
    private let client: StackClient
    private let running: RunningLoad
    private let bar: ProgressBar?
    private let mapsUnavailable: Bool

    /// The coordinator ends the request at its deadline; this much later nothing is expected any
    /// more, such as when the coordinator is gone.
    private static let graceMilliseconds = 5_000
    /// How long a cancelled request may take to say so.
    private static let cancelMilliseconds = 2_000

    /// Connects and sends the request, with the image where that has no URL.
    init(
        _ request: ImageRequest, _ options: GetOptions, _ stack: OpenStack,
        uploading upload: [UInt8]?
    ) throws(ImageError) {
        timeoutMilliseconds = request.timeoutMilliseconds
        mapsUnavailable = stack.isWaitedFor
        do throws(Errno) {
            completion = try Completion()
        } catch {
            throw ImageError(.internalError, "no descriptor is left (\(error))")
        }
        client = try StackClient(
            stack.route, delivery: options.delivery,
            connectMilliseconds: stack.connectMilliseconds(timeoutMilliseconds))
        bar = options.progress.showsBar ? ProgressBar() : nil
        let show = bar.map { bar in { @Sendable (progress: RequestProgress) in bar.show(progress) }
        }
        running = client.load(
            request, uploading: upload, slot: options.slot, group: options.group,
            trace: options.trace, progress: show, into: completion)
    }

    deinit { client.end() }

    var token: String { running.token }

    /// What a load whose refresh failed leaves.
    var cached: LoadedImage? { running.cached }

    /// Waits for the end. A first Ctrl-C cancels, a second does not even wait for that.
    func wait(_ interruption: Interruption) throws(ImageError) -> LoadedImage {
        defer { bar?.end() }
        var isCancelled = false
        var deadline = after(milliseconds: timeoutMilliseconds + Self.graceMilliseconds)
        while completion.value == nil {
            let now = MonotonicClock.now()
            guard now < deadline else {
                running.cancel()
                throw isCancelled ? Self.cancelled : Self.deadlineExceeded
            }
            do throws(Errno) {
                let left = Int((deadline - now) / 1_000_000) + 1
                _ = try interruption.wait(for: [completion.number], milliseconds: left)
            } catch {
                throw ImageError(.internalError, "the wait for the image failed (\(error))")
            }
            if interruption.count > 1 { throw Self.cancelled }
            if interruption.count == 1, !isCancelled {
                isCancelled = true
                running.cancel()
                deadline = after(milliseconds: Self.cancelMilliseconds)
            }
        }
        guard let value = completion.value else { throw Self.cancelled }
        do throws(ImageError) {
            return try value.get()
        } catch {
            // A stack that is there, but whose coordinator does not come back in time.
            throw error.code == .unavailable && mapsUnavailable ? Self.deadlineExceeded : error
        }
    }

    private func after(milliseconds: Int) -> UInt64 {
        MonotonicClock.now() + UInt64(milliseconds) * 1_000_000
    }

    private static let cancelled = ImageError(.cancelled, "cancelled")
    private static let deadlineExceeded = ImageError(
        .deadlineExceeded, "there was no answer within the time; --timeout gives it more")
}
