import Linux
public import Model
import ProcessRuntime

// Loading images that have no URL.
extension ImagebusClient {
    /// Begins a load of an image in memory. `bytes` are sent to the stack in chunks
    /// (PROTOCOL §10.1) and then handled like downloaded bytes. `request.url` must be empty.
    ///
    /// Identical bytes with identical steps share the same work and may be answered from a cache,
    /// under a key derived from a digest of the bytes. The limit is 64 MiB unless the coordinator
    /// is configured otherwise. The client holds the bytes until the load ends so that it can send
    /// them again if the coordinator is replaced; an array is shared, not copied. Uploads of one
    /// client share a window and take turns. The request's deadline includes the time to send the
    /// bytes.
    ///
    /// Ends like other loads, and also with `invalidRequest` if a URL is set or `bytes` is empty,
    /// `limitExceeded` if there are too many bytes, `badImageData` if they are not an image, and
    /// `versionMismatch` if the coordinator is too old to accept uploads.
    public func load(
        _ request: ImageRequest, uploading bytes: some Sequence<UInt8>, group: GroupID? = nil,
        wantsProgress: Bool = false, trace: TraceContext? = nil
    ) -> LoadTask {
        upload(
            Array(bytes), request, LoadOptions(group: group, wantsProgress: wantsProgress),
            LogContext(trace: trace))
    }

    /// Loads an image in memory, blocking the calling thread, and returns the response. See
    /// `loadAndWait(_:group:)`.
    public func loadAndWait(
        _ request: ImageRequest, uploading bytes: some Sequence<UInt8>, group: GroupID? = nil,
        trace: TraceContext? = nil
    ) throws(ImageError) -> ImageResponse {
        let bytes = Array(bytes)
        if let refusal = Self.refusal(of: request, bytes) { throw refusal }
        return try run(request, LoadOptions(group: group), trace, uploading: bytes)
    }

    /// Begins a load of an image in memory and calls `completion` once with the result, on
    /// `executor`. For `httpClient`, see
    /// `load(_:slot:group:wantsProgress:wantsInfo:detach:trace:httpClient:)`. All processes include
    /// `logContext` in their log entries about the load.
    @discardableResult
    public func load(
        _ request: ImageRequest, uploading bytes: some Sequence<UInt8>, group: GroupID? = nil,
        on executor: CallbackExecutor, httpClient: UInt64 = 0,
        logContext: LogContext = LogContext(),
        completion: @escaping @Sendable (Result<ImageResponse, ImageError>) -> Void
    ) -> LoadTask {
        upload(
            Array(bytes), request, LoadOptions(group: group, httpClient: httpClient), logContext,
            LoadCallbacks(on: executor, completion: completion))
    }

    private func upload(
        _ bytes: [UInt8], _ request: ImageRequest, _ options: LoadOptions,
        _ logContext: LogContext, _ callbacks: LoadCallbacks? = nil
    ) -> LoadTask {
        guard let refusal = Self.refusal(of: request, bytes) else {
            return begin(
                request, options, logContext: logContext, callbacks: callbacks, uploading: bytes)
        }
        let task = LoadTask(token: tokens.next(), commands: commands, callbacks: callbacks)
        task.finish(.failure(refusal))
        return task
    }

    private static func refusal(of request: ImageRequest, _ bytes: [UInt8]) -> ImageError? {
        if !request.url.isEmpty {
            return ImageError(.invalidRequest, "uploads must not specify a URL")
        }
        if bytes.isEmpty { return ImageError(.invalidRequest, "the uploaded image is empty") }
        return nil
    }
}

/// The uploads of a client and the order in which their chunks are sent (PROTOCOL §10.1).
///
/// A pure value without I/O. All uploads share one window and take turns chunk by chunk. Only a
/// limited number is active at once, because the coordinator has room for only a few; the others
/// wait in order.
struct UploadQueue {
    private struct Upload {
        let load: PendingLoad
        /// Its number in the queue of waiting uploads.
        let waitingNumber: Int
        var offset = 0
    }

    /// What to send next.
    enum Step: Equatable {
        case load(Token)
        case chunk(Token, Range<Int>)
    }

    private var uploads: [Token: Upload] = [:]
    /// Uploads not yet announced to the coordinator, in order.
    private var waiting = NumberedQueue<Token>()
    /// Uploads with chunks left to send, in the order of their turns.
    private var turns: [Token] = []
    /// The index in `turns` of the upload whose turn it is.
    private var turn = 0
    /// The total size of the uploads in `turns`.
    private var turnBytes = 0
    private var window = 0
    /// The number of queue elements visited so far; a test checks its bound.
    var visitCount: Int { waiting.visitCount }
    /// Bytes sent but not yet acknowledged.
    private(set) var inFlight = 0

    /// The limits on active uploads and on their total size. A single upload may exceed the size.
    private static let turnsMax = 32
    private static let turnBytesMax = 64 << 20

    /// Queues a load for sending, possibly again, followed by its bytes from the start. Returns
    /// false if the coordinator does not accept uploads.
    mutating func start(_ load: PendingLoad) -> Bool {
        guard window > 0 else { return false }
        _ = stop(load.token)
        uploads[load.token] = Upload(load: load, waitingNumber: waiting.append(load.token))
        return true
    }

    /// Stops sending an upload because it is being canceled. Returns whether its load was not sent
    /// at all.
    mutating func stop(_ token: Token) -> Bool {
        if let index = turns.firstIndex(of: token) {
            turns.remove(at: index)
            turnBytes -= uploads[token]?.load.bytes.count ?? 0
            if index < turn { turn -= 1 }
            return false
        }
        guard let upload = uploads[token] else { return false }
        return waiting.remove(upload.waitingNumber) { $0 == token }
    }

    /// Stops sending all uploads of a group. Returns those whose loads were not sent at all.
    mutating func stop(group: GroupID) -> [Token] {
        let members = uploads.filter { $0.value.load.loadOptions.group == group }
        return members.sorted { $0.value.waitingNumber < $1.value.waitingNumber }
            .map(\.key).filter { stop($0) }
    }

    /// Removes an upload whose load has ended.
    mutating func drop(_ token: Token) {
        guard uploads[token] != nil else { return }
        _ = stop(token)
        uploads[token] = nil
    }

    /// Begins a session with a window of `window` bytes in flight.
    mutating func sessionBegan(window: Int) {
        sessionEnded()
        self.window = window
    }

    /// Ends the session. Nothing is sent until the loads are queued again.
    mutating func sessionEnded() {
        (waiting, turns) = (NumberedQueue(), [])
        (turn, turnBytes, window, inFlight) = (0, 0, 0, 0)
    }

    /// Handles the coordinator's acknowledgment of received bytes.
    mutating func acknowledged(_ bytes: UInt64) { inFlight -= min(inFlight, Int(clamping: bytes)) }

    /// What can be sent now: a load if another upload can be activated, otherwise the next chunk if
    /// the window allows it.
    var next: Step? {
        if let token = waiting.first, let upload = uploads[token], turns.count < Self.turnsMax,
            turns.isEmpty || turnBytes + upload.load.bytes.count <= Self.turnBytesMax
        {
            return .load(token)
        }
        guard !turns.isEmpty else { return nil }
        let token = turns[turn < turns.count ? turn : 0]
        guard let upload = uploads[token] else { return nil }
        let left = upload.load.bytes.count - upload.offset
        let count = min(left, MessageLimits.chunkBytesMax, window)
        guard count > 0, count <= window - inFlight else { return nil }
        return .chunk(token, upload.offset..<(upload.offset + count))
    }

    func message(_ step: Step) -> ClientMessage? {
        switch step {
        case .load(let token): return uploads[token].map { .load($0.load.message) }
        case .chunk(let token, let range):
            guard let bytes = uploads[token]?.load.bytes else { return nil }
            return .chunk(
                Chunk(
                    token: token, offset: UInt64(range.lowerBound),
                    total: UInt64(bytes.count), bytes: Array(bytes[range])))
        }
    }

    mutating func sent(_ step: Step) {
        switch step {
        case .load(let token):
            // A load that could not be encoded has ended in the meantime.
            guard waiting.first == token, let upload = uploads[token] else { return }
            _ = waiting.popFirst()
            turns.append(token)
            turnBytes += upload.load.bytes.count
        case .chunk(let token, let range):
            inFlight += range.count
            uploads[token]?.offset = range.upperBound
            turn = (turns.firstIndex(of: token) ?? 0) + 1
            if range.upperBound == uploads[token]?.load.bytes.count { _ = stop(token) }
        }
    }
}

// Transfers through the socket, used when one side cannot map the other's memory.
extension ClientConnection {
    /// Queues a load. A load that uploads bytes is sent, followed by its chunks, only when nothing
    /// else is queued.
    mutating func enqueue(_ load: PendingLoad, at now: Instant) {
        guard load.loadOptions.uploadBytes > 0 else { return outbox.append(.load(load)) }
        if uploads.start(load) { return }
        perform(pending.abandoned(load.token, .takesNoBytes, at: now), at: now)
    }

    mutating func enqueue(_ message: ClientMessage, at now: Instant) {
        switch message {
        case .cancel(let token):
            if uploads.stop(token) { return endUnsent(token, at: now) }
        case .cancelGroup(let group):
            for token in uploads.stop(group: group) { endUnsent(token, at: now) }
        default: break
        }
        outbox.append(.other(message))
    }

    /// Ends a load that was never sent; the coordinator doesn't know it and would not reply.
    private mutating func endUnsent(_ token: Token, at now: Instant) {
        perform(pending.refused(.cancelledUnsent, token, at: now), at: now)
    }

    mutating func receive(_ chunk: Chunk, at now: Instant) {
        // Ignores chunks of a session that has ended.
        guard isWelcome else { return }
        do throws(ImageError) {
            try chunks.receive(chunk, isWanted: isAwaited(chunk.token))
        } catch {
            perform(pending.abandoned(chunk.token, error, at: now), at: now)
        }
        if let count = chunks.acknowledgement() { outbox.append(.other(.taken(count))) }
    }

    /// Sends queued uploads, as far as the window allows.
    mutating func sendUploads() throws {
        while let step = uploads.next, let message = uploads.message(step) {
            guard try transmitOne(message) else { return }
            uploads.sent(step)
        }
    }

    /// Whether a load is waiting for what arrives under a token, including a load that shares it.
    func isAwaited(_ token: Token) -> Bool { pending.load(of: token) != nil }

    /// Drops the outgoing and incoming chunks of a load that has ended.
    mutating func forget(_ token: Token) {
        uploads.drop(token)
        chunks.drop(token)
    }
}

extension ImageError {
    fileprivate static var takesNoBytes: ImageError {
        ImageError(.versionMismatch, "this coordinator does not accept uploads")
    }
}

/// The incoming chunks of all loads, and the number of bytes to acknowledge.
///
/// A pure value without I/O. The coordinator never sends more than a window of unacknowledged
/// bytes, so all bytes are counted, even those that no load is waiting for.
struct IncomingChunks {
    private let bytesMax: Int
    private var assemblies: [Token: ChunkAssembly] = [:]
    private var window = 0
    /// Bytes received but not yet acknowledged.
    private var receivedBytes = 0
    /// A load has received all its chunks; this is acknowledged immediately.
    private var isComplete = false

    /// Creates an empty set; `bytesMax` limits the size of a single image.
    init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// Whether no load is partially received.
    var isEmpty: Bool { assemblies.isEmpty }

    /// Begins a session with a window of `window` bytes in flight.
    mutating func sessionBegan(window: Int) {
        sessionEnded()
        self.window = window
    }

    /// Discards everything received; it will be sent again from the start.
    mutating func sessionEnded() { self = IncomingChunks(bytesMax: bytesMax) }

    /// Adds a chunk, or drops it if no load is waiting for it. If it throws, the load must end;
    /// everything received for it is dropped.
    mutating func receive(_ chunk: Chunk, isWanted: Bool) throws(ImageError) {
        receivedBytes += chunk.bytes.count
        if chunk.offset + UInt64(chunk.bytes.count) == chunk.total { isComplete = true }
        guard isWanted else { return }
        do throws(ImageError) {
            try assemblies[chunk.token, default: ChunkAssembly()].append(chunk, bytesMax: bytesMax)
        } catch {
            drop(chunk.token)
            throw error
        }
    }

    /// Returns the number of bytes to acknowledge now, or `nil`. An acknowledgment is due when a
    /// load has all its chunks, when half of the window is used, and when the rest of the window
    /// may be too small for a chunk.
    mutating func acknowledgement() -> UInt64? {
        let isDue =
            isComplete || receivedBytes >= window / 2
            || window - receivedBytes < MessageLimits.chunkBytesMax
        guard isDue, receivedBytes > 0 else { return nil }
        defer { (receivedBytes, isComplete) = (0, false) }
        return UInt64(receivedBytes)
    }

    /// Returns the bytes of an image once its reply has arrived. Throws `protocolViolation` if
    /// their number differs from `count`.
    mutating func finish(_ token: Token, count: UInt64) throws(ImageError) -> [UInt8] {
        let bytes = assemblies.removeValue(forKey: token)?.bytes ?? []
        guard UInt64(bytes.count) == count else {
            throw ImageError(
                .protocolViolation, "\(bytes.count) bytes arrived in chunks instead of \(count)")
        }
        return bytes
    }

    /// Discards what has been received for a load.
    mutating func drop(_ token: Token) {
        if !assemblies.isEmpty { assemblies[token] = nil }
    }
}

/// Assembles an image from chunks (PROTOCOL §10.1).
///
/// Memory is allocated according to the bytes received, never according to the announced `total`:
/// at most twice as much as has arrived.
struct ChunkAssembly {
    /// The contiguous bytes received so far, from offset 0.
    private(set) var bytes: [UInt8] = []
    private var total: UInt64 = 0

    /// Adds the next chunk; a chunk at offset 0 restarts the assembly.
    ///
    /// Throws `limitExceeded` if the announced total exceeds `bytesMax`, and `protocolViolation` if
    /// chunks are missing, repeated or outside the announced range.
    mutating func append(_ chunk: Chunk, bytesMax: Int) throws(ImageError) {
        if chunk.offset == 0 {
            guard chunk.total <= UInt64(bytesMax) else {
                throw ImageError(
                    .limitExceeded,
                    "an image of \(chunk.total) bytes exceeds the limit of this client"
                ) { $0.limit = "\(bytesMax)" }
            }
            bytes.removeAll(keepingCapacity: true)
            total = chunk.total
        }
        guard chunk.offset == UInt64(bytes.count), chunk.total == total,
            UInt64(chunk.bytes.count) <= total - chunk.offset
        else {
            throw ImageError(
                .protocolViolation,
                "a chunk at \(chunk.offset) of \(chunk.total) does not follow "
                    + "\(bytes.count) of \(total) bytes")
        }
        grow(by: chunk.bytes.count)
        bytes.append(contentsOf: chunk.bytes)
    }

    /// Doubles the allocation, but never beyond the announced total.
    private mutating func grow(by count: Int) {
        let needed = bytes.count + count
        guard bytes.capacity < needed else { return }
        bytes.reserveCapacity(max(needed, min(Int(clamping: total), 2 * bytes.count)))
    }
}
