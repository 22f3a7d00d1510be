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

    /// What is left to be asked for after a transfer that ended so; nil where nothing is, and where
    /// the rest cannot be had or may be of another body.
    func rest(after error: CurlError?) -> RestOfBody? {
        guard failure == nil, location == nil, error?.breaksOff ?? isShort, let head, let body
        else { return nil }
        return RestOfBody(of: head, offset: body.count, total: total)
    }

    /// The rest comes next, or all of it once more.
    func expect(_ rest: RestOfBody) { self.rest = rest }

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
