import Curl
import Linux
import Model
import Zlib

/// Receives the response of one job: validates its head, stores its body in a block, and reports
/// progress.
///
/// Bytes with a content coding are kept until `decode` is called.
final class BodySink: TransferSink {
    /// The first request of the job, whose rules change the head and decrypt the body.
    private let work: FetchAdmission
    private let accepted: AcceptedResponses
    /// The reason why it refused to continue.
    private(set) var failure: ImageError?
    let job: Job
    private let space: any SharingSpace
    private var head: ResponseHead?
    /// When the request was sent and when the head arrived, in milliseconds since 1970.
    private let asked = WallClock.nanoseconds() / 1_000_000
    private var answered: Int64 = 0
    /// The requested range, if not the whole body.
    private var rest: RestOfBody?
    /// The total size of a body received in parts, if known.
    private var total: Int?
    /// Bytes of this body that had arrived when the rest of it was last requested.
    private var continuedFrom = 0
    /// The target of a redirect.
    private var location: String?
    /// The number of body bytes of a redirect, which are discarded.
    private var redirectBytes = 0
    private var body: BodyBlock?
    private var decoder: BodyDecoder?
    /// The head after applying rules.
    private var answer: ResponseHead?
    private var decryption: BodyDecryption?
    /// The bytes decrypted so far.
    private var plain: BodyBlock?
    private var hasDecrypted = false
    /// Whether reception was paused.
    private var hasPostponed = false
    private var progress: ProgressPacer
    /// Publishes partial data; never of encrypted bodies.
    private var early: EarlyBody
    private let heartbeat: LoopHeartbeat

    init(
        _ job: Job, _ work: FetchAdmission, accepting accepted: AcceptedResponses,
        space: any SharingSpace, pace: EarlyBody.Pace, heartbeat: LoopHeartbeat,
        onProgress: @escaping @Sendable (JobProgress) -> Void
    ) {
        (self.job, self.work, self.accepted) = (job, work, accepted)
        (self.space, self.heartbeat) = (space, heartbeat)
        progress = ProgressPacer(job, pace, onProgress)
        early = EarlyBody(pace, isWanted: job.wantsArrived)
    }

    var bodyBytesMax: Int64 { work.bodyBytesMax }

    func receive(_ head: ResponseHead) -> Bool { heartbeat.handling(job.id) { take(head) } }

    func receive(_ bytes: RawSpan) -> Reception { heartbeat.handling(job.id) { take(bytes) } }

    private func take(_ head: ResponseHead) -> Bool {
        if let rest = rest.take(), isPart(head) {
            return begin(rest, head)
        }
        forgetBody()
        let answer = head.changed(by: work.terms.response)
        (self.head, self.answer) = (head, answer)
        answered = WallClock.nanoseconds() / 1_000_000
        location = head.redirection
        guard location == nil else { return true }
        do throws(ImageError) {
            try check(head, answer)
            decoder = try ContentCoding(head).map { BodyDecoder($0) }
        } catch {
            failure = error
            return false
        }
        progress.begin(expected: head.bodyLength)
        return true
    }

    private func check(
        _ head: ResponseHead, _ answer: ResponseHead
    ) throws(ImageError) {
        if head.status == 304, work.isConditional {
            throw .notModified(
                OriginCaching(
                    CacheControl(answer.cacheControl),
                    answer.age(asked: asked, answered: answered)))
        }
        try accepted.check(answer)
    }

    /// Returns the redirect target after a transfer ended with this result; nil if it wasn't a
    /// redirect. If the sink itself aborted a redirect because of an overlong body, its location is
    /// still valid.
    func redirection(after error: CurlError?) -> String? {
        switch error?.code {
        case nil, .refusedByReceiver, .fileSizeExceeded: location
        default: nil
        }
    }

    /// Resets the sink for the response to a followed redirect.
    func beginAgain() {
        (head, answer, location, redirectBytes) = (nil, nil, nil, 0)
    }

    private func take(_ bytes: RawSpan) -> Reception {
        guard location == nil else {
            redirectBytes += bytes.byteCount
            return redirectBytes <= Self.redirectBytesMax ? .accepted : .refused
        }
        guard decoder == nil else { return keep(bytes) }
        do throws(ImageError) {
            try append(bytes)
            return .accepted
        } catch {
            failure = error
            return .refused
        }
    }

    private func append(_ bytes: RawSpan) throws(ImageError) {
        try append(bytes, to: &body, expecting: head?.bodyLength)
        advance(at: MonotonicClock.now())
    }

    /// Reports progress, and publishes partial data if it is wanted.
    private func advance(at now: UInt64) {
        guard let body else { return }
        guard work.terms.decryptors.isEmpty, let arrived = early.next(of: body, in: space, at: now)
        else { return progress.advance(to: body.count, at: now) }
        progress.publish(arrived, body.format, of: body.count, at: now)
    }

    private func append(
        _ bytes: RawSpan, to block: inout BodyBlock?, expecting length: Int?
    ) throws(ImageError) {
        guard Int64((block?.count ?? 0) + bytes.byteCount) <= bodyBytesMax else {
            throw .bodyTooLarge(bodyBytesMax)
        }
        if block == nil {
            block = try BodyBlock(in: space, expecting: length, atLeast: bytes.byteCount)
        }
        try block?.append(bytes, in: space)
    }

    // MARK: - Content codings

    private func keep(_ bytes: RawSpan) -> Reception {
        guard decoder?.hasRoom == true else {
            hasPostponed = true
            return .postponed
        }
        decoder?.append(bytes)
        return .accepted
    }

    /// Whether received bytes are not decoded or decrypted yet.
    var isBehind: Bool { decryption != nil || decoder?.isBehind ?? false }

    /// Decodes at most as many bytes as `room` has. If it throws, `failure` is set to the same
    /// error.
    func decode(through room: UnsafeMutableRawBufferPointer) throws(ImageError) {
        do throws(ImageError) {
            guard decryption == nil else { return try decrypt(through: room) }
            let count = try decoded(into: room)
            guard count > 0 else { return }
            try append(UnsafeRawBufferPointer(rebasing: room[..<count]).bytes)
        } catch {
            failure = error
            throw error
        }
    }

    private func decoded(
        into room: UnsafeMutableRawBufferPointer
    ) throws(ImageError) -> Int {
        do throws(ZlibError) {
            return try decoder?.decode(into: room) ?? 0
        } catch {
            throw .decompression(error)
        }
    }

    /// Starts the decryptors of the rules once the body is complete. Returns false if there are
    /// none, if they were started before, or if the body is incomplete.
    func beginsDecryption() -> Bool {
        guard failure == nil, answer != nil, !work.terms.decryptors.isEmpty, !hasDecrypted,
            decoder?.isComplete ?? true, let body, total == nil || total == body.count
        else { return false }
        (decryption, hasDecrypted, total) = (BodyDecryption(work.terms.decryptors), true, nil)
        progress.end()
        return true
    }

    private func decrypt(through room: UnsafeMutableRawBufferPointer) throws(ImageError) {
        // If a decryptor produced nothing, there is no body.
        guard let whole = body, let turn = try decryption?.turn(whole.bytes.bytes, into: room)
        else { return decryption = nil }
        if turn.produced > 0 {
            let written = UnsafeRawBufferPointer(rebasing: room[..<turn.produced]).bytes
            try append(written, to: &plain, expecting: nil)
        }
        guard turn.isEnd else { return }
        whole.discard(in: space)
        (body, plain) = (plain, nil)
        if decryption?.isDone == true { decryption = nil }
    }

    /// Returns whether a paused transfer can be resumed, because there is space for the bytes that
    /// it deferred; true once per pause.
    func acceptsDeferredBytes() -> Bool {
        guard hasPostponed, decoder?.hasRoom == true else { return false }
        hasPostponed = false
        return true
    }

    // MARK: - Interrupted bodies

    /// The part to request after a transfer that ended with `error`; `nil` if nothing is missing,
    /// if the last part brought no bytes, or if the origin can't send a part of the same body.
    func rest(after error: CurlError?) -> RestOfBody? {
        guard failure == nil, location == nil, error?.breaksOff ?? isShort, let head, let body,
            body.count > continuedFrom
        else { return nil }
        return RestOfBody(of: head, offset: body.count, total: total)
    }

    /// The rest comes next, or all of it once more.
    func expect(_ rest: RestOfBody) {
        self.rest = rest
        continuedFrom = rest.offset
    }

    /// Returns whether the response answers a range request: with the range, or that there is none.
    private func isPart(_ head: ResponseHead) -> Bool { [206, 416].contains(head.status) }

    /// Appends a range to the received bytes; the head of the whole body applies to both.
    private func begin(_ rest: RestOfBody, _ head: ResponseHead) -> Bool {
        guard let part = rest.part(head) else {
            failure = .otherPart
            return false
        }
        total = part.total ?? rest.total
        return true
    }

    /// Whether parts arrived, but not all of them.
    private var isShort: Bool { total.map { $0 > body?.count ?? 0 } ?? false }

    /// Discards the body, because all of it is sent again.
    private func forgetBody() {
        discard()
        decoder = nil
        total = nil
        continuedFrom = 0
        early.beginAgain()
    }

    // MARK: - Completion

    /// More than any origin sends along with a location; the rest is not read.
    private static let redirectBytesMax = 64 << 10

    /// Starts progress reports.
    func wantProgress() {
        progress.want(at: MonotonicClock.now())
    }

    /// Starts publishing partial data.
    func wantArrived() {
        early.isWanted = true
        advance(at: MonotonicClock.now())
    }

    /// Whether partial data is waiting to be published.
    var hasUnpublishedBytes: Bool { early.isBehind(body) && work.terms.decryptors.isEmpty }

    /// Publishes partial data if it is due.
    func publish() { advance(at: MonotonicClock.now()) }

    /// Passes the block on with the information from the head. Throws for an empty body.
    func finish(effectiveURL: String) throws(ImageError) -> FetchedBody {
        // libcurl treats a response that ends within its head as success.
        guard let head = answer else {
            throw ImageError(.connectionBroken, "the response ends within its header")
        }
        guard decoder?.isComplete ?? true else {
            throw ImageError(.shortBody, "the compressed body is truncated")
        }
        guard let full = body, full.count > 0 else { throw .emptyBody }
        guard total == nil || total == full.count else { throw .otherPart }
        progress.end()
        body = nil
        var fetched = FetchedBody(
            reference: full.reference, httpStatus: UInt16(clamping: head.status),
            contentType: head.kept("content-type"), etag: head.kept("etag"),
            lastModified: head.kept("last-modified"), cacheControl: head.cacheControl,
            vary: head.vary, effectiveURL: effectiveURL, format: full.format)
        fetched.age = head.age(asked: asked, answered: answered)
        fetched.tags = head.tags
        return fetched
    }

    /// Frees the block.
    func discard() {
        body?.discard(in: space)
        plain?.discard(in: space)
        (body, plain, decryption) = (nil, nil, nil)
    }
}

/// The growing block of a body: small at first and doubled as bytes arrive; its size never depends
/// on the length that the origin announces (SEMANTICS §10.4).
///
/// The owner passes the reference on or calls `discard`.
struct BodyBlock {
    private var block: OutputBlock
    private let expected: Int?
    private(set) var count = 0

    /// The maximum size of the first block in bytes.
    static let startBytes = 64 * 1024

    /// Reserves min(`expected`, 64 KB), but at least `atLeast` bytes for those that have already
    /// arrived. Throws `arenaFull`.
    init(
        in space: any OutputSpace, expecting expected: Int?, atLeast: Int
    ) throws(ImageError) {
        self.expected = expected
        let start = min(expected ?? Self.startBytes, Self.startBytes)
        block = try space.reserve(max(start, atLeast, 1))
    }

    /// Appends bytes. Throws `arenaFull` without losing earlier bytes.
    mutating func append(_ bytes: RawSpan, in space: any OutputSpace) throws(ImageError) {
        let needed = count + bytes.byteCount
        if needed > block.bytes.count {
            block = try space.resize(block, to: capacity(for: needed), keeping: count)
        }
        bytes.withUnsafeBytes { source in
            UnsafeMutableRawBufferPointer(rebasing: block.bytes[count..<needed])
                .copyMemory(from: source)
        }
        count = needed
    }

    /// Twice the current size, but at most the announced length while that is sufficient.
    private func capacity(for needed: Int) -> Int {
        let doubled = max(needed, block.bytes.count * 2)
        guard let expected, expected >= needed else { return doubled }
        return min(doubled, expected)
    }

    /// The received bytes.
    var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: block.bytes[..<count])
    }

    /// The format detected from the bytes.
    var format: ImageFormat? { block.format(length: count) }

    /// The reference to the received bytes.
    var reference: BlockReference { block.reference(length: count) }

    /// Returns a reference with a separate ID to the bytes received so far, while more are
    /// appended.
    func share(in space: any SharingSpace) -> BlockReference? {
        space.share(block)?.reference(length: count)
    }

    func discard(in space: any OutputSpace) {
        space.discard(block)
    }
}

/// Publishes the received bytes of one body during the transfer: one block at a time, rate-limited,
/// and each time more than before. Delayed data is published later even if no more arrives.
///
/// If no more data arrives, the same bytes are published again at doubling intervals, because the
/// receiver may have been busy at first.
struct EarlyBody {
    /// The publishing intervals in milliseconds.
    struct Pace: Hashable, Sendable {
        /// The minimum interval, also between progress reports.
        var interval = 100
        /// The interval before publishing the same bytes again; it doubles a few times.
        var again = 200
    }

    /// Whether partial data is wanted.
    var isWanted: Bool
    private let pace: Pace
    private var last: Last?

    /// The last publication.
    private struct Last {
        let block: BlockID
        let bytes: Int
        /// When, in nanoseconds.
        let at: UInt64
        /// The number of earlier publications of the same bytes.
        let repeats: Int
    }

    /// How often the interval doubles: up to 3.2 s by default.
    private static let doublingsMax = 4

    init(_ pace: Pace, isWanted: Bool) {
        (self.pace, self.isWanted) = (pace, isWanted)
    }

    /// Another body takes the place of the one that was handed out.
    mutating func beginAgain() { last = nil }

    /// Whether something will be handed out, though nothing more may come.
    func isBehind(_ body: BodyBlock?) -> Bool { isWanted && body?.count ?? 0 > 0 }

    /// Returns the received bytes if it is time to publish them: the first ones immediately, later
    /// ones after the previous block was released.
    mutating func next(
        of body: BodyBlock, in space: any SharingSpace, at now: UInt64
    ) -> BlockReference? {
        guard isBehind(body), isDue(body, in: space, at: now),
            let reference = body.share(in: space)
        else { return nil }
        let repeats = body.count == last?.bytes ? (last?.repeats ?? 0) + 1 : 0
        last = Last(block: reference.block, bytes: body.count, at: now, repeats: repeats)
        return reference
    }

    private func isDue(_ body: BodyBlock, in space: any SharingSpace, at now: UInt64) -> Bool {
        guard let last else { return true }
        let again = pace.again << min(last.repeats, Self.doublingsMax)
        let pause = body.count > last.bytes ? pace.interval : again
        return now >= last.at + UInt64(max(0, pause)) * 1_000_000 && !space.isInUse(last.block)
    }
}

/// Reports the progress of one job, if requested, at a limited rate.
struct ProgressPacer {
    private let job: Job
    private let interval: UInt64
    private let report: @Sendable (JobProgress) -> Void
    private var expected: UInt64 = 0
    private var received: UInt64 = 0
    private var reported: UInt64?
    private var reportedAt: UInt64 = 0
    private var isWanted: Bool
    /// Whether the head has arrived; before that there is nothing to report.
    private var hasBegun = false

    init(
        _ job: Job, _ pace: EarlyBody.Pace, _ report: @escaping @Sendable (JobProgress) -> Void
    ) {
        self.job = job
        self.report = report
        isWanted = job.wantsProgress
        interval = UInt64(max(0, pace.interval)) * 1_000_000
    }

    /// Sends the first report after the head has arrived (SEMANTICS §10.5).
    mutating func begin(expected: Int?) {
        self.expected = UInt64(expected ?? 0)
        received = 0
        hasBegun = true
        send()
    }

    /// Reports received bytes.
    mutating func advance(to received: Int, at now: UInt64) {
        self.received = UInt64(received)
        guard isWanted, now >= reportedAt + interval else { return }
        reportedAt = now
        send()
    }

    /// Reports published bytes; their rate is limited by the publisher.
    mutating func publish(
        _ arrived: BlockReference, _ format: ImageFormat?, of received: Int, at now: UInt64
    ) {
        (self.received, reportedAt) = (UInt64(received), now)
        send(arrived, format)
    }

    /// Starts reporting, with an immediate report.
    mutating func want(at now: UInt64) {
        guard !isWanted else { return }
        isWanted = true
        reportedAt = now
        if hasBegun { send() }
    }

    /// Sends the final report, which is never suppressed.
    mutating func end() {
        if reported != received { send() }
    }

    private mutating func send(
        _ arrived: BlockReference? = nil, _ format: ImageFormat? = nil
    ) {
        guard isWanted || arrived != nil else { return }
        reported = received
        report(
            JobProgress(
                id: job.id, attempt: job.attempt, received: received, expected: expected,
                arrived: arrived, format: format))
    }
}
