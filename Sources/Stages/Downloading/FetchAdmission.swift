import ImageModel
import Messages

/// A fetch job that may be tried: its URL is one that this stage takes, its headers can be sent.
struct FetchAdmission {
    let url: String
    let headers: [HTTPHeader]
    let bodyBytesMax: Int64

    init(_ job: Job) throws(DownloadFailure) {
        guard case .fetch(let work) = job.work else {
            throw .defect("a download worker was given \(job.work.kind) work")
        }
        do throws(ImageError) {
            let source = try SourceURL(work.url)
            guard source.scheme == "http" || source.scheme == "https" else {
                throw DownloadFailure.scheme(source.scheme).imageError
            }
        } catch {
            throw .refused(error)
        }
        for header in work.headers where !header.isValid || Self.isFraming(header) {
            throw .header(header.name)
        }
        url = work.url
        headers = work.headers
        bodyBytesMax = Int64(clamping: work.bodyBytesMax)
    }

    /// Fields that say where a message ends, or what becomes of the connection. Transfers share
    /// connections: a request that announces a body would swallow the next one (RFC 9112 §11.2).
    private static func isFraming(_ header: HTTPHeader) -> Bool {
        switch header.name.lowercased() {
        case "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te",
            "trailer", "expect", "proxy-connection", "proxy-authorization", "http2-settings":
            true
        default: false
        }
    }
}
