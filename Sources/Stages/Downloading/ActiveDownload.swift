import Curl
import Model

/// A job with a running transfer.
struct ActiveDownload {
    let job: Job
    /// The current request; redirects change it.
    var work: FetchAdmission
    var transfer: Transfer
    var redirects = 0
    /// How often it was continued after a broken connection.
    var continuations = 0
    let sink: BodySink
    var deadline: Instant
    let started: Instant
    /// Whether all bytes have arrived, although some may not be decoded yet.
    var hasAllBytes = false
    /// The stall detection for a transfer that may be stuck.
    var stall: TransferStallDetector?

    /// When something must be done without an event.
    var nextMoment: Instant { nextLook.map { min($0, deadline) } ?? deadline }

    /// Returns whether a stall check is due.
    func looks(at moment: Instant) -> Bool { nextLook.map { $0 <= moment } ?? false }

    /// A transfer whose sink still decodes can't receive bytes, so it isn't checked.
    private var nextLook: Instant? { hasAllBytes || sink.isBehind ? nil : stall?.due }

    /// Returns the result of a completed transfer. The block is passed on with it or freed.
    func result(_ error: CurlError?, at now: Instant) -> JobResult {
        do throws(ImageError) {
            if let failure = sink.failure { throw withRetryAfter(failure) }
            if let error { throw failure(of: error) }
            let url = try effectiveURL()
            var body = try sink.finish(effectiveURL: url)
            body.account = account(at: now)
            return .fetched(body)
        } catch {
            sink.discard()
            return .failed(error)
        }
    }

    private func account(at now: Instant) -> FetchAccount {
        var account = FetchAccount()
        account.name = Double(transfer.nameMicroseconds) / 1_000
        account.connect = Double(transfer.connectMicroseconds) / 1_000
        account.tls = Double(transfer.tlsMicroseconds) / 1_000
        account.firstByte = Double(transfer.firstByteMicroseconds) / 1_000
        account.total = Double(now.nanoseconds - started.nanoseconds) / 1_000_000
        account.bytes = UInt64(clamping: transfer.receivedBytes)
        (account.httpVersion, account.address) = (transfer.httpVersion, transfer.address)
        account.isReused = transfer.isReused
        account.redirects = UInt32(clamping: redirects)
        account.continuations = UInt32(clamping: continuations)
        return account
    }

    /// Adds `Retry-After` to a rejected status, whose headers libcurl has already parsed. It
    /// applies to 429 and 503 (RFC 6585 §4, RFC 9110 §15.6.4); other responses with it are
    /// redirects.
    private func withRetryAfter(_ failure: ImageError) -> ImageError {
        guard failure.code == .invalidDownloadStatusCode,
            let status = failure.typedDetails.httpStatus
        else { return failure }
        if let refusal = refusalOfProxy(status) { return refusal }
        var failure = failure
        if let seconds = transfer.retryAfterSeconds, status == 429 || status == 503 {
            failure.typedDetails.retryAfterWholeSeconds = UInt32(clamping: seconds)
        }
        return failure
    }

    /// Returns the error if a proxy answered 407, which only proxies send (RFC 9110 §15.5.8),
    /// unless it came from an origin behind its tunnel.
    private func refusalOfProxy(_ status: Int) -> ImageError? {
        guard let proxy = transfer.proxy, status == 407,
            work.url.prefix(6).lowercased() != "https:"
        else { return nil }
        return .refusedByProxy(proxy, status: status)
    }

    private func failure(of error: CurlError) -> ImageError {
        if let proxy = transfer.proxy, let status = transfer.refusedTunnelStatus {
            return .refusedByProxy(proxy, status: status)
        }
        return switch error.code {
        case .couldNotConnect where transfer.refusedAddress != nil: .addressBlocked
        case .fileSizeExceeded: .bodyTooLarge(sink.bodyBytesMax)
        default: ImageError(transfer: error)
        }
    }

    private func effectiveURL() throws(ImageError) -> String {
        if let name = work.name { return name }
        do throws(ImageError) {
            return try SourceURL(transfer.effectiveURL).withoutUserInfo
        } catch {
            throw .badLocation(error.message)
        }
    }
}

/// Checks whether a transfer is stuck after another one was resumed or aborted; if so, it must be
/// nudged (`TransferSet.nudge`).
///
/// libcurl 7.88 reads the streams of an HTTP/2 connection through one buffer. While one sink
/// pauses, the data of other streams waits behind its data. On resumption, libcurl sets a flag on
/// the connection to read the rest, which another transfer may clear; after an abort it sets none.
/// The data is then buffered, the socket is not readable, and nothing reads it.
///
/// The number of nudges is limited, because each restarts libcurl's low-speed timer, which still
/// has to end transfers of a silent origin.
struct TransferStallDetector {
    private var received: Int64
    private var milliseconds = Self.millisecondsMin
    /// The number of checks left until the next disturbance.
    private var looksLeft = Self.looksMax
    /// The number of nudges left while nothing arrives, and in total.
    private var nudgesLeft = Self.looksMax
    private var nudgesLeftInAll = Self.nudgesMax
    private var next: Instant

    /// The first check follows after 20 ms, and the interval doubles: all within 1.3 s.
    static let millisecondsMin = 20
    static let looksMax = 6
    static let nudgesMax = 30

    /// Starts checking a transfer with this number of received bytes, after another one was resumed
    /// or aborted.
    init(received: Int64, at now: Instant) {
        self.received = received
        next = now.adding(milliseconds: milliseconds)
    }

    /// When the next check is due; `nil` if there are none left.
    var due: Instant? { looksLeft > 0 && nudgesLeftInAll > 0 ? next : nil }

    /// Restarts the checks after another disturbance. A check that is due earlier keeps its time.
    mutating func disturb(at now: Instant) {
        next =
            due.map { min($0, now.adding(milliseconds: Self.millisecondsMin)) }
            ?? now.adding(milliseconds: Self.millisecondsMin)
        (looksLeft, milliseconds) = (Self.looksMax, Self.millisecondsMin)
    }

    /// Performs a due check; returns whether the transfer must be nudged.
    mutating func look(received: Int64, at now: Instant) -> Bool {
        looksLeft -= 1
        milliseconds *= 2
        next = now.adding(milliseconds: milliseconds)
        guard received == self.received else {
            (self.received, nudgesLeft) = (received, Self.looksMax)
            return false
        }
        guard nudgesLeft > 0 else { return false }
        nudgesLeft -= 1
        nudgesLeftInAll -= 1
        return true
    }
}

// Transfers whose data has arrived but isn't read (`TransferStallDetector`).
extension DownloadLoop {
    /// Starts checking all transfers after one was resumed or aborted, and nudges stuck ones.
    func checkForStalls() {
        let moment = now()
        if exchange(&mayStandStill, with: false) { watchAll(at: moment) }
        // One per turn: the flag in libcurl belongs to the connection, and the first transfer that
        // is checked clears it.
        guard let download = active.values.first(where: { $0.looks(at: moment) }),
            active[download.job.id]?.stall?.look(
                received: download.transfer.receivedBytes, at: moment) == true
        else { return }
        do throws(CurlError) {
            try transfers.nudge(download.transfer)
        } catch {
            transferDidFail(download, error)
        }
    }

    private func watchAll(at moment: Instant) {
        for (id, download) in active where download.transfer.mayShareConnection {
            if download.stall == nil {
                active[id]?.stall = TransferStallDetector(
                    received: download.transfer.receivedBytes, at: moment)
            } else {
                active[id]?.stall?.disturb(at: moment)
            }
        }
    }
}
