package import ImageModel
package import Imagebus
package import Messages
import SharedArena

/// The one place that talks to the client library.
package final class StackClient: Sendable {
    private let client: ImagebusClient

    /// Connects to the sockets of a stack: `admin/` for its whole status, else `front/`.
    package init(
        _ route: StackRoute, asOperator: Bool = false, delivery: Delivery = .automatic,
        connectMilliseconds: Int
    ) throws(ImageError) {
        let paths = route.paths
        var configuration = ClientConfiguration(
            endpoint: asOperator ? paths.adminSocket : paths.frontSocket,
            resultsDirectory: paths.resultsDirectory,
            connectTimeoutMilliseconds: connectMilliseconds)
        configuration.delivery = delivery
        configuration.servers = route.servers
        configuration.awaitsCoordinator = route.isSupervised
        client = try ImagebusClient(configuration)
    }

    deinit { client.close() }

    /// Milliseconds for which a goodbye may take.
    private static let goodbyeMilliseconds = 500

    /// Says goodbye, for a process that ends next.
    package func end() { client.close(waitingMilliseconds: Self.goodbyeMilliseconds) }

    /// Sends a request, with the image where that has no URL; its response becomes the
    /// completion's value.
    package func load(
        _ request: ImageRequest, uploading upload: [UInt8]?, slot: String? = nil,
        group: GroupID? = nil, trace: TraceContext? = nil,
        progress: (@Sendable (RequestProgress) -> Void)?,
        into completion: Completion<LoadedImage>
    ) -> RunningLoad {
        let wantsProgress = progress != nil
        let task =
            upload.map {
                client.load(
                    request, uploading: $0, group: group, wantsProgress: wantsProgress, trace: trace
                )
            }
            ?? client.load(
                request, slot: slot, group: group, wantsProgress: wantsProgress, trace: trace)
        completion.start { () throws(ImageError) in LoadedImage(try await task.response) }
        if let progress {
            Task.detached { for await step in task.progress { progress(step) } }
        }
        return RunningLoad(task: task)
    }

    /// Begins a prefetch; its counts become the completion's value.
    package func prefetch(
        _ urls: [String], like template: ImageRequest, priority: Priority, concurrency: Int,
        progress: (@Sendable (PrefetchCounts) -> Void)?, into completion: Completion<PrefetchCounts>
    ) -> PrefetchTask {
        let task = client.prefetch(urls, template: template, concurrency: concurrency)
        if priority == .normal { client.reprioritise(task, priority) }
        completion.start { () throws(ImageError) in try await task.result }
        if let progress {
            Task.detached { for await counts in task.progress { progress(counts) } }
        }
        return task
    }

    /// Loads.
    package func load(_ request: ImageRequest) async -> Result<LoadedImage, ImageError> {
        do throws(ImageError) {
            return .success(LoadedImage(try await client.load(request).response))
        } catch {
            return .failure(error)
        }
    }

    /// Loads on a thread that may block.
    package func loadAndWait(_ request: ImageRequest) -> Result<LoadedImage, ImageError> {
        do throws(ImageError) {
            return .success(LoadedImage(try client.loadAndWait(request)))
        } catch {
            return .failure(error)
        }
    }

    /// Loads, and cancels after so long unless it has ended by then.
    package func load(
        _ request: ImageRequest, cancelledAfter delay: Duration?
    ) async -> Result<LoadedImage, ImageError> {
        let task = client.load(request)
        let timer = delay.map { delay in
            Task.detached {
                try await Task.sleep(for: delay)
                task.cancel()
            }
        }
        defer { timer?.cancel() }
        do throws(ImageError) {
            return .success(LoadedImage(try await task.response))
        } catch {
            return .failure(error)
        }
    }

    /// Runs tasks on the client's own thread, between its messages.
    package var executor: any TaskExecutor { client.executor }

    /// Asks for processes, sockets and counters.
    package func status() async throws(ImageError) -> StatusReport { try await client.status() }

    /// Lists or changes what is not tried.
    package func blacklist(_ command: BlacklistCommand) async throws(ImageError) -> BlacklistReport
    {
        try await client.blacklist(command)
    }

    /// Which of the tiers have the entry of a key.
    package func contains(_ key: String, cache: String?, in tiers: CacheTypes)
        async throws(ImageError)
        -> CacheTypes
    {
        try await client.contains(key, cache: cache, in: tiers)
    }

    /// Removes the entry of a key from the tiers.
    package func remove(_ key: String, cache: String?, from tiers: CacheTypes)
        async throws(ImageError)
    {
        try await client.remove(key, cache: cache, from: tiers)
    }

    /// Puts bytes under a key; the tiers that have them.
    package func put(
        _ bytes: [UInt8], under key: String, cache: String?, in tiers: CacheTypes
    ) async throws(ImageError) -> CacheTypes {
        try await client.put(bytes, under: key, cache: cache, in: tiers)
    }

    /// Has the processes of a kind end; how many were told.
    package func drain(_ kind: WorkerKind) async throws(ImageError) -> UInt32 {
        try await client.drain(kind)
    }

    /// Cancels a request of any client.
    package func cancelAny(_ token: Token) { client.cancelAny(token) }

    /// Cancels a group of any client.
    package func cancelAny(group: GroupID) { client.cancelAny(group: group) }
}

/// A request on its way.
package struct RunningLoad {
    fileprivate let task: LoadTask

    /// 32 hex digits.
    package var token: String { task.token.value.hex }

    package func cancel() { task.cancel() }

    /// The cached image of a load whose refresh failed.
    package var cached: LoadedImage? { task.cachedResponse.map { LoadedImage($0) } }
}

/// How a request ended well.
package struct LoadedImage: Sendable {
    package let isMiss: Bool
    package let info: ImageInfo?
    package let cacheType: CacheTypes
    package let key: String
    package let timings: StageTimings
    /// Whether it took the place of a cached image.
    package let isRefreshed: Bool
    package let scaleFactor: Double
    /// Why it is the fallback.
    package let fallbackFor: ImageError?
    private let bytes: ImageBytes?

    fileprivate init(_ response: ImageResponse) {
        isMiss = response.status == .miss
        info = response.info
        cacheType = response.cacheType
        key = response.key
        timings = response.timings
        isRefreshed = response.isRefreshed
        scaleFactor = response.scaleFactor
        fallbackFor = response.fallbackFor
        bytes = response.bytes
    }

    package var byteCount: Int? { bytes?.count }

    /// Whether the memory tier had it.
    package var isMemoryHit: Bool { cacheType == .memory && !isMiss }

    /// Lends the image's bytes; empty where only facts came.
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let bytes else { return try body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        return try bytes.withUnsafeBytes(body)
    }
}
