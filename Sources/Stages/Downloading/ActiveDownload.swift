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

/// Looks whether a transfer stands still, for a while after another one was resumed or ended early;
/// such a transfer is to be nudged (`TransferSet.nudge`).
///
/// libcurl 7.88 reads the streams of an HTTP/2 connection through one buffer. While the sink of one
/// postpones bytes, those of others wait behind them. What is to be read once that one is resumed,
/// libcurl notes at the connection, where another transfer may take the note; once that one is
/// ended, it notes nothing. The bytes are here then, the socket has none, and nobody reads them.
///
/// Nudges have limits, since each begins the time anew for which libcurl lets a transfer be slow:
/// what an origin is silent about still ends by that.
struct StandstillWatch {
    private var received: Int64
    private var milliseconds = Self.millisecondsMin
    /// Looks until the next disturbance.
    private var looksLeft = Self.looksMax
    /// Nudges that are left while nothing comes, and in all.
    private var nudgesLeft = Self.looksMax
    private var nudgesLeftInAll = Self.nudgesMax
    private var next: Instant

    /// The first look is after 20 ms, each later one after twice as long: all within 1.3 s.
    static let millisecondsMin = 20
    static let looksMax = 6
    static let nudgesMax = 30

    /// Of a transfer of which so many bytes have come, when another one was resumed or ended early.
    init(received: Int64, at now: Instant) {
        self.received = received
        next = now.adding(milliseconds: milliseconds)
    }

    /// When to look next; `nil` where that is over.
    var due: Instant? { looksLeft > 0 && nudgesLeftInAll > 0 ? next : nil }

    /// Another one was resumed or ended early again. A look that is due before stays where it is.
    mutating func disturb(at now: Instant) {
        next =
            due.map { min($0, now.adding(milliseconds: Self.millisecondsMin)) }
            ?? now.adding(milliseconds: Self.millisecondsMin)
        (looksLeft, milliseconds) = (Self.looksMax, Self.millisecondsMin)
    }

    /// A look that was due: whether the transfer is to be nudged.
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

// Transfers of which nothing comes although it is here (`StandstillWatch`).
extension DownloadLoop {
    /// Watches the others, where one was resumed or ended early, and nudges what stands still.
    func lookAfterStandstill() {
        let moment = now()
        if exchange(&mayStandStill, with: false) { watchAll(at: moment) }
        // One in a turn: what libcurl notes is of the connection, and the first who is looked at
        // takes it.
        guard let download = active.values.first(where: { $0.looks(at: moment) }),
            active[download.job.id]?.standstill?.look(
                received: download.transfer.receivedBytes, at: moment) == true
        else { return }
        do throws(CurlError) {
            try transfers.nudge(download.transfer)
        } catch {
            broke(download, error)
        }
    }

    private func watchAll(at moment: Instant) {
        for (id, download) in active where download.transfer.mayShareConnection {
            if download.standstill == nil {
                active[id]?.standstill = StandstillWatch(
                    received: download.transfer.receivedBytes, at: moment)
            } else {
                active[id]?.standstill?.disturb(at: moment)
            }
        }
    }
}
