import ImageModel
import Linux
import Messages
import StageContract

/// What has the bytes of a job that needs no transfer.
enum LocalPlace: Sendable {
    /// A file below a root.
    case file(FilePath, FileRoot)
    /// The URL itself.
    case data(DataURL)

    /// `nil` where a transfer brings them. Throws what is wrong with the URL.
    init?(_ job: Job) throws(DownloadFailure) {
        guard case .fetch(let work) = job.work else { return nil }
        do throws(ImageError) {
            let url = try SourceURL(work.url)
            switch work.loader {
            case .http, .s3: return nil
            case .pool:
                throw ImageError(.unsupportedScheme, "workers of somebody else's do this job")
            case .file(let root):
                try work.loader.check(url)
                self = .file(try FilePath(url), root)
            case .data:
                try work.loader.check(url)
                self = .data(try DataURL(url))
            }
        } catch {
            throw .refused(error)
        }
    }
}

/// Bytes of a job that needed no transfer, in a block of the worker's own.
struct LocalBody: Sendable {
    let block: OutputBlock
    let count: Int
    var contentType: String?
    var etag: String?
    var lastModified: String?

    /// As an outcome says it. Such bytes may be kept by everybody, for any time.
    func fetched(from url: String) -> FetchedBody {
        var body = FetchedBody(
            reference: block.reference(length: count), httpStatus: 200, contentType: contentType,
            etag: etag, lastModified: lastModified, effectiveURL: url,
            format: block.format(length: count))
        body.age = Self.age
        return body
    }

    /// That of bytes which are read now.
    static var age: ResponseAge {
        ResponseAge(bornMilliseconds: WallClock.nanoseconds() / 1_000_000)
    }
}
