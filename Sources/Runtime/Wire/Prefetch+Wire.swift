import CMessages
import ImageModel
import Messages

extension PrefetchRequest {
    /// Every fault after the name of the batch is about this batch.
    init(_ wire: Imagebus__V1__Prefetch, _ read: FieldReader) throws(WireError) {
        let batch = Token(try read.identifier(wire.batch, "Prefetch.batch"))
        do {
            self.init(
                batch: batch,
                image: try ImageRequest(try read.required(wire.image, "Prefetch.image"), read),
                urls: try read.texts(
                    wire.n_urls, wire.urls, "Prefetch.urls",
                    countMax: MessageLimits.prefetchURLsMax, limit: RequestLimits.urlBytesMax),
                isLast: wire.is_last != 0, concurrency: wire.concurrency,
                trace: try read.trace(wire.traceparent, "Prefetch.traceparent"))
        } catch {
            throw error.about(batch)
        }
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Prefetch>
    {
        do {
            let wire = try write.make(imagebus__v1__prefetch__init)
            wire.pointee.batch = try write.bytes(batch.value)
            wire.pointee.image = try image.wire(write)
            wire.pointee.n_urls = urls.count
            wire.pointee.urls = try write.texts(
                urls, "Prefetch.urls", countMax: MessageLimits.prefetchURLsMax,
                limit: RequestLimits.urlBytesMax)
            wire.pointee.is_last = isLast ? 1 : 0
            wire.pointee.concurrency = concurrency
            wire.pointee.traceparent = try write.trace(trace, "Prefetch.traceparent")
            return wire
        } catch {
            throw error.about(batch)
        }
    }
}

extension PrefetchReport {
    init(_ wire: Imagebus__V1__PrefetchReport, _ read: FieldReader) throws(WireError) {
        self.init(
            batch: Token(try read.identifier(wire.batch, "PrefetchReport.batch")),
            total: wire.total, finished: wire.finished, skipped: wire.skipped,
            cancelled: wire.cancelled, isFinal: wire.is_final != 0,
            failures: try read.list(
                wire.n_failures, wire.failures, "PrefetchReport.failures",
                limit: PrefetchFailure.countMax
            ) { part throws(WireError) in try PrefetchFailure(part, read) })
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__PrefetchReport>
    {
        let wire = try write.make(imagebus__v1__prefetch_report__init)
        wire.pointee.batch = try write.bytes(batch.value)
        wire.pointee.total = total
        wire.pointee.finished = finished
        wire.pointee.skipped = skipped
        wire.pointee.cancelled = cancelled
        wire.pointee.is_final = isFinal ? 1 : 0
        wire.pointee.n_failures = failures.count
        wire.pointee.failures = try write.list(
            failures, "PrefetchReport.failures", limit: PrefetchFailure.countMax
        ) { part throws(WireError) in try part.wire(write) }
        return wire
    }
}

extension PrefetchFailure {
    init(_ wire: Imagebus__V1__PrefetchFailure, _ read: FieldReader) throws(WireError) {
        self.init(
            url: try read.text(wire.url, "PrefetchFailure.url", limit: Self.urlBytesMax),
            error: try ImageError(
                try read.required(wire.error, "PrefetchFailure.error"), read))
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__PrefetchFailure>
    {
        let wire = try write.make(imagebus__v1__prefetch_failure__init)
        wire.pointee.url = try write.text(
            url, "PrefetchFailure.url", limit: Self.urlBytesMax)
        wire.pointee.error = try error.wire(write)
        return wire
    }
}
