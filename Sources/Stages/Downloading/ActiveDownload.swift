import Curl
import ImageModel
import Messages

/// A job whose transfer runs.
struct ActiveDownload {
    let job: Job
    /// What is asked for now; redirects change it.
    var work: FetchAdmission
    var transfer: Transfer
    var redirects = 0
    /// How often it went on after it had broken off.
    var continuations = 0
    /// Bytes that were here when it last went on.
    var offset = 0
    let sink: BodySink
    var deadline: Instant
    let started: Instant
    /// Whether all bytes are here, while some of them may not be decoded.
    var hasAllBytes = false
    /// Of a transfer that may stand still.
    var standstill: StandstillWatch?

    /// When something is to be done without any event.
    var nextMoment: Instant { nextLook.map { min($0, deadline) } ?? deadline }

    /// Whether it is to be looked whether it stands still.
    func looks(at moment: Instant) -> Bool { nextLook.map { $0 <= moment } ?? false }

    /// Of one whose sink has bytes to decode nothing can come.
    private var nextLook: Instant? { hasAllBytes || sink.isBehind ? nil : standstill?.due }

    /// What an ended transfer brought. The block goes with it, or is given back.
    func result(_ error: CurlError?, at now: Instant) -> JobResult {
        do throws(DownloadFailure) {
            if let failure = sink.failure { throw withRetryAfter(failure) }
            if let error { throw failure(of: error) }
            let url = try effectiveURL()
            var body = try sink.takeBody(effectiveURL: url)
            body.account = account(at: now)
            return .fetched(body)
        } catch {
            sink.discard()
            return .failed(error.imageError)
        }
    }

    private func account(at now: Instant) -> FetchAccount {
        let figures = transfer.figures
        var account = FetchAccount()
        account.name = Double(figures.nameMicroseconds) / 1_000
        account.connect = Double(figures.connectMicroseconds) / 1_000
        account.tls = Double(figures.tlsMicroseconds) / 1_000
        account.firstByte = Double(figures.firstByteMicroseconds) / 1_000
        account.total = Double(now.nanoseconds - started.nanoseconds) / 1_000_000
        account.bytes = UInt64(clamping: figures.bytes)
        (account.httpVersion, account.address) = (figures.httpVersion, figures.address)
        account.isReused = figures.isReused
        account.redirects = UInt32(clamping: redirects)
        account.continuations = UInt32(clamping: continuations)
        return account
    }

    /// libcurl has read the header fields, the sink only refused the status.
    private func withRetryAfter(_ failure: DownloadFailure) -> DownloadFailure {
        guard case .status(let head, _) = failure else { return failure }
        if let refusal = refusalOfProxy(head) { return refusal }
        return .status(head, retryAfter: transfer.retryAfterSeconds)
    }

    /// A proxy alone says 407 (RFC 9110 §15.5.8), where it is no origin behind its tunnel.
    private func refusalOfProxy(_ head: ResponseHead) -> DownloadFailure? {
        guard let proxy = transfer.proxy, head.status == 407,
            work.url.prefix(6).lowercased() != "https:"
        else { return nil }
        return .refusedByProxy(proxy, status: head.status)
    }

    private func failure(of error: CurlError) -> DownloadFailure {
        if let proxy = transfer.proxy, let status = transfer.refusedTunnelStatus {
            return .refusedByProxy(proxy, status: status)
        }
        return switch error.code {
        case .couldNotConnect where transfer.refusedAddress != nil: .addressForbidden
        case .fileSizeExceeded: .bodyTooLarge(sink.bodyBytesMax)
        default: .transfer(error)
        }
    }

    private func effectiveURL() throws(DownloadFailure) -> String {
        if let name = work.name { return name }
        do throws(ImageError) {
            return try SourceURL(transfer.effectiveURL).withoutUserInfo
        } catch {
            throw .badLocation(error.message)
        }
    }
}
