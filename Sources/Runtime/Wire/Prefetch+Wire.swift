import CMessages
import ImageModel
import Messages

extension PrefetchRequest: WireMessage {
    static var begin: (CPart<Imagebus__V1__Prefetch>?) -> Void { imagebus__v1__prefetch__init }
    static var blank: Self {
        Self(batch: .blank, image: .blank, urls: [], isLast: false, concurrency: 0, trace: nil)
    }

    /// Every fault after the name of the batch is about this batch.
    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Prefetch>
    ) throws(WireError) {
        try map.identifier(&value.batch, &wire.pointee.batch, "Prefetch.batch")
        do {
            try map.part(&value.image, &wire.pointee.image, "Prefetch.image")
            try map.texts(
                &value.urls, &wire.pointee.n_urls, &wire.pointee.urls, "Prefetch.urls",
                countMax: MessageLimits.prefetchURLsMax, limit: RequestLimits.urlBytesMax)
            map.flag(&value.isLast, &wire.pointee.is_last, "Prefetch.is_last")
            try map.number(&value.concurrency, &wire.pointee.concurrency, "Prefetch.concurrency")
            try map.formed(&value.trace, &wire.pointee.traceparent, "Prefetch.traceparent")
        } catch {
            throw error.about(value.batch)
        }
    }
}

extension PrefetchReport: WireMessage {
    static var begin: (CPart<Imagebus__V1__PrefetchReport>?) -> Void {
        imagebus__v1__prefetch_report__init
    }
    static var blank: Self {
        Self(
            batch: .blank, total: 0, finished: 0, skipped: 0, cancelled: 0, isFinal: false,
            failures: [])
    }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__PrefetchReport>
    ) throws(WireError) {
        try map.identifier(&value.batch, &wire.pointee.batch, "PrefetchReport.batch")
        try map.number(&value.total, &wire.pointee.total, "PrefetchReport.total")
        try map.number(&value.finished, &wire.pointee.finished, "PrefetchReport.finished")
        try map.number(&value.skipped, &wire.pointee.skipped, "PrefetchReport.skipped")
        try map.number(&value.cancelled, &wire.pointee.cancelled, "PrefetchReport.cancelled")
        map.flag(&value.isFinal, &wire.pointee.is_final, "PrefetchReport.is_final")
        try map.list(
            &value.failures, &wire.pointee.n_failures, &wire.pointee.failures,
            "PrefetchReport.failures", limit: PrefetchFailure.countMax)
    }
}

extension PrefetchFailure: WireMessage {
    static var begin: (CPart<Imagebus__V1__PrefetchFailure>?) -> Void {
        imagebus__v1__prefetch_failure__init
    }
    static var blank: Self { Self(url: "", error: .blank) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__PrefetchFailure>
    ) throws(WireError) {
        try map.text(&value.url, &wire.pointee.url, "PrefetchFailure.url", limit: urlBytesMax)
        try map.part(&value.error, &wire.pointee.error, "PrefetchFailure.error")
    }
}
