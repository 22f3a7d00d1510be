import CMessages
import ImageModel
import Messages

extension PrefetchRequest: WireMessage {
    typealias Form = Imagebus__V1__Prefetch
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__prefetch__init }
    static var blank: Self {
        Self(batch: .blank, image: .blank, urls: [], isLast: false, concurrency: 0, trace: nil)
    }

    /// Every fault after the name of the batch is about this batch.
    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.identifier(&batch, &wire.pointee.batch, "Prefetch.batch")
        do {
            try map.part(&image, &wire.pointee.image, "Prefetch.image")
            try map.texts(
                &urls, &wire.pointee.n_urls, &wire.pointee.urls, "Prefetch.urls",
                countMax: MessageLimits.prefetchURLsMax, limit: RequestLimits.urlBytesMax)
            map.flag(&isLast, &wire.pointee.is_last, "Prefetch.is_last")
            try map.number(&concurrency, &wire.pointee.concurrency, "Prefetch.concurrency")
            try map.formed(&trace, &wire.pointee.traceparent, "Prefetch.traceparent")
        } catch {
            throw error.about(batch)
        }
    }
}

extension PrefetchReport: WireMessage {
    typealias Form = Imagebus__V1__PrefetchReport
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__prefetch_report__init }
    static var blank: Self {
        Self(
            batch: .blank, total: 0, finished: 0, skipped: 0, cancelled: 0, isFinal: false,
            failures: [])
    }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.identifier(&batch, &wire.pointee.batch, "PrefetchReport.batch")
        try map.number(&total, &wire.pointee.total, "PrefetchReport.total")
        try map.number(&finished, &wire.pointee.finished, "PrefetchReport.finished")
        try map.number(&skipped, &wire.pointee.skipped, "PrefetchReport.skipped")
        try map.number(&cancelled, &wire.pointee.cancelled, "PrefetchReport.cancelled")
        map.flag(&isFinal, &wire.pointee.is_final, "PrefetchReport.is_final")
        try map.list(
            &failures, &wire.pointee.n_failures, &wire.pointee.failures, "PrefetchReport.failures",
            limit: PrefetchFailure.countMax)
        try map.part(
            &ends, unless: ends == PrefetchEnds(), &wire.pointee.ends, "PrefetchReport.ends")
    }
}

extension PrefetchEnds: WireMessage {
    typealias Form = Imagebus__V1__PrefetchEnds
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__prefetch_ends__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(&cached, &wire.pointee.cached, "PrefetchEnds.cached")
        try map.number(&missed, &wire.pointee.missed, "PrefetchEnds.missed")
        try map.list(
            &errors, &wire.pointee.n_errors, &wire.pointee.errors, "PrefetchEnds.errors",
            limit: ErrorCode.allCases.count)
    }
}

extension PrefetchEnds.ErrorCount: WireMessage {
    typealias Form = Imagebus__V1__PrefetchEnds__ErrorCount
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__prefetch_ends__error_count__init }
    static var blank: Self { Self(.internalError, 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.word(&code, &wire.pointee.code, "ErrorCount.code")
        try map.number(&count, &wire.pointee.count, "ErrorCount.count")
    }
}

extension PrefetchFailure: WireMessage {
    typealias Form = Imagebus__V1__PrefetchFailure
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__prefetch_failure__init }
    static var blank: Self { Self(url: "", error: .blank) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(&url, &wire.pointee.url, "PrefetchFailure.url", limit: Self.urlBytesMax)
        try map.part(&error, &wire.pointee.error, "PrefetchFailure.error")
    }
}
