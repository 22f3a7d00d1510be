import ImageModel
import Linux
import Messages
import Observability
import StageContract

/// Does the jobs of a loader. Any thread.
struct LoaderStage<Author: Loader>: Sendable {
    let loader: Author
    let log: Log

    /// The body that a job asks for, in a block of `output`.
    func perform(
        _ work: FetchWork, output: some OutputSpace, _ report: LoadReport
    ) throws(ImageError) -> FetchedBody {
        let loaded: Loaded
        do {
            loaded = try loader.load(work.url, headers: work.headers, report)
            try report.check()
        } catch {
            throw AuthorError(error).imageError(log) { ImageError(.badImageData, $0) }
        }
        let count = loaded.bytes.count
        guard UInt64(count) <= work.bodyBytesMax else {
            throw ImageError(
                .limitExceeded,
                "the loader has \(count) bytes, at most \(work.bodyBytesMax) are taken",
                details: ["limit": "bytes"])
        }
        guard count > 0 else { throw ImageError(.badImageData, "the loader has no bytes") }
        let age = ResponseAge(bornMilliseconds: WallClock.nanoseconds() / 1_000_000)
        if let etag = loaded.etag, etag == work.validators?.etag {
            throw .notModified(OriginCaching(CacheControl(loaded.cacheControl), age))
        }
        let block = try output.reserve(count)
        block.bytes.copyBytes(from: loaded.bytes)
        var body = FetchedBody(
            reference: block.reference(length: count), httpStatus: 200,
            contentType: Self.cut(loaded.contentType), etag: Self.cut(loaded.etag),
            lastModified: Self.cut(loaded.lastModified),
            cacheControl: Self.cut(loaded.cacheControl), effectiveURL: work.url,
            format: block.format(length: count))
        body.age = age
        return body
    }

    /// As much of a text as travels.
    static func cut(_ text: String?) -> String? {
        guard let text else { return nil }
        let most = MessageLimits.originHeaderBytesMax
        guard text.utf8.count > most || text.utf8.contains(0) else { return text }
        var kept = String.UnicodeScalarView()
        var count = 0
        for scalar in text.unicodeScalars {
            count += UTF8.width(scalar)
            guard count <= most else { break }
            kept.append(scalar.value == 0 ? " " : scalar)
        }
        return String(kept)
    }
}
