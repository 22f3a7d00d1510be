import Curl
import Linux
import Model

/// A job that doesn't involve libcurl.
struct LocalDownload {
    let job: Job
    let work: FetchWork
    /// The file that is being read.
    var task: FileTask?
    var deadline: Instant
    let started: Instant
    var progress: ProgressPacer
}

/// The source of a job that needs no transfer.
enum LocalPlace: Sendable {
    /// A file below a root.
    case file(FilePath, FileRoot)
    /// The URL itself.
    case data(DataURL)

    /// Returns `nil` if a transfer is needed. Throws if the URL is invalid.
    init?(_ work: FetchWork) throws(ImageError) {
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
    func begin(_ download: LocalDownload, at place: LocalPlace) throws(ImageError) {
        var download = download
        let work = download.work
        switch place {
        case .data(let url):
            complete(&download, try body(of: url, bytesMax: work.bodyBytesMax))
        case .file(let path, let root):
            let task = FileTask(
                download.job.id, path, below: root, bodyBytesMax: work.bodyBytesMax,
                validators: work.validators)
            try fileReaders().submit(task)
            download.task = task
            let timeout = configuration.totalTimeoutMilliseconds
            download.deadline = min(
                download.deadline, download.started.adding(milliseconds: timeout))
            local[download.job.id] = download
        }
    }

    /// Reports what the file readers have read.
    func report(_ answer: FileReaders.Answer) {
        guard var download = local[answer.task.job], download.task === answer.task else {
            // Canceled, so the outcome was already reported.
            if case .success(let body) = answer.result { space.discard(body.block) }
            return
        }
        local[answer.task.job] = nil
        switch answer.result {
        case .success(let body): complete(&download, body)
        case .failure(let failure):
            self.answer(download.job, .failed(failure), started: download.started)
        }
    }

    /// Ends a local job; returns whether it existed.
    func endLocal(_ id: JobID, _ failure: ImageError) -> Bool {
        guard let download = local.removeValue(forKey: id) else { return false }
        download.task?.cancel()
        answer(download.job, .failed(failure), started: download.started)
        return true
    }

    private func fileReaders() throws(ImageError) -> FileReaders {
        if let readers { return readers }
        let (inbox, waker) = (inbox, waker)
        let readers = try FileReaders(into: space) { answer in
            inbox.send { $0.report(answer) }
            waker.wake()
        }
        self.readers = readers
        return readers
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

    private func complete(_ download: inout LocalDownload, _ body: LocalBody) {
        download.progress.begin(expected: body.count)
        download.progress.advance(to: body.count, at: MonotonicClock.now())
        download.progress.end()
        var fetched = body.fetched(from: Self.name(of: download.work))
        var account = FetchAccount()
        account.bytes = UInt64(body.count)
        account.total = Double(now().nanoseconds - download.started.nanoseconds) / 1_000_000
        fetched.account = account
        answer(download.job, .fetched(fetched), started: download.started)
    }

    /// Returns the URL, or only its scheme if the URL contains the data.
    private static func name(of work: FetchWork) -> String {
        guard let url = try? SourceURL(work.url) else { return "" }
        return url.scheme == "data" ? url.forLogs : url.withoutUserInfo
    }
}
