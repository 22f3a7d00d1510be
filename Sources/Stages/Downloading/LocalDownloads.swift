import Curl
import Linux
import Model

/// The jobs of a loop that don't involve libcurl.
final class LocalDownloads {
    /// A job whose file is being read.
    struct Active {
        let job: Job
        let task: FileTask
        var deadline: Instant
        let started: Instant
        var progress: ProgressPacer
    }

    var active: [JobID: Active] = [:]
    /// `nil` before the first file.
    var readers: FileReaders?

    /// Applies the new deadlines and progress requests of a batch.
    func apply(_ batch: DownloadInbox.Batch, at now: UInt64) {
        for (id, deadline) in batch.deadlines { active[id]?.deadline = deadline }
        for id in batch.progress { active[id]?.progress.want(at: now) }
    }

    /// Returns the jobs whose deadline has passed.
    func expired(at now: Instant) -> [JobID] {
        active.filter { $0.value.deadline <= now }.map(\.key)
    }
}

/// The source of a job that needs no transfer.
enum LocalPlace: Sendable {
    /// A file below a root.
    case file(FilePath, FileRoot)
    /// The URL itself.
    case data(DataURL)

    /// Returns `nil` if a transfer is needed. Throws if the URL is invalid.
    init?(_ job: Job) throws(ImageError) {
        guard case .fetch(let work) = job.work else { return nil }
        let url = try SourceURL(work.url)
        switch work.loader {
        case .http, .s3: return nil
        case .pool: throw ImageError(.unsupportedScheme, "this job requires a plug-in worker")
        case .file(let root):
            try work.loader.check(url)
            self = .file(try FilePath(url), root)
        case .data:
            try work.loader.check(url)
            self = .data(try DataURL(url))
        }
    }
}

/// The bytes of a job without transfer, in a block of the worker.
struct LocalBody: Sendable {
    let block: OutputBlock
    let count: Int
    var contentType: String?
    var etag: String?
    var lastModified: String?

    /// Returns the body for an outcome. Such bytes may be cached by anyone, forever.
    func fetched(from url: String) -> FetchedBody {
        var body = FetchedBody(
            reference: block.reference(length: count), httpStatus: 200, contentType: contentType,
            etag: etag, lastModified: lastModified, effectiveURL: url,
            format: block.format(length: count))
        body.age = Self.age
        return body
    }

    /// The age of bytes that are read now.
    static var age: ResponseAge {
        ResponseAge(bornMilliseconds: WallClock.nanoseconds() / 1_000_000)
    }
}

// Files and `data:` URLs: jobs that need no transfer.
extension DownloadLoop {
    /// Begins a job that needs no transfer.
    func begin(
        _ job: Job, at place: LocalPlace, deadline: Instant, started: Instant
    ) throws(ImageError) {
        guard case .fetch(let work) = job.work else {
            throw .defect("a download worker was given \(job.work.kind) work")
        }
        var progress = ProgressPacer(
            job, intervalMilliseconds: configuration.progressIntervalMilliseconds,
            report: onProgress)
        switch place {
        case .data(let url):
            let body = try body(of: url, bytesMax: work.bodyBytesMax)
            complete(job, body, &progress, started: started)
        case .file(let path, let root):
            let task = FileTask(
                job.id, path, below: root, bodyBytesMax: work.bodyBytesMax,
                validators: work.validators)
            try fileReaders().submit(task)
            local.active[job.id] = LocalDownloads.Active(
                job: job, task: task,
                deadline: min(
                    deadline, started.adding(milliseconds: configuration.totalTimeoutMilliseconds)),
                started: started, progress: progress)
        }
    }

    /// Reports what the file readers have read.
    func report(_ answers: [FileReaders.Answer]) {
        for answer in answers {
            guard var download = local.active[answer.task.job], download.task === answer.task else {
                // Canceled, so the outcome was already reported.
                if case .success(let body) = answer.result { space.discard(body.block) }
                continue
            }
            local.active[answer.task.job] = nil
            switch answer.result {
            case .success(let body):
                complete(download.job, body, &download.progress, started: download.started)
            case .failure(let failure):
                self.answer(
                    download.job, .failed(failure), started: download.started)
            }
        }
    }

    /// Ends a local job; returns whether it existed.
    func endLocal(_ id: JobID, _ failure: ImageError) -> Bool {
        guard let download = local.active.removeValue(forKey: id) else { return false }
        download.task.cancel()
        answer(download.job, .failed(failure), started: download.started)
        return true
    }

    /// Ends all local jobs at shutdown.
    func stopLocal() {
        local.readers?.stop()
        report(inbox.drain().answers)
    }

    private func fileReaders() throws(ImageError) -> FileReaders {
        if let readers = local.readers { return readers }
        let (inbox, waker) = (inbox, waker)
        do throws(Errno) {
            let readers = try FileReaders(into: space) { answer in
                inbox.put(answer)
                waker.wake()
            }
            local.readers = readers
            return readers
        } catch {
            throw ImageError(.busy, "cannot create a descriptor to read files: \(error)")
        }
    }

    private func body(of url: DataURL, bytesMax: UInt64) throws(ImageError) -> LocalBody {
        try configuration.accepted.check(type: url.mediaType)
        let bytes = try url.bytes()
        guard UInt64(bytes.count) <= bytesMax else {
            throw .bodyTooLarge(Int64(clamping: bytesMax))
        }
        guard !bytes.isEmpty else { throw .emptyBody }
        let block = try space.reserve(bytes.count)
        bytes.withUnsafeBytes { block.bytes.copyMemory(from: $0) }
        return LocalBody(block: block, count: bytes.count, contentType: url.mediaType)
    }

    private func complete(
        _ job: Job, _ body: LocalBody, _ progress: inout ProgressPacer, started: Instant
    ) {
        progress.begin(expected: body.count)
        progress.advance(to: body.count, at: MonotonicClock.now())
        progress.end()
        var fetched = body.fetched(from: Self.name(of: job))
        var account = FetchAccount()
        account.bytes = UInt64(body.count)
        account.total = Double(now().nanoseconds - started.nanoseconds) / 1_000_000
        fetched.account = account
        answer(job, .fetched(fetched), started: started)
    }

    /// Returns the URL, or only its scheme if the URL contains the data.
    private static func name(of job: Job) -> String {
        guard case .fetch(let work) = job.work, let url = try? SourceURL(work.url) else {
            return ""
        }
        return url.scheme == "data" ? url.forLogs : url.withoutUserInfo
    }
}
