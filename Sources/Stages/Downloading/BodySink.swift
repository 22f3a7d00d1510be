import Curl
import ImageModel
import Linux
import Messages
import StageContract

/// Takes the response of one job: checks its head, puts its body into a block, reports progress.
final class BodySink: TransferSink {
    let bodyBytesMax: Int64
    /// Why it refused to go on.
    private(set) var failure: DownloadFailure?
    private let job: Job
    private let space: any OutputSpace
    private var head: ResponseHead?
    /// Where the response leads to, instead of being a picture.
    private var location: String?
    /// Bytes that came with a redirect, which nobody reads.
    private var redirectBytes = 0
    private var body: BodyBlock?
    private var progress: ProgressPacer

    init(
        _ job: Job, bodyBytesMax: Int64, space: any OutputSpace,
        progressIntervalMilliseconds: Int, onProgress: @escaping @Sendable (JobProgress) -> Void
    ) {
        self.job = job
        self.bodyBytesMax = bodyBytesMax
        self.space = space
        progress = ProgressPacer(
            job, intervalMilliseconds: progressIntervalMilliseconds, report: onProgress)
    }

    func receive(_ head: ResponseHead) -> Bool {
        self.head = head
        location = head.redirection
        guard location == nil else { return true }
        guard (200..<300).contains(head.status) else {
            failure = .status(head)
            return false
        }
        progress.begin(expected: head.bodyLength)
        return true
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
        (head, location, redirectBytes) = (nil, nil, 0)
    }

    func receive(_ bytes: RawSpan) -> Bool {
        guard location == nil else {
            redirectBytes += bytes.byteCount
            return redirectBytes <= Self.redirectBytesMax
        }
        do throws(ImageError) {
            if body == nil {
                body = try BodyBlock(
                    in: space, expecting: head?.bodyLength, atLeast: bytes.byteCount)
            }
            try body?.append(bytes, in: space)
        } catch {
            failure = .refused(error)
            return false
        }
        progress.advance(to: body?.count ?? 0, at: MonotonicClock.now())
        return true
    }

    /// More than any origin has to say beside a location: the rest is not read.
    private static let redirectBytesMax = 64 << 10

    /// Reports where it is now.
    func reportProgress() {
        progress.flush(at: MonotonicClock.now())
    }

    /// Hands the block over with what the head said. Throws for an empty body.
    func takeBody(effectiveURL: String) throws(DownloadFailure) -> FetchedBody {
        guard let head else { throw .defect("a transfer ended well without a head") }
        guard let full = body, full.count > 0 else { throw .emptyBody }
        progress.end()
        body = nil
        return FetchedBody(
            reference: full.reference, httpStatus: UInt16(clamping: head.status),
            contentType: head.kept("content-type"), etag: head.kept("etag"),
            lastModified: head.kept("last-modified"), cacheControl: head.kept("cache-control"),
            vary: head.vary, effectiveURL: effectiveURL)
    }

    /// Gives the block back.
    func discard() {
        body?.discard(in: space)
        body = nil
    }
}
