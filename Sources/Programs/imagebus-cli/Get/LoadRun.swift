import ImageModel
import Imagebus
import Messages
import StackAccess

/// One request from its sending to its end, with progress and Ctrl-C.
final class LoadRun {
    private let timeoutMilliseconds: Int
    private let completion: Completion<ImageResponse>
    private let client: ImagebusClient
    private let task: LoadTask
    private let bar: ProgressBar?
    /// What is shown before the end.
    let partials: PartialFiles?
    private let mapsUnavailable: Bool

    /// The coordinator ends the request at its deadline; this much later nothing is expected any
    /// more, such as when the coordinator is gone.
    private static let graceMilliseconds = 5_000

    /// Connects and sends the request, with the image where that has no URL.
    init(
        _ request: ImageRequest, _ options: GetOptions, _ stack: OpenStack,
        uploading upload: [UInt8]?, showing partials: PartialFiles? = nil
    ) throws(ImageError) {
        self.partials = partials
        timeoutMilliseconds = request.timeoutMilliseconds
        mapsUnavailable = stack.isWaitedFor
        completion = try .opened()
        client = try stack.route.client(
            delivery: options.delivery,
            connectMilliseconds: stack.connectMilliseconds(timeoutMilliseconds))
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

    /// What a load whose refresh failed leaves.
    var cached: ImageResponse? { task.cachedResponse }

    /// Waits for the end. A first Ctrl-C cancels, a second does not even wait for that.
    func wait(_ interruption: Interruption) throws(ImageError) -> ImageResponse {
        defer { bar?.end() }
        do throws(ImageError) {
            return try completion.wait(
                interruption, atMost: timeoutMilliseconds + Self.graceMilliseconds,
                cancel: task.cancel)
        } catch {
            // A stack that is there, but whose coordinator does not come back in time.
            throw error.code == .unavailable && mapsUnavailable ? .noAnswer : error
        }
    }
}
