import Linux
public import Model
import ProcessRuntime
import Synchronization

/// Loads the bytes of URLs. Corresponds to SDWebImage's loader.
///
/// Up to `credit` loads run concurrently, each on its own thread. A canceled load ends immediately
/// for its caller, and its thread may finish later. If more than 16 canceled loads are still
/// running, the process exits.
public protocol Loader: Sendable {
    /// The URL schemes to load, which the pool's `schemes` must also list.
    var schemes: [String] { get }

    /// The number of concurrent loads, from 1 to 256. The default is 8. The pool's `credit` setting
    /// may reduce it.
    var credit: Int { get }

    /// Loads the bytes of an image: 1 to `report.bytesMax`. The URL and the headers are untrusted:
    /// don't use a path, host or query from them without checking it.
    ///
    /// Throws ``Failure`` with a domain of its own, or `ImageError`. Any other error is reported to
    /// the caller as `internalError` with the name of its type.
    func load(_ url: String, headers: [HTTPHeader], _ report: LoadReport) throws -> Loaded
}

extension Loader {
    /// The default of 8 concurrent loads.
    public var credit: Int { 8 }
}

/// Loaded bytes, with the metadata that an HTTP origin would send.
public struct Loaded: Hashable, Sendable {
    /// The bytes of an image.
    public var bytes: [UInt8]
    /// Their media type.
    public var contentType: String?
    /// The entity tag that identifies the bytes. A conditional load is then answered without them
    /// if they haven't changed.
    public var etag: String?
    /// The date of the last modification, as an HTTP date, for the same purpose.
    public var lastModified: String?
    /// How long the bytes may be cached, as a `Cache-Control` value.
    public var cacheControl: String?

    /// Creates a value without further metadata. Of each metadata text, at most 1,024 bytes are
    /// used.
    public init(_ bytes: [UInt8], etag: String? = nil) {
        self.bytes = bytes
        self.etag = etag
    }
}

/// Reports the progress of a load, and provides its limits and cancellation. Can be used from any
/// thread.
public final class LoadReport: Sendable {
    private struct State {
        var deadline: UInt64
        var wantsProgress: Bool
        var isCancelled = false
        /// When progress was last sent.
        var sentAt: UInt64 = 0
        var last: Amount?
    }

    private typealias Amount = (received: UInt64, expected: UInt64)

    private let state: Mutex<State>
    private let send: @Sendable (_ received: UInt64, _ expected: UInt64) -> Void
    /// The minimum interval between two messages, in nanoseconds.
    private static let pause: UInt64 = 20_000_000

    /// The largest allowed result, in bytes.
    public let bytesMax: Int

    init(
        millisecondsLeft: UInt32, bytesMax: Int, wantsProgress: Bool,
        send: @escaping @Sendable (_ received: UInt64, _ expected: UInt64) -> Void
    ) {
        self.bytesMax = bytesMax
        self.send = send
        state = Mutex(
            State(deadline: Self.deadline(in: millisecondsLeft), wantsProgress: wantsProgress))
    }

    /// Whether the load was canceled.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// The time until the deadline, in milliseconds.
    public var millisecondsLeft: Int {
        let (deadline, now) = (state.withLock { $0.deadline }, MonotonicClock.now())
        return deadline > now ? Int((deadline - now) / 1_000_000) : 0
    }

    /// Throws if the load was canceled. Let the error propagate.
    public func check() throws(CancellationError) {
        if isCancelled { throw CancellationError() }
    }

    /// Reports progress, in any unit; `expected` is 0 if unknown. Throws like `check`. Can be
    /// called as often as progress is made: at most one update per twenty milliseconds is sent, and
    /// always the last one.
    public func callAsFunction(
        _ received: Int, of expected: Int = 0
    ) throws(CancellationError) {
        try check()
        let amount = (received: UInt64(max(0, received)), expected: UInt64(max(0, expected)))
        let isDue = state.withLock { state in
            state.last = amount
            let now = MonotonicClock.now()
            guard state.wantsProgress,
                now - state.sentAt >= Self.pause || received == expected
            else { return false }
            state.sentAt = now
            return true
        }
        if isDue { send(amount.received, amount.expected) }
    }

    private static func deadline(in milliseconds: UInt32) -> UInt64 {
        MonotonicClock.now() + UInt64(milliseconds) * 1_000_000
    }
}

// Called by the worker's session, on the bus thread.
extension LoadReport {
    func cancel() { state.withLock { $0.isCancelled = true } }

    /// Updates the deadline and whether progress is requested; a new request is answered
    /// immediately.
    func adjust(millisecondsLeft: UInt32, wantsProgress: Bool) {
        let amount: Amount? = state.withLock { state in
            state.deadline = Self.deadline(in: millisecondsLeft)
            defer { state.wantsProgress = wantsProgress }
            return wantsProgress && !state.wantsProgress ? state.last : nil
        }
        if let amount { send(amount.received, amount.expected) }
    }
}

/// Executes the jobs of a loader. Can be used from any thread.
struct LoaderStage<Author: Loader>: Sendable {
    let loader: Author
    let log: Log

    /// Loads the body for a job into a block of `output`.
    func perform(
        _ work: FetchWork, output: some OutputSpace, _ report: LoadReport
    ) throws(ImageError) -> FetchedBody {
        let loaded: Loaded
        do {
            loaded = try loader.load(work.url, headers: work.headers, report)
            try report.check()
        } catch {
            throw ImageError(of: error, log) { ImageError(.badImageData, $0) }
        }
        let count = loaded.bytes.count
        guard UInt64(count) <= work.bodyBytesMax else {
            throw ImageError(
                .limitExceeded,
                "the loader returned \(count) bytes; at most \(work.bodyBytesMax) are accepted"
            ) { $0.limit = "bytes" }
        }
        guard count > 0 else { throw ImageError(.badImageData, "the loader returned no bytes") }
        let age = ResponseAge(bornMilliseconds: WallClock.nanoseconds() / 1_000_000)
        if let etag = loaded.etag, etag == work.validators?.etag {
            throw .notModified(OriginCaching(CacheControl(loaded.cacheControl), age))
        }
        let block = try output.reserve(count)
        block.bytes.copyBytes(from: loaded.bytes)
        var body = FetchedBody(
            reference: block.reference(length: count), httpStatus: 200,
            contentType: Self.cut(loaded.contentType), etag: Self.cut(loaded.etag),
            lastModified: Self.cut(loaded.lastModified),
            cacheControl: Self.cut(loaded.cacheControl), effectiveURL: work.url,
            format: block.format(length: count))
        body.age = age
        return body
    }

    /// Truncates a text to the length that can be sent.
    static func cut(_ text: String?) -> String? {
        guard let text else { return nil }
        let most = MessageLimits.originHeaderBytesMax
        guard text.utf8.count > most || text.utf8.contains(0) else { return text }
        var kept = String.UnicodeScalarView()
        var count = 0
        for scalar in text.unicodeScalars {
            count += UTF8.width(scalar)
            guard count <= most else { break }
            kept.append(scalar.value == 0 ? " " : scalar)
        }
        return String(kept)
    }
}
