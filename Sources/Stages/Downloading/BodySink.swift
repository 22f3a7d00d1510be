import Curl
import ImageModel
import Linux
import Messages
import StageContract
import Zlib

/// Takes the response of one job: checks its head, puts its body into a block, reports progress.
///
/// What comes in a content coding is kept until `decode` is called.
final class BodySink: TransferSink {
    let bodyBytesMax: Int64
    /// Whether "nothing changed" is an answer to what is asked.
    private let isConditional: Bool
    private let accepted: AcceptedResponses
    /// Why it refused to go on.
    private(set) var failure: DownloadFailure?
    let job: Job
    private let space: any SharingSpace
    private var head: ResponseHead?
    /// When the origin was asked and when its head came, in milliseconds since 1970.
    private let asked = WallClock.nanoseconds() / 1_000_000
    private var answered: Int64 = 0
    /// What is asked for now, where that is not a whole body.
    private var rest: RestOfBody?
    /// Bytes of a body of which parts came, where that is known.
    private var total: Int?
    /// Bytes of this body that had arrived when the rest of it was last requested.
    private var continuedFrom = 0
    /// Where the response leads to, instead of being an image.
    private var location: String?
    /// Bytes that came with a redirect, which nobody reads.
    private var redirectBytes = 0
    private var body: BodyBlock?
    private var decoder: BodyDecoder?
    /// What rules change in the head, and undo of the body.
    private let terms: TransferTerms
    /// The head as rules want it.
    private var answer: ResponseHead?
    private var decryption: BodyDecryption?
    /// What was decrypted so far.
    private var plain: BodyBlock?
    private var hasDecrypted = false
    /// Whether bytes were postponed.
    private var hasPostponed = false
    private var progress: ProgressPacer
    /// Hands out what has arrived; nothing of a body that is encrypted.
    private var early: EarlyBody

    init(
        _ job: Job, _ work: FetchAdmission, accepting accepted: AcceptedResponses,
        space: any SharingSpace,
        pace: EarlyBody.Pace, onProgress: @escaping @Sendable (JobProgress) -> Void
    ) {
        self.job = job
        bodyBytesMax = work.bodyBytesMax
        isConditional = work.isConditional
        self.accepted = accepted
        terms = work.terms
        self.space = space
        progress = ProgressPacer(job, intervalMilliseconds: pace.interval, report: onProgress)
        early = EarlyBody(pace, isWanted: job.wantsArrived)
    }

    func receive(_ head: ResponseHead) -> Bool {
        if let rest = rest.take(), isPart(head) {
            return begin(rest, head)
        }
        forgetBody()
        let answer = head.changed(by: terms.response)
        (self.head, self.answer) = (head, answer)
        answered = WallClock.nanoseconds() / 1_000_000
        location = head.redirection
        guard location == nil else { return true }
        do throws(DownloadFailure) {
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
    ) throws(DownloadFailure) {
        if head.status == 304, isConditional {
            throw .notModified(
                OriginCaching(
                    CacheControl(answer.cacheControl),
                    answer.age(asked: asked, answered: answered)))
        }
        try accepted.take(answer)
    }

    /// Where to go on after a transfer that ended so; nil where it led nowhere else. A redirect
    /// whose body is more than anybody reads was cut off by us: its location is there all the same.
    func redirection(after error: CurlError?) -> String? {
        switch error?.code {
        case nil, .refusedByReceiver, .fileSizeExceeded: location
        default: nil
        }
    }

    /// The redirect is followed: another response comes.
    func beginAgain() {
        (head, answer, location, redirectBytes) = (nil, nil, nil, 0)
    }

    func receive(_ bytes: RawSpan) -> Reception {
        guard location == nil else {
            redirectBytes += bytes.byteCount
            return redirectBytes <= Self.redirectBytesMax ? .taken : .refused
        }
        guard decoder == nil else { return keep(bytes) }
        do throws(DownloadFailure) {
            try append(bytes)
            return .taken
        } catch {
            failure = error
            return .refused
        }
    }

    private func append(_ bytes: RawSpan) throws(DownloadFailure) {
        try append(bytes, to: &body, expecting: head?.bodyLength)
        advance(at: MonotonicClock.now())
    }

    /// Says how far the body is, and hands it out where somebody looks at it.
    private func advance(at now: UInt64) {
        guard let body else { return }
        guard terms.decryptors.isEmpty, let arrived = early.next(of: body, in: space, at: now)
        else { return progress.advance(to: body.count, at: now) }
        progress.handOut(arrived, body.format, of: body.count, at: now)
    }

    private func append(
        _ bytes: RawSpan, to block: inout BodyBlock?, expecting length: Int?
    ) throws(DownloadFailure) {
        guard Int64((block?.count ?? 0) + bytes.byteCount) <= bodyBytesMax else {
            throw .bodyTooLarge(bodyBytesMax)
        }
        do throws(ImageError) {
            if block == nil {
                block = try BodyBlock(in: space, expecting: length, atLeast: bytes.byteCount)
            }
            try block?.append(bytes, in: space)
        } catch {
            throw .refused(error)
        }
    }

    // MARK: - Content codings

    private func keep(_ bytes: RawSpan) -> Reception {
        guard decoder?.hasRoom == true else {
            hasPostponed = true
            return .postponed
        }
        decoder?.append(bytes)
        return .taken
    }

    /// Whether bytes that came are not decoded or decrypted yet.
    var isBehind: Bool { decryption != nil || decoder?.isBehind ?? false }

    /// Decodes as many bytes as `room` has, at most. Where it throws, `failure` says the same.
    func decode(through room: UnsafeMutableRawBufferPointer) throws(DownloadFailure) {
        do throws(DownloadFailure) {
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
    ) throws(DownloadFailure) -> Int {
        do throws(ZlibError) {
            return try decoder?.decode(into: room) ?? 0
        } catch {
            throw .decompression(error)
        }
    }

    /// Begins to undo the decryptors of the rules, once the body is whole. False where there are
    /// none, where that has begun before, and where the body is not whole.
    func beginsDecryption() -> Bool {
        guard failure == nil, answer != nil, !terms.decryptors.isEmpty, !hasDecrypted,
            decoder?.isComplete ?? true, let body, total == nil || total == body.count
        else { return false }
        (decryption, hasDecrypted, total) = (BodyDecryption(terms.decryptors), true, nil)
        progress.end()
        return true
    }

    private func decrypt(through room: UnsafeMutableRawBufferPointer) throws(DownloadFailure) {
        // What a decryptor made nothing of is no body any more.
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

    /// Whether postponed bytes would be taken now; true once for each time that it is.
    func takesPostponed() -> Bool {
        guard hasPostponed, decoder?.hasRoom == true else { return false }
        hasPostponed = false
        return true
    }

    // MARK: - Bodies that broke off

    /// The part to request after a transfer that ended with `error`; `nil` if nothing is missing, if
    /// the last part brought no bytes, and if the origin can't be asked for a part of the same body.
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

    /// Whether this answers the question for a part: with it, or that there is none.
    private func isPart(_ head: ResponseHead) -> Bool { [206, 416].contains(head.status) }

    /// The part goes behind what is here; the head of the whole counts for both.
    private func begin(_ rest: RestOfBody, _ head: ResponseHead) -> Bool {
        guard let part = rest.part(head) else {
            failure = .otherPart
            return false
        }
        total = part.total ?? rest.total
        return true
    }

    /// Whether parts came, and not all of them.
    private var isShort: Bool { total.map { $0 > body?.count ?? 0 } ?? false }

    /// All of it comes once more, or anew.
    private func forgetBody() {
        discard()
        decoder = nil
        total = nil
        continuedFrom = 0
        early.beginAgain()
    }

    // MARK: - How it ends

    /// More than any origin has to say beside a location: the rest is not read.
    private static let redirectBytesMax = 64 << 10

    /// Somebody listens to how far it is.
    func wantProgress() {
        progress.want(at: MonotonicClock.now())
    }

    /// Somebody looks at what has arrived.
    func wantArrived() {
        early.isWanted = true
        advance(at: MonotonicClock.now())
    }

    /// Whether what has arrived waits for its turn to be handed out.
    var holdsBack: Bool { early.isBehind(body) && terms.decryptors.isEmpty }

    /// Hands that out, if its turn has come.
    func handOut() { advance(at: MonotonicClock.now()) }

    /// Hands the block over with what the head said. Throws for an empty body.
    func takeBody(effectiveURL: String) throws(DownloadFailure) -> FetchedBody {
        guard let head = answer else { throw .headCutOff }
        guard decoder?.isComplete ?? true else { throw .codingCutOff }
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

    /// Gives the block back.
    func discard() {
        body?.discard(in: space)
        plain?.discard(in: space)
        (body, plain, decryption) = (nil, nil, nil)
    }
}

/// The block that a body grows in: small at first, doubled as bytes arrive, never made large on
/// the origin's word (SEMANTICS §10.4).
///
/// The owner hands the reference over or calls `discard`.
struct BodyBlock {
    private var block: OutputBlock
    private let expected: Int?
    private(set) var count = 0

    /// Bytes of the first block at most.
    static let startBytes = 64 * 1024

    /// Reserves min(`expected`, 64 KB), and never less than the bytes that are here. Throws
    /// `arenaFull`.
    init(
        in space: any OutputSpace, expecting expected: Int?, atLeast: Int
    ) throws(ImageError) {
        self.expected = expected
        let start = min(expected ?? Self.startBytes, Self.startBytes)
        block = try space.reserve(max(start, atLeast, 1))
    }

    /// Copies bytes behind those that are there. Throws `arenaFull`; what was there stays.
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

    /// Twice what is there, though not beyond what the origin announced while that holds.
    private func capacity(for needed: Int) -> Int {
        let doubled = max(needed, block.bytes.count * 2)
        guard let expected, expected >= needed else { return doubled }
        return min(doubled, expected)
    }

    /// The bytes.
    var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: block.bytes[..<count])
    }

    /// What the bytes look like.
    var format: ImageFormat? { block.format(length: count) }

    /// Names the bytes.
    var reference: BlockReference { block.reference(length: count) }

    /// Names what is here by an id of its own, while more is written behind it.
    func share(in space: any SharingSpace) -> BlockReference? {
        space.share(block)?.reference(length: count)
    }

    func discard(in space: any OutputSpace) {
        space.discard(block)
    }
}

/// Hands out what has arrived of one body while the rest comes: one block at a time, not too often,
/// and each time more than before. What is held back is handed out later, although no more comes.
///
/// Where nothing more comes, the same bytes are handed out again, after pauses that double:
/// whoever had no time for them at first sees them nevertheless.
struct EarlyBody {
    /// When bytes are handed out, in milliseconds.
    struct Pace: Sendable {
        /// Between two times at least.
        var interval = 100
        /// From the first time that bytes were handed out to the second. Each of a few pauses
        /// that follow is twice as long.
        var again = 200
    }

    /// Whether anybody looks at it.
    var isWanted: Bool
    private let pace: Pace
    private var last: Last?

    /// What was handed out last.
    private struct Last {
        let block: BlockID
        let bytes: Int
        /// When, in nanoseconds.
        let at: UInt64
        /// How often the same bytes were before.
        let repeats: Int
    }

    /// So often the pause doubles: to 3.2 s, at the usual pace.
    private static let doublingsMax = 4

    init(_ pace: Pace, isWanted: Bool) {
        (self.pace, self.isWanted) = (pace, isWanted)
    }

    /// Another body takes the place of the one that was handed out.
    mutating func beginAgain() { last = nil }

    /// Whether something will be handed out, though nothing more may come.
    func isBehind(_ body: BodyBlock?) -> Bool { isWanted && body?.count ?? 0 > 0 }

    /// The bytes that are here, where it is their turn: the first ones at once, others when those
    /// before were given back.
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

/// Reports the progress of one job where somebody listens, and not too often.
struct ProgressPacer {
    private let job: Job
    private let interval: UInt64
    private let report: @Sendable (JobProgress) -> Void
    private var expected: UInt64 = 0
    private var received: UInt64 = 0
    private var reported: UInt64?
    private var reportedAt: UInt64 = 0
    private var isWanted: Bool
    /// Whether the head is here: before it there is nothing to report.
    private var hasBegun = false

    init(
        _ job: Job, intervalMilliseconds: Int, report: @escaping @Sendable (JobProgress) -> Void
    ) {
        self.job = job
        self.report = report
        isWanted = job.wantsProgress
        interval = UInt64(max(0, intervalMilliseconds)) * 1_000_000
    }

    /// The head is here: the first report (SEMANTICS §10.5).
    mutating func begin(expected: Int?) {
        self.expected = UInt64(expected ?? 0)
        received = 0
        hasBegun = true
        send()
    }

    /// Bytes came.
    mutating func advance(to received: Int, at now: UInt64) {
        self.received = UInt64(received)
        guard isWanted, now >= reportedAt + interval else { return }
        reportedAt = now
        send()
    }

    /// Bytes are handed out. Who made them ready says how often.
    mutating func handOut(
        _ arrived: BlockReference, _ format: ImageFormat?, of received: Int, at now: UInt64
    ) {
        (self.received, reported, reportedAt) = (UInt64(received), UInt64(received), now)
        report(
            JobProgress(
                id: job.id, attempt: job.attempt, received: self.received, expected: expected,
                arrived: arrived, format: format))
    }

    /// Somebody listens from now on, and hears at once how far it is.
    mutating func want(at now: UInt64) {
        guard !isWanted else { return }
        isWanted = true
        reportedAt = now
        if hasBegun { send() }
    }

    /// All bytes are here: the last report always goes out.
    mutating func end() {
        if reported != received { send() }
    }

    private mutating func send() {
        guard isWanted else { return }
        reported = received
        report(
            JobProgress(
                id: job.id, attempt: job.attempt, received: received, expected: expected))
    }
}
