import Curl
import Linux
import Model

/// The thread of a downloader: handles requests, transfers bytes, reports results, waits.
final class DownloadLoop {
    var transfers: TransferSet
    private(set) var configuration: DownloadConfiguration
    /// Checks addresses in URLs if a proxy connects to them.
    private var proxied: AddressGuard?
    private let jars = CookieJars()
    let inbox: DownloadInbox
    let space: any SharingSpace
    let onProgress: @Sendable (JobProgress) -> Void
    private let onOutcome: @Sendable (JobOutcome) -> Void
    var active: [JobID: ActiveDownload] = [:]
    let decoding = DecodingTurn()
    /// Whether a transfer was resumed or aborted since the last check for stalls. Either can leave
    /// transfers on the same connection waiting for data that has already arrived.
    var mayStandStill = false
    /// Jobs without a transfer.
    var local: [JobID: LocalDownload] = [:]
    /// `nil` before the first file.
    var readers: FileReaders?
    private var jobs: [ObjectIdentifier: JobID] = [:]
    private var lookups = NameLookups()
    /// Lookups that start in the next turn and don't have threads yet.
    private var lookupsToBegin = 0
    let waker: TransferWaker
    let heartbeat = LoopHeartbeat()

    init(
        _ transfers: consuming TransferSet, configuration: DownloadConfiguration,
        proxied: AddressGuard? = nil, inbox: DownloadInbox, space: any SharingSpace,
        onProgress: @escaping @Sendable (JobProgress) -> Void,
        onOutcome: @escaping @Sendable (JobOutcome) -> Void
    ) {
        waker = transfers.waker
        self.transfers = transfers
        self.configuration = configuration
        self.proxied = proxied
        self.inbox = inbox
        self.space = space
        self.onProgress = onProgress
        self.onOutcome = onOutcome
    }

    func run() {
        while true {
            heartbeat.turn()
            let (commands, isStopping) = inbox.drain()
            for command in commands { command(self) }
            if isStopping {
                for id in Array(active.keys) + local.keys { end(id, .shuttingDown) }
                readers?.stop()
                // What the readers have read meanwhile.
                for command in inbox.drain().commands { command(self) }
                return
            }
            do throws(CurlError) {
                try transfers.perform()
                lookupsToBegin = 0
                harvest()
                decodeSlice()
                for download in active.values where download.sink.hasUnpublishedBytes {
                    download.sink.publish()
                }
                expire()
                checkForStalls()
                heartbeat.turn()
                try transfers.wait(milliseconds: isBehind ? 0 : millisecondsToDeadline())
            } catch {
                // A failed multi handle is unusable; only a new process can recover.
                fatalError("the curl multi handle failed: \(error)")
            }
        }
    }

    // MARK: - Requests

    /// Sets a deadline, and begins reports that are wanted.
    func adjust(_ adjustment: JobAdjustment, _ deadline: Instant) {
        let id = adjustment.id
        active[id]?.deadline = deadline
        local[id]?.deadline = deadline
        if adjustment.wantsProgress {
            active[id]?.sink.wantProgress()
            local[id]?.progress.want(at: MonotonicClock.now())
        }
        if adjustment.wantsArrived { active[id]?.sink.wantArrived() }
    }

    /// Applies settings to transfers that start from now on.
    func adopt(_ configuration: DownloadConfiguration, _ policy: TransferPolicy) {
        self.configuration = configuration
        proxied = policy.proxied
        transfers.adopt(policy)
    }

    func begin(_ job: Job, deadline: Instant) {
        let started = now()
        do throws(ImageError) {
            guard case .fetch(let fetch) = job.work else {
                throw .defect("a download worker was given \(job.work.kind) work")
            }
            if let place = try LocalPlace(fetch) {
                let local = LocalDownload(
                    job: job, work: fetch, deadline: deadline, started: started,
                    progress: ProgressPacer(job, configuration.publishing, onProgress))
                return try begin(local, at: place)
            }
            let work = try FetchAdmission(fetch, through: proxied)
            let sink = BodySink(
                job, work, accepting: configuration.accepted, space: space,
                pace: configuration.publishing, heartbeat: heartbeat, onProgress: onProgress)
            let transfer = try start(work, into: sink, after: 0)
            active[job.id] = ActiveDownload(
                job: job, work: work, transfer: transfer, sink: sink, deadline: deadline,
                started: started)
            jobs[ObjectIdentifier(transfer)] = job.id
        } catch {
            answer(job, .failed(error), started: started)
        }
    }

    private func start(
        _ work: FetchAdmission, _ rest: RestOfBody? = nil, into sink: BodySink,
        after milliseconds: Int
    ) throws(ImageError) -> Transfer {
        var request = TransferRequest(
            url: work.url, headers: work.headers(for: rest).map { ($0.name, $0.value) },
            bodyBytesMax: work.bodyBytesMax,
            timeoutMilliseconds: configuration.totalTimeoutMilliseconds - milliseconds)
        request.signing = work.signing
        request.allowedAddresses = work.allowedAddresses
        request.removedHeaders = work.terms.removedHeaders
        request.verifiesTLS = !work.terms.isUnverified
        guard permitsLookup(of: work) else {
            throw ImageError(.busy, "too many DNS lookups are waiting for name servers")
        }
        do throws(CurlError) {
            request.authentication = try authentication(of: work.terms)
            return try transfers.start(request, into: sink)
        } catch {
            throw ImageError(transfer: error)
        }
    }

    private func authentication(
        of terms: TransferTerms
    ) throws(CurlError) -> TransferAuthentication {
        var authentication = TransferAuthentication()
        authentication.password = terms.credential.map {
            ($0.method == .digest ? .digest : .basic, $0.user, $0.password)
        }
        authentication.certificate = terms.certificate.map { ($0.path, $0.keyPath) }
        if let name = terms.cookieJar {
            authentication.cookies = try jars.jar(name, of: transfers)
        }
        return authentication
    }

    // MARK: - Completion

    private func harvest() {
        while let (transfer, error) = transfers.nextEnded() {
            guard let id = jobs[ObjectIdentifier(transfer)], let download = active[id] else {
                continue
            }
            transferDidEnd(download, error)
        }
    }

    /// Handles the end of a transfer: the job decodes the rest, follows a redirect, requests the
    /// missing range or is finished.
    func transferDidEnd(_ download: ActiveDownload, _ error: CurlError?) {
        if error != nil { mayStandStill = true }
        noteLookup(of: download, isOver: error?.code == .nameNotResolved)
        if error == nil, download.sink.isBehind {
            active[download.job.id]?.hasAllBytes = true
        } else if let location = download.sink.redirection(after: error) {
            remove(download)
            follow(location, download)
        } else if let rest = rest(of: download, after: error) {
            continueBody(download, with: rest)
        } else if error == nil, download.sink.beginsDecryption() {
            active[download.job.id]?.hasAllBytes = true
        } else {
            finish(download, error)
        }
    }

    /// Handles the failure of a call to libcurl for a transfer, which libcurl keeps until it is
    /// removed.
    func transferDidFail(_ download: ActiveDownload, _ error: CurlError) {
        transfers.abort(download.transfer)
        transferDidEnd(download, error)
    }

    /// Ends a job after its last transfer, and reports the body or the error.
    func finish(_ download: ActiveDownload, _ error: CurlError?) {
        transfers.abort(download.transfer)
        if download.sink.failure != nil { mayStandStill = true }
        remove(download)
        answer(download.job, download.result(error, at: now()), started: download.started)
    }

    /// Each redirect is a separate transfer, so that it is admitted before connecting.
    private func follow(_ location: String, _ download: ActiveDownload) {
        var download = download
        do throws(ImageError) {
            guard download.redirects < configuration.redirectsMax else {
                throw ImageError(
                    .tooManyRedirects, "more than \(configuration.redirectsMax) redirects")
            }
            download.redirects += 1
            try download.work.follow(location)
            download.sink.beginAgain()
            try startAnother(&download)
        } catch {
            giveUp(download, error)
        }
    }

    /// Starts the next transfer of the same job, within its remaining time.
    func startAnother(
        _ download: inout ActiveDownload, _ rest: RestOfBody? = nil
    ) throws(ImageError) {
        let elapsed = now().milliseconds(since: download.started)
        download.transfer = try start(download.work, rest, into: download.sink, after: elapsed)
        active[download.job.id] = download
        jobs[ObjectIdentifier(download.transfer)] = download.job.id
    }

    /// Fails a job whose next transfer couldn't be started.
    func giveUp(_ download: ActiveDownload, _ failure: ImageError) {
        download.sink.discard()
        answer(download.job, .failed(failure), started: download.started)
    }

    private func expire() {
        let moment = now()
        let expired = active.filter { $0.value.deadline <= moment }.map(\.key)
        for id in expired + local.filter({ $0.value.deadline <= moment }).map(\.key) {
            end(id, ImageError(.deadlineExceeded, "the deadline passed during the download"))
        }
    }

    /// Aborts a job that is canceled, past its deadline or interrupted by a shutdown.
    func end(_ id: JobID, _ failure: ImageError) {
        guard !endLocal(id, failure), let download = active[id] else { return }
        noteLookup(of: download, isOver: false)
        transfers.abort(download.transfer)
        mayStandStill = true
        remove(download)
        download.sink.discard()
        answer(download.job, .failed(failure), started: download.started)
    }

    func remove(_ download: ActiveDownload) {
        active[download.job.id] = nil
        jobs[ObjectIdentifier(download.transfer)] = nil
    }

    func answer(_ job: Job, _ result: JobResult, started: Instant) {
        let elapsed = now().nanoseconds - started.nanoseconds
        inbox.forget(job.id)
        onOutcome(
            JobOutcome(
                id: job.id, attempt: job.attempt, result: result,
                workMicroseconds: elapsed / 1000))
    }

    // MARK: - Name lookups

    private func permitsLookup(of work: FetchAdmission) -> Bool {
        guard let host = work.nameToLookUp else { return true }
        let threads = ((try? CurrentProcess.threadCount()) ?? 0) + lookupsToBegin
        lookupsToBegin += 1
        return lookups.permits(host, threads: threads, at: now())
    }

    /// Updates the lookup statistics after a transfer has ended.
    private func noteLookup(of download: ActiveDownload, isOver: Bool) {
        guard !isOver, let host = download.work.nameToLookUp else { return }
        if download.transfer.hasFoundName {
            lookups.found(host)
        } else {
            lookups.leftBehind(host, at: now())
        }
    }

    // MARK: - Timeouts

    private func millisecondsToDeadline() -> Int {
        let longest =
            active.values.contains { $0.sink.hasUnpublishedBytes }
            ? configuration.publishing.interval : Self.idleMilliseconds
        let deadlines = active.values.map(\.nextMoment) + local.values.map(\.deadline)
        guard let next = deadlines.min() else { return longest }
        return min(longest, next.milliseconds(since: now()))
    }

    func now() -> Instant {
        Instant(nanoseconds: MonotonicClock.now())
    }

    /// The longest wait for an event; requests and cancellations end it early.
    private static let idleMilliseconds = 60_000
}

extension DownloadLoop {
    /// The part to request after a transfer that broke off, within the limits of retries and time.
    func rest(of download: ActiveDownload, after error: CurlError?) -> RestOfBody? {
        let elapsed = now().milliseconds(since: download.started)
        guard download.continuations < configuration.continuationsMax,
            elapsed < configuration.totalTimeoutMilliseconds
        else { return nil }
        return download.sink.rest(after: error)
    }

    /// Starts another transfer for the missing range.
    func continueBody(_ download: ActiveDownload, with rest: RestOfBody) {
        remove(download)
        var download = download
        download.continuations += 1
        download.sink.expect(rest)
        do throws(ImageError) {
            try startAnother(&download, rest)
        } catch {
            giveUp(download, error)
        }
    }
}

extension DownloadLoop {
    /// Whether there are bytes to decode.
    var isBehind: Bool { active.values.contains { $0.sink.isBehind } }

    /// Decodes a slice of each body. Between turns, other events, cancellations and deadlines are
    /// handled.
    func decodeSlice() {
        let behind = active.values.filter { $0.sink.isBehind }
        for download in behind {
            do throws(ImageError) {
                let room = decoding.room(for: behind.count)
                try heartbeat.handling(download.sink.job.id) { () throws(ImageError) in
                    try download.sink.decode(through: room)
                }
            } catch {
                // The sink keeps the error.
                finish(download, nil)
                continue
            }
            resume(download)
        }
    }

    /// Resumes a paused transfer, or reports the result if everything is decoded.
    private func resume(_ download: ActiveDownload) {
        if download.hasAllBytes {
            if !download.sink.isBehind, !download.sink.beginsDecryption() { finish(download, nil) }
            return
        }
        guard download.sink.acceptsDeferredBytes() else { return }
        do throws(CurlError) {
            try transfers.resume(download.transfer)
            mayStandStill = true
        } catch {
            transferDidFail(download, error)
        }
    }
}

/// The output buffer for decoding bodies, which use it one after another.
final class DecodingTurn {
    private let room = UnsafeMutableRawBufferPointer.allocate(
        byteCount: DecodingTurn.bytesMax, alignment: 16)

    /// The maximum number of bytes that all bodies together consume or produce in one turn of the
    /// loop, which takes several milliseconds.
    static let bytesMax = 1 << 20
    private static let bytesMin = 4 << 10

    deinit { room.deallocate() }

    /// Returns the part of the buffer that each of `count` bodies may use in this turn.
    func room(for count: Int) -> UnsafeMutableRawBufferPointer {
        let share = max(Self.bytesMin, Self.bytesMax / max(1, count))
        return UnsafeMutableRawBufferPointer(rebasing: room[..<share])
    }
}

/// The cookie jars of a download worker, by name; each name belongs to one identity.
final class CookieJars {
    private var jars: [String: (jar: CookieJar, used: UInt64)] = [:]
    private var uses: UInt64 = 0

    /// The maximum number of jars; beyond it, the least recently used one is replaced.
    static let countMax = 256

    /// Returns the jar with a name, creating it if necessary.
    func jar(_ name: String, of transfers: borrowing TransferSet) throws(CurlError) -> CookieJar {
        uses += 1
        if let known = jars[name]?.jar {
            jars[name]?.used = uses
            return known
        }
        if jars.count >= Self.countMax, let oldest = jars.min(by: { $0.value.used < $1.value.used })
        {
            jars[oldest.key] = nil
        }
        let jar = try transfers.makeJar()
        jars[name] = (jar, uses)
        return jar
    }
}
