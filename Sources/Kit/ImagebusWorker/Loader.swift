public import ImageModel
import Linux
import Messages
import Observability
import StageContract
import Synchronization

/// Obtains the bytes of URLs. SDWebImage's loader.
///
/// `credit` loads run at a time, each on a thread of its own. A load that nobody wants is over at
/// once, and its thread may end when it will; where more than 16 of these go on, the process ends.
public protocol Loader: Sendable {
    /// Those of the URLs; `schemes` of the pool names them as well.
    var schemes: [String] { get }

    /// Loads at a time, from 1 to 256; 8 where an author says nothing else. `credit` of the pool
    /// may be less.
    var credit: Int { get }

    /// The bytes of an image: 1 to `report.bytesMax`. The URL and the headers are a stranger's: no
    /// path, host or query of them leads anywhere by itself.
    ///
    /// Throws ``Failure`` in a domain of its own, or `ImageError`; whatever else is `internalError`
    /// for the caller, who learns its type.
    func load(_ url: String, headers: [HTTPHeader], _ report: LoadReport) throws -> Loaded
}

extension Loader {
    /// Eight.
    public var credit: Int { 8 }
}

/// Bytes, with what an HTTP origin would say of them.
public struct Loaded: Hashable, Sendable {
    /// The bytes of an image.
    public var bytes: [UInt8]
    /// Their media type.
    public var contentType: String?
    /// By what they are known again: a load that asks whether they are still the same is then
    /// answered without them.
    public var etag: String?
    /// The same by a date of HTTP.
    public var lastModified: String?
    /// For how long they may be kept, in the words of `Cache-Control`.
    public var cacheControl: String?

    /// Bytes of which nothing else is known. Of each text that is set later 1,024 bytes count.
    public init(_ bytes: [UInt8], etag: String? = nil) {
        self.bytes = bytes
        self.etag = etag
    }
}

/// What a load says while it works, and what it is told. Any thread.
public final class LoadReport: Sendable {
    private struct State {
        var deadline: UInt64
        var wantsProgress: Bool
        var isCancelled = false
        /// When something was told last.
        var told: UInt64 = 0
        var last: Amount?
    }

    private struct Amount {
        var received: Int
        var expected: Int
    }

    private let state: Mutex<State>
    private let tell: @Sendable (_ received: UInt64, _ expected: UInt64) -> Void
    /// Nanoseconds between two messages.
    private static let pause: UInt64 = 20_000_000

    /// Bytes of the result at most.
    public let bytesMax: Int

    init(
        millisecondsLeft: UInt32, bytesMax: Int, wantsProgress: Bool,
        tell: @escaping @Sendable (_ received: UInt64, _ expected: UInt64) -> Void
    ) {
        self.bytesMax = bytesMax
        self.tell = tell
        state = Mutex(
            State(deadline: Self.deadline(in: millisecondsLeft), wantsProgress: wantsProgress))
    }

    /// Whether nobody waits any more.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Milliseconds until nobody waits any more.
    public var millisecondsLeft: Int {
        let (deadline, now) = (state.withLock { $0.deadline }, MonotonicClock.now())
        return deadline > now ? Int((deadline - now) / 1_000_000) : 0
    }

    /// Throws where nobody waits any more; let it through.
    public func check() throws(CancellationError) {
        if isCancelled { throw CancellationError() }
    }

    /// How far it is, in whatever unit; 0 expected: not known. Throws as `check` does. May be said
    /// as often as it is known: one in twenty milliseconds travels, and the last one.
    public func callAsFunction(
        _ received: Int, of expected: Int = 0
    ) throws(CancellationError) {
        try check()
        let amount = Amount(received: max(0, received), expected: max(0, expected))
        let isTold = state.withLock { state in
            state.last = amount
            let now = MonotonicClock.now()
            guard state.wantsProgress,
                now - state.told >= Self.pause || received == expected
            else { return false }
            state.told = now
            return true
        }
        if isTold { say(amount) }
    }

    private func say(_ amount: Amount) { tell(UInt64(amount.received), UInt64(amount.expected)) }

    private static func deadline(in milliseconds: UInt32) -> UInt64 {
        MonotonicClock.now() + UInt64(milliseconds) * 1_000_000
    }
}

// What the session tells it, on the bus thread.
extension LoadReport {
    func cancel() { state.withLock { $0.isCancelled = true } }

    /// Whoever begins to listen is told at once.
    func adjust(millisecondsLeft: UInt32, wantsProgress: Bool) {
        let amount: Amount? = state.withLock { state in
            state.deadline = Self.deadline(in: millisecondsLeft)
            defer { state.wantsProgress = wantsProgress }
            return wantsProgress && !state.wantsProgress ? state.last : nil
        }
        if let amount { say(amount) }
    }
}

/// Does the jobs of a loader. Any thread.
struct LoaderStage<Author: Loader>: Sendable {
    let loader: Author
    let log: Log

    /// The body that a job asks for, in a block of `output`.
    func perform(
        _ work: FetchWork, output: some OutputSpace, _ report: LoadReport
    ) throws(ImageError) -> FetchedBody {
        let loaded: Loaded
        do {
            loaded = try loader.load(work.url, headers: work.headers, report)
            try report.check()
        } catch {
            throw AuthorError(error).imageError(log) { ImageError(.badImageData, $0) }
        }
        let count = loaded.bytes.count
        guard UInt64(count) <= work.bodyBytesMax else {
            throw ImageError(
                .limitExceeded,
                "the loader has \(count) bytes, at most \(work.bodyBytesMax) are taken",
                details: ["limit": "bytes"])
        }
        guard count > 0 else { throw ImageError(.badImageData, "the loader has no bytes") }
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

    /// As much of a text as travels.
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
