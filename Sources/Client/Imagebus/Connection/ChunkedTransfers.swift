import BusConnection
import EventLoop
public import ImageModel
import Linux
public import Messages

// Images that have no URL.
extension ImagebusClient {
    /// Begins a load of an image that the caller has: `bytes` are sent to the stack in pieces
    /// (PROTOCOL §10.1), and go the way of downloaded ones. `request.url` is empty.
    ///
    /// The same bytes with the same steps are the same work: they are joined with it, and may come
    /// from a cache, under a key that is made of a digest of the bytes. At most 64 MiB, or what the
    /// coordinator is configured for. The client keeps the bytes until the load has ended, to send
    /// them again should the coordinator be replaced; the array is shared, not copied. Uploads of
    /// one client share a window, and take turns. The deadline of the request holds for the sending
    /// too.
    ///
    /// Ends as other loads do; with `invalidRequest` also where there is a URL or there are no
    /// bytes, with `limitExceeded` where there are too many, with `badImageData` where they are no
    /// image, with `versionMismatch` where the coordinator is too old to take any.
    public func load(
        _ request: ImageRequest, uploading bytes: [UInt8], group: GroupID? = nil,
        wantsProgress: Bool = false, trace: TraceContext? = nil
    ) -> LoadTask {
        let task = LoadTask(token: tokens.next(), wantsProgress: wantsProgress, commands: commands)
        return begin(task, request, bytes, group, wantsProgress: wantsProgress, trace)
    }

    /// The same for callers that want to be called: `completion` runs once, where `executor` says,
    /// with how it ended.
    @discardableResult
    public func load(
        _ request: ImageRequest, uploading bytes: [UInt8], on executor: CallbackExecutor,
        completion: @escaping @Sendable (Result<ImageResponse, ImageError>) -> Void
    ) -> LoadTask {
        let callbacks = LoadCallbacks(
            on: executor, progress: nil, partial: nil, completion: completion)
        let task = LoadTask(token: tokens.next(), commands: commands, callbacks: callbacks)
        return begin(task, request, bytes, nil, wantsProgress: false, nil)
    }

    private func begin(
        _ task: LoadTask, _ request: ImageRequest, _ bytes: [UInt8], _ group: GroupID?,
        wantsProgress: Bool, _ trace: TraceContext?
    ) -> LoadTask {
        if let refusal = Self.refusal(of: request, bytes) {
            task.finish(.failure(refusal))
            return task
        }
        post(
            PendingLoad(
                request, task, group: group, wantsProgress: wantsProgress,
                uploadBytes: bytes.count, logContext: LogContext(trace: trace)),
            uploading: bytes)
        return task
    }

    /// The same on a thread that may block; returns how it ended. See `loadAndWait(_:group:)`.
    public func loadAndWait(
        _ request: ImageRequest, uploading bytes: [UInt8], group: GroupID? = nil,
        trace: TraceContext? = nil
    ) throws(ImageError) -> ImageResponse {
        if let refusal = Self.refusal(of: request, bytes) { throw refusal }
        let task = LoadTask(token: tokens.next(), commands: commands)
        let pending = PendingLoad(
            request, task, group: group, uploadBytes: bytes.count,
            logContext: LogContext(trace: trace))
        if !leadership.run(pending, uploading: bytes) { post(pending, uploading: bytes) }
        return try task.waitForResponse()
    }

    /// The same; calls `completion` once with how it ended, where `executor` says. `visitor` as in
    /// `load(_:slot:group:wantsProgress:wantsInfo:detach:trace:visitor:)`; `logContext` is what the
    /// logs of all processes say of the load.
    @discardableResult
    public func load(
        _ request: ImageRequest, uploading bytes: [UInt8], group: GroupID? = nil,
        on executor: CallbackExecutor, visitor: UInt64 = 0, logContext: LogContext = LogContext(),
        completion: @escaping @Sendable (Result<ImageResponse, ImageError>) -> Void
    ) -> LoadTask {
        let callbacks = LoadCallbacks(on: executor, progress: nil, completion: completion)
        let task = LoadTask(token: tokens.next(), commands: commands, callbacks: callbacks)
        if let refusal = Self.refusal(of: request, bytes) {
            task.finish(.failure(refusal))
            return task
        }
        post(
            PendingLoad(
                request, task, group: group, uploadBytes: bytes.count, logContext: logContext,
                visitor: visitor),
            uploading: bytes)
        return task
    }

    private static func refusal(of request: ImageRequest, _ bytes: [UInt8]) -> ImageError? {
        if !request.url.isEmpty {
            return ImageError(.invalidRequest, "an image that is uploaded has no URL")
        }
        if bytes.isEmpty { return ImageError(.invalidRequest, "an image without bytes") }
        return nil
    }
}

extension ImagebusClient {
    /// Puts the bytes of an image under a key, as they are, and says which of the tiers have them
    /// now; the text of the key is that of replies. A load that asks these tiers finds them.
    ///
    /// The entry has these tags, and these bytes of the caller's own; without any it has none,
    /// whatever the one had that it takes the place of (SEMANTICS §5.20, §5.21).
    ///
    /// For operators: on `front.sock` it is refused. At most 64 MiB, or what the coordinator is
    /// configured for. Throws `badImageData` where the bytes are no image, `limitExceeded` where
    /// there are too many, `arenaFull` where no tier took them, `invalidRequest` for a key, a
    /// tag or extended data that is none.
    public func put(
        _ bytes: [UInt8], under key: String, cache: String? = nil, in tiers: CacheTypes = .all,
        tags: [String] = [], extendedData: ExtendedData? = nil
    ) async throws(ImageError) -> CacheTypes {
        var request = ImageRequest(url: "")
        request.infoOnly = true
        request.storeCacheTypes = tiers
        request.context.cache = cache
        request.context.key = .text(key)
        (request.context.tags, request.context.extendedData) = (tags, extendedData)
        try request.context.check()
        defer { memory?.remove(key: key) }
        return try await load(request, uploading: bytes).response.storedTiers ?? .none
    }
}

/// The loads that bring bytes along, and what of them goes next (PROTOCOL §10.1).
///
/// Pure. All uploads share one window; each piece is of the next upload in turn. Few are under way
/// at once, since the coordinator has room for some of them only; the others wait in order.
/// The bytes stay until their load has ended, since a new session gets them from the start.
struct UploadQueue {
    private struct Upload {
        let bytes: [UInt8]
        /// As it is to be sent; `nil` where it is not.
        var load: LoadRequest?
        var offset = 0
        /// Its number among those that wait.
        var waitingNumber = 0
    }

    /// What is sent next.
    enum Step: Equatable {
        case load(Token)
        case piece(Token, Range<Int>)
    }

    private var uploads: [Token: Upload] = [:]
    /// Announced to nobody yet, in order.
    private var waiting = NumberedQueue<Token>()
    /// What has pieces left to send, in the order of its turns.
    private var turns: [Token] = []
    /// Whose turn it is.
    private var turn = 0
    /// Bytes of all that have turns.
    private var turnBytes = 0
    private var window = 0
    /// Places of the queue visited so far, of which a test knows the limit.
    var visitCount: Int { waiting.visitCount }
    /// Bytes that were sent and not said to be taken.
    private(set) var inFlight = 0

    /// Uploads under way at once, and their bytes, unless it is a single one.
    private static let turnsMax = 32
    private static let turnBytesMax = 64 << 20

    /// Keeps the bytes of a load, until `drop`.
    mutating func add(_ token: Token, _ bytes: [UInt8]) { uploads[token] = Upload(bytes: bytes) }

    /// The load is to be sent, perhaps again, its bytes behind it from the start. False where the
    /// coordinator takes none, or the bytes are not known.
    mutating func start(_ load: LoadRequest) -> Bool {
        guard window > 0, uploads[load.token] != nil else { return false }
        _ = stop(load.token)
        uploads[load.token]?.load = load
        uploads[load.token]?.offset = 0
        uploads[load.token]?.waitingNumber = waiting.append(load.token)
        return true
    }

    /// Nothing more of it is sent: it is being cancelled. Whether its load was not even sent.
    mutating func stop(_ token: Token) -> Bool {
        if let index = turns.firstIndex(of: token) {
            turns.remove(at: index)
            turnBytes -= uploads[token]?.bytes.count ?? 0
            if index < turn { turn -= 1 }
            return false
        }
        guard let upload = uploads[token] else { return false }
        return waiting.remove(upload.waitingNumber) { $0 == token }
    }

    /// The same for all of a group; those whose loads were not even sent.
    mutating func stop(group: GroupID) -> [Token] {
        let members = uploads.filter { $0.value.load?.group == group }
        return members.sorted { $0.value.waitingNumber < $1.value.waitingNumber }
            .map(\.key).filter { stop($0) }
    }

    /// Its load has ended.
    mutating func drop(_ token: Token) {
        guard uploads[token] != nil else { return }
        _ = stop(token)
        uploads[token] = nil
    }

    /// A session has begun, in which so many bytes may be on the way.
    mutating func sessionBegan(window: Int) {
        sessionEnded()
        self.window = window
    }

    /// Nothing is sent until the loads are to be sent again.
    mutating func sessionEnded() {
        (waiting, turns) = (NumberedQueue(), [])
        (turn, turnBytes, window, inFlight) = (0, 0, 0, 0)
    }

    /// So many bytes have arrived.
    mutating func taken(_ bytes: UInt64) { inFlight -= min(inFlight, Int(clamping: bytes)) }

    /// What may be sent now: a load where there is room for another one, else the next piece where
    /// the window has room for it.
    var next: Step? {
        if let token = waiting.first, let upload = uploads[token], turns.count < Self.turnsMax,
            turns.isEmpty || turnBytes + upload.bytes.count <= Self.turnBytesMax
        {
            return .load(token)
        }
        guard !turns.isEmpty else { return nil }
        let token = turns[turn < turns.count ? turn : 0]
        guard let upload = uploads[token] else { return nil }
        let left = upload.bytes.count - upload.offset
        let count = min(left, MessageLimits.pieceBytesMax, window)
        guard count > 0, count <= window - inFlight else { return nil }
        return .piece(token, upload.offset..<(upload.offset + count))
    }

    /// The message of what may be sent now.
    func message(_ step: Step) -> ClientMessage? {
        switch step {
        case .load(let token): return uploads[token]?.load.map { .load($0) }
        case .piece(let token, let range):
            guard let upload = uploads[token] else { return nil }
            return .piece(
                Piece(
                    token: token, offset: UInt64(range.lowerBound),
                    total: UInt64(upload.bytes.count), bytes: Array(upload.bytes[range])))
        }
    }

    /// What was to be sent was sent.
    mutating func sent(_ step: Step) {
        switch step {
        case .load(let token):
            // One that could not be written has ended meanwhile.
            guard waiting.first == token, let upload = uploads[token] else { return }
            _ = waiting.popFirst()
            turns.append(token)
            turnBytes += upload.bytes.count
        case .piece(let token, let range):
            inFlight += range.count
            uploads[token]?.offset = range.upperBound
            turn = (turns.firstIndex(of: token) ?? 0) + 1
            if range.upperBound == uploads[token]?.bytes.count { _ = stop(token) }
        }
    }
}

// Bytes that go through the socket, since one side cannot open the other's memory.
extension ClientLine {
    /// Puts a load behind what waits. One that brings bytes along goes, with these, only when
    /// nothing else waits.
    mutating func enqueue(_ load: PendingLoad, at now: Instant) {
        guard load.manner.uploadBytes > 0 else { return outbox.append(.load(load)) }
        if uploads.start(load.message) { return }
        perform(pending.abandoned(load.token, .takesNoBytes, at: now), at: now)
    }

    /// Puts a message behind those that wait.
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

    /// The coordinator does not know it, and would not answer.
    private mutating func endUnsent(_ token: Token, at now: Instant) {
        let error = ImageError(.cancelled, "cancelled before it was sent")
        perform(pending.refused(error, token, at: now), at: now)
    }

    /// A load that brings its bytes along.
    mutating func submit(_ load: PendingLoad, uploading bytes: [UInt8], at now: Instant) {
        if !bytes.isEmpty { uploads.add(load.token, bytes) }
        submit(load, at: now)
    }

    mutating func receive(_ piece: Piece, at now: Instant) {
        // Of a session that has ended.
        guard isWelcome else { return }
        do throws(ImageError) {
            try pieces.take(piece, isWanted: isAwaited(piece.token))
        } catch {
            perform(pending.abandoned(piece.token, error, at: now), at: now)
        }
        if let count = pieces.acknowledgement() { outbox.append(.other(.taken(count))) }
    }

    /// Sends loads that bring bytes along, and of these what the window has room for.
    mutating func sendUploads() throws {
        while let step = uploads.next, let message = uploads.message(step) {
            guard try transmitOne(message) else { return }
            uploads.sent(step)
        }
    }

    /// Whether anybody waits for what comes under a token: who shares it does, too.
    func isAwaited(_ token: Token) -> Bool { pending.load(of: token) != nil }

    /// A load has ended: what it brought along and what has come for it.
    mutating func forget(_ token: Token) {
        uploads.drop(token)
        pieces.drop(token)
    }
}

extension ImageError {
    fileprivate static var takesNoBytes: ImageError {
        ImageError(.versionMismatch, "this coordinator takes no images without a URL")
    }
}

/// What comes in pieces, of all loads, and how much of it is to be said to be taken.
///
/// Pure. The coordinator sends no more than a window of bytes that were not said to be taken, so
/// all counts, what nobody waits for too.
struct IncomingPieces {
    private let bytesMax: Int
    private var assemblies: [Token: PieceAssembly] = [:]
    private var window = 0
    /// Taken, and not said so.
    private var taken = 0
    /// A load has all its pieces: its taking is said at once.
    private var isComplete = false

    /// `bytesMax`: bytes of one image at most.
    init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// Whether no load is in the middle of its pieces.
    var isEmpty: Bool { assemblies.isEmpty }

    /// A session has begun, in which so many bytes may be on the way.
    mutating func sessionBegan(window: Int) {
        sessionEnded()
        self.window = window
    }

    /// What has come is worthless: it comes again from the start.
    mutating func sessionEnded() { self = IncomingPieces(bytesMax: bytesMax) }

    /// Takes a piece; one that nobody waits for is dropped. With an error the load has come to an
    /// end, and what came for it is dropped.
    mutating func take(_ piece: Piece, isWanted: Bool) throws(ImageError) {
        taken += piece.bytes.count
        if piece.offset + UInt64(piece.bytes.count) == piece.total { isComplete = true }
        guard isWanted else { return }
        do throws(ImageError) {
            try assemblies[piece.token, default: PieceAssembly()].take(piece, bytesMax: bytesMax)
        } catch {
            drop(piece.token)
            throw error
        }
    }

    /// How many bytes are to be said to be taken now: when a load has all its pieces, when half of
    /// the window is taken, and when what is left of it may be too little for a piece.
    mutating func acknowledgement() -> UInt64? {
        let isDue =
            isComplete || taken >= window / 2 || window - taken < MessageLimits.pieceBytesMax
        guard isDue, taken > 0 else { return nil }
        defer { (taken, isComplete) = (0, false) }
        return UInt64(taken)
    }

    /// The bytes of an image whose reply has come. Throws `protocolViolation` where they are not as
    /// many as it says.
    mutating func finish(_ token: Token, count: UInt64) throws(ImageError) -> [UInt8] {
        let assembly = assemblies.removeValue(forKey: token) ?? PieceAssembly()
        return try assembly.finished(count: count)
    }

    /// What came for a load is worthless.
    mutating func drop(_ token: Token) {
        if !assemblies.isEmpty { assemblies[token] = nil }
    }
}

/// The bytes of one image that come in pieces (PROTOCOL §10.1).
///
/// Its memory grows by what arrives, never by the word of `total`: at most twice what has come.
struct PieceAssembly {
    /// What has come since offset 0.
    private(set) var bytes: [UInt8] = []
    private var total: UInt64 = 0

    /// Adds what comes next; offset 0 begins anew.
    ///
    /// Throws `limitExceeded` where more than `bytesMax` are announced, and `protocolViolation`
    /// where bytes are missing, come twice, or do not lie within what was announced.
    mutating func take(_ piece: Piece, bytesMax: Int) throws(ImageError) {
        if piece.offset == 0 {
            guard piece.total <= UInt64(bytesMax) else {
                throw ImageError(
                    .limitExceeded,
                    "an image of \(piece.total) bytes is larger than this client takes",
                    details: ["limit": "\(bytesMax)"])
            }
            bytes.removeAll(keepingCapacity: true)
            total = piece.total
        }
        guard piece.offset == UInt64(bytes.count), piece.total == total,
            UInt64(piece.bytes.count) <= total - piece.offset
        else {
            throw ImageError(
                .protocolViolation,
                "a piece at \(piece.offset) of \(piece.total) does not follow "
                    + "\(bytes.count) of \(total) bytes")
        }
        grow(by: piece.bytes.count)
        bytes.append(contentsOf: piece.bytes)
    }

    /// All bytes, once the reply says how many they are. Throws `protocolViolation` where others
    /// have come.
    func finished(count: UInt64) throws(ImageError) -> [UInt8] {
        guard UInt64(bytes.count) == count else {
            throw ImageError(
                .protocolViolation, "\(bytes.count) bytes came in pieces, the reply says \(count)")
        }
        return bytes
    }

    /// Doubles the memory, but not beyond what was announced.
    private mutating func grow(by count: Int) {
        let needed = bytes.count + count
        guard bytes.capacity < needed else { return }
        bytes.reserveCapacity(max(needed, min(Int(clamping: total), 2 * bytes.count)))
    }
}
