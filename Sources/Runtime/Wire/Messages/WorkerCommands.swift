import CMessages
public import Model

private let limit = MessageLimits.backFrameBytesMax

extension MessageEncoder {
    /// Encodes a message to a worker. Throws `tooLarge` if it exceeds the limit of a frame.
    public mutating func encode(_ command: WorkerCommand) throws(WireError) -> EncodedMessage {
        switch command {
        case .welcome(let welcome): try prepare(.workerWelcome, limit: limit, welcome)
        case .helloRequired: try prepare(.helloRequired, limit: limit, HelloRequiredMessage())
        case .job(let job): try prepare(.job, limit: limit, job)
        case .adjust(let adjustment): try prepare(.adjustJob, limit: limit, adjustment)
        case .cancelJob(let id): try prepare(.cancelJob, limit: limit, CancelledJob(id: id))
        case .release(let blocks):
            try prepare(.release, limit: limit, ReleaseBlocks(blocks: blocks))
        case .touched(let blocks):
            try prepare(.touched, limit: limit, TouchedBlocks(blocks: blocks))
        case .cacheSettings(let caches):
            try prepare(.cacheSettings, limit: limit, CacheSettingsMessage(caches: caches))
        case .downloadSettings(let settings):
            try prepare(
                .downloadSettings, limit: limit, DownloadSettingsMessage(settings: settings))
        case .drain: try prepare(.drain, limit: limit, DrainMessage())
        case .refused(let error):
            try prepare(.refused, limit: limit, Refusal(error: error, token: nil))
        }
    }
}

extension MessageDecoder {
    /// Decodes a message from the coordinator to a worker. Throws `versionRefused` if the
    /// coordinator rejected the version.
    public mutating func workerCommand(_ kind: MessageKind, _ body: RawSpan) throws(WireError)
        -> WorkerCommand
    {
        switch kind {
        case .versions: throw VersionRefusal.error(body)
        case .workerWelcome:
            return .welcome(try decode(body, limit: limit, imagebus__v1__worker_welcome__unpack))
        case .helloRequired:
            _ =
                try decode(body, limit: limit, imagebus__v1__hello_required__unpack)
                as HelloRequiredMessage
            return .helloRequired
        case .job: return .job(try decode(body, limit: limit, imagebus__v1__job__unpack))
        case .adjustJob:
            return .adjust(try decode(body, limit: limit, imagebus__v1__adjust_job__unpack))
        case .cancelJob:
            return .cancelJob(
                (try decode(body, limit: limit, imagebus__v1__cancel_job__unpack) as CancelledJob)
                    .id)
        case .release:
            return .release(
                (try decode(body, limit: limit, imagebus__v1__release__unpack) as ReleaseBlocks)
                    .blocks)
        case .touched:
            return .touched(
                (try decode(body, limit: limit, imagebus__v1__touched__unpack) as TouchedBlocks)
                    .blocks)
        case .cacheSettings:
            return .cacheSettings(
                (try decode(body, limit: limit, imagebus__v1__cache_settings__unpack)
                    as CacheSettingsMessage).caches)
        case .downloadSettings:
            return .downloadSettings(
                (try decode(body, limit: limit, imagebus__v1__download_settings__unpack)
                    as DownloadSettingsMessage).settings)
        case .drain:
            _ = try decode(body, limit: limit, imagebus__v1__drain__unpack) as DrainMessage
            return .drain
        case .refused:
            return .refused(
                (try decode(body, limit: limit, imagebus__v1__refused__unpack) as Refusal).error)
        default: throw .unexpectedKind(kind)
        }
    }
}

extension Job: WireMessage {
    typealias Form = Imagebus__V1__Job
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__job__init }
    static var blank: Self {
        Self(id: JobID(0), attempt: 0, work: .query(.blank), millisecondsLeft: 0, priority: .normal)
    }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.counted(&id, &wire.pointee.id, "Job.id")
        try map.counted(&attempt, &wire.pointee.attempt, "Job.attempt")
        try mapWork(map, wire)
        try map.number(&millisecondsLeft, &wire.pointee.milliseconds_left, "Job.milliseconds_left")
        try map.word(&priority, &wire.pointee.priority, "Job.priority")
        try map.formed(&logContext.trace, &wire.pointee.traceparent, "Job.traceparent")
        try map.formed(&logContext.requestID, &wire.pointee.request_id, "Job.request_id")
        map.flag(&logContext.isProbe, &wire.pointee.is_probe, "Job.is_probe")
        map.flag(&wantsProgress, &wire.pointee.wants_progress, "Job.wants_progress")
        map.flag(&wantsArrived, &wire.pointee.wants_arrived, "Job.wants_arrived")
        try map.blocks(
            &released, &wire.pointee.n_released, &wire.pointee.released, "Job.released")
    }

    private mutating func mapWork(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        if try map.part(
            { if case .fetch(let work) = work { work } else { nil } }, { work = .fetch($0) },
            &wire.pointee.fetch,
            if: &wire.pointee.work_case, 8, "Job.fetch")
        {
            return
        }
        if try map.part(
            { if case .query(let work) = work { work } else { nil } }, { work = .query($0) },
            &wire.pointee.query,
            if: &wire.pointee.work_case, 9, "Job.query")
        {
            return
        }
        if try map.part(
            { if case .store(let work) = work { work } else { nil } }, { work = .store($0) },
            &wire.pointee.store,
            if: &wire.pointee.work_case, 10, "Job.store")
        {
            return
        }
        if try map.part(
            { if case .decode(let work) = work { work } else { nil } }, { work = .decode($0) },
            &wire.pointee.decode,
            if: &wire.pointee.work_case, 11, "Job.decode")
        {
            return
        }
        if try map.part(
            { if case .transform(let work) = work { work } else { nil } },
            { work = .transform($0) }, &wire.pointee.transform,
            if: &wire.pointee.work_case, 12, "Job.transform")
        {
            return
        }
        if try map.part(
            { if case .entry(let work) = work { work } else { nil } }, { work = .entry($0) },
            &wire.pointee.entry,
            if: &wire.pointee.work_case, 13, "Job.entry")
        {
            return
        }
        if try map.part(
            { if case .paint(let work) = work { work } else { nil } }, { work = .paint($0) },
            &wire.pointee.paint,
            if: &wire.pointee.work_case, 14, "Job.paint")
        {
            return
        }
        throw .field("Job.work", .missing)
    }
}

extension JobAdjustment: WireMessage {
    typealias Form = Imagebus__V1__AdjustJob
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__adjust_job__init }
    static var blank: Self { Self(id: JobID(0), millisecondsLeft: 0, priority: .normal) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.counted(&id, &wire.pointee.id, "AdjustJob.id")
        try map.number(
            &millisecondsLeft, &wire.pointee.milliseconds_left, "AdjustJob.milliseconds_left")
        try map.word(&priority, &wire.pointee.priority, "AdjustJob.priority")
        map.flag(&wantsProgress, &wire.pointee.wants_progress, "AdjustJob.wants_progress")
        map.flag(&wantsArrived, &wire.pointee.wants_arrived, "AdjustJob.wants_arrived")
    }
}

struct CancelledJob: WireMessage {
    var id: JobID

    typealias Form = Imagebus__V1__CancelJob
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__cancel_job__init }
    static var blank: Self { Self(id: JobID(0)) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.counted(&id, &wire.pointee.id, "CancelJob.id")
    }
}

extension DecodeWork: WireMessage {
    typealias Form = Imagebus__V1__Decode
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__decode__init }
    static var blank: Self { Self(source: .blank, need: .blank, limits: .blank) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.part(&source, &wire.pointee.source, "Decode.source")
        try map.part(&need, &wire.pointee.need, "Decode.need")
        try map.part(&limits, &wire.pointee.limits, "Decode.limits")
        try map.number(
            &framesMax, within: 1...MessageLimits.blocksPerOutcomeMax, unless: 1,
            &wire.pointee.frames_max, if: &wire.pointee.maybe_frames_max_case, 4,
            "Decode.frames_max")
        try map.part(
            &properties, unless: properties == RequestedProperties(), &wire.pointee.facts,
            "Decode.facts")
        try map.bits(&keeps, &wire.pointee.keeps, "Decode.keeps")
        try map.number(
            &frame, within: 0...RequestLimits.framesMax - 1, &wire.pointee.frame,
            if: &wire.pointee.maybe_frame_case, 7, "Decode.frame")
        map.flag(&wantsAllFrames, &wire.pointee.all_frames, "Decode.all_frames")
        map.flag(&isPartial, &wire.pointee.is_partial, "Decode.is_partial")
        try map.maybe(&passThrough, &wire.pointee.passing, "Decode.passing")
        map.flag(&showsDamaged, &wire.pointee.shows_damaged, "Decode.shows_damaged")
        guard isPossible else { throw .field("Decode.is_partial", .outOfRange) }
    }
}

extension PassThrough: WireMessage {
    typealias Form = Imagebus__V1__Passing
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__passing__init }
    static var blank: Self { Self(isUnchanged: false, metadata: .nothing) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(&formatBits, &wire.pointee.formats, "Passing.formats")
        map.flag(&isUnchanged, &wire.pointee.is_unchanged, "Passing.is_unchanged")
        try map.word(&metadata, &wire.pointee.metadata, "Passing.metadata")
    }
}

extension DecodeNeed: WireMessage {
    typealias Form = Imagebus__V1__Need
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__need__init }
    static var blank: Self { .full }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        if try map.unit(
            self == .header, { self = .header }, &wire.pointee.header, if: &wire.pointee.need_case,
            1, "Need.header")
        {
            return
        }
        if try map.unit(
            self == .full, { self = .full }, &wire.pointee.full, if: &wire.pointee.need_case, 2,
            "Need.full")
        {
            return
        }
        if try map.part(
            {
                if case .cover(let box, let mode) = self {
                    Resize(box: box, mode: mode, enlarges: mode.enlarges)
                } else {
                    nil
                }
            }, { self = .cover($0.box, $0.mode) }, &wire.pointee.cover,
            if: &wire.pointee.need_case, 3, "Need.cover")
        {
            return
        }
        if try map.number(
            { if case .area(let pixels) = self { UInt64(clamping: pixels) } else { nil } },
            { self = .area(Int(clamping: $0)) }, &wire.pointee.area, if: &wire.pointee.need_case, 4,
            "Need.area")
        {
            return
        }
        throw .field("Need.need", .missing)
    }
}

extension ImageLimits: WireMessage {
    typealias Form = Imagebus__V1__Limits
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__limits__init }
    static var blank: Self {
        Self(sideMax: 0, pixelsMax: 0, pixelBytesMax: 0, pagesMax: 0, metadataBytesMax: 0)
    }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(&sideMax, &wire.pointee.side_max, "Limits.side_max")
        try map.number(&pixelsMax, &wire.pointee.pixels_max, "Limits.pixels_max")
        try map.number(&pixelBytesMax, &wire.pointee.pixel_bytes_max, "Limits.pixel_bytes_max")
        try map.number(&pagesMax, &wire.pointee.pages_max, "Limits.pages_max")
        try map.number(
            &metadataBytesMax, &wire.pointee.metadata_bytes_max, "Limits.metadata_bytes_max")
    }
}

extension PaintWork: WireMessage {
    typealias Form = Imagebus__V1__Paint
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__paint__init }
    static var blank: Self {
        Self(color: Color(argb: 0), size: .blank, output: .blank, limits: .blank)
    }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        var argb = color.argb
        try map.number(&argb, &wire.pointee.colour, "Paint.colour")
        color = Color(argb: argb)
        try map.part(&size, &wire.pointee.size, "Paint.size")
        try map.part(&output, unless: output.isDefault, &wire.pointee.output, "Paint.output")
        try map.part(&limits, &wire.pointee.limits, "Paint.limits")
        guard size.isPositive else { throw .field("Paint.size", .outOfRange) }
    }
}

extension TransformWork: WireMessage {
    typealias Form = Imagebus__V1__Transform
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__transform__init }
    static var blank: Self {
        Self(
            source: .blank, layout: .blank, sourceInfo: .blank, steps: [], output: .blank,
            limits: .blank, overlays: [])
    }

    /// One more than in a request, because a job counts the thumbnail as a step.
    private static let stepsMax = RequestLimits.stepsMax + 1

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.part(&source, &wire.pointee.source, "Transform.source")
        try map.part(&layout, &wire.pointee.layout, "Transform.layout")
        try map.part(&sourceInfo, &wire.pointee.source_info, "Transform.source_info")
        try map.list(
            &steps, &wire.pointee.n_steps, &wire.pointee.steps, "Transform.steps",
            limit: Self.stepsMax)
        try map.part(&output, unless: output.isDefault, &wire.pointee.output, "Transform.output")
        try map.part(&limits, &wire.pointee.limits, "Transform.limits")
        try map.list(
            &overlays, &wire.pointee.n_overlays, &wire.pointee.overlays, "Transform.overlays",
            limit: RequestLimits.overlaysMax)
        try layout.check(in: source, "Transform.layout")
    }
}

extension StoreWork: WireMessage {
    typealias Form = Imagebus__V1__Store
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__store__init }
    static var blank: Self {
        Self(
            key: nil, source: .blank, tiers: [], delivers: false, waitsForDisk: false,
            metadata: .blank)
    }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(
            &key, &wire.pointee.key, if: &wire.pointee.maybe_key_case, 1, "Store.key",
            limit: MessageLimits.keyBytesMax)
        try map.part(&source, &wire.pointee.source, "Store.source")
        try map.tiers(&tiers, &wire.pointee.tiers, "Store.tiers")
        map.flag(&delivers, &wire.pointee.delivers, "Store.delivers")
        map.flag(&waitsForDisk, &wire.pointee.waits_for_disk, "Store.waits_for_disk")
        map.flag(&isPromotion, &wire.pointee.is_promotion, "Store.is_promotion")
        try map.part(&metadata, &wire.pointee.metadata, "Store.metadata")
        try map.number(
            &expires, within: HTTPExpiry.bornRange, &wire.pointee.expires,
            if: &wire.pointee.maybe_expires_case, 8, "Store.expires")
        try map.block(&comparedWith, &wire.pointee.compared_with, "Store.compared_with")
        try map.caches(
            &caches, &wire.pointee.n_caches, &wire.pointee.caches, "Store.caches")
    }
}

extension QueryWork: WireMessage {
    typealias Form = Imagebus__V1__Query
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__query__init }
    static var blank: Self { Self(key: "", tiers: [], destination: .results, promotes: false) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(&key, &wire.pointee.key, "Query.key", limit: MessageLimits.keyBytesMax)
        try map.tiers(&tiers, &wire.pointee.tiers, "Query.tiers")
        try map.word(&destination, &wire.pointee.destination, "Query.destination")
        map.flag(&promotes, &wire.pointee.promotes, "Query.promotes")
        try map.caches(
            &caches, &wire.pointee.n_caches, &wire.pointee.caches, "Query.caches")
        map.flag(&memoryFirst, &wire.pointee.memory_first, "Query.memory_first")
        try map.number(&bytesMax, &wire.pointee.bytes_max, "Query.bytes_max")
    }
}

extension EntryWork: WireMessage {
    typealias Form = Imagebus__V1__Entry
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__entry__init }
    static var blank: Self { Self(action: .contains, key: "", tiers: []) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.word(&action, &wire.pointee.action, "Entry.action")
        try map.text(&key, &wire.pointee.key, "Entry.key", limit: MessageLimits.keyBytesMax)
        try map.tiers(&tiers, &wire.pointee.tiers, "Entry.tiers")
        try map.part(
            &selection, unless: selection.isAll, &wire.pointee.selection, "Entry.selection")
        try map.number(&after, &wire.pointee.after, "Entry.after")
        try map.number(
            &limit, within: 0...UInt32(EntryPage.entriesMax), &wire.pointee.limit, "Entry.limit")
        try map.maybe(&renewal, &wire.pointee.renewal, "Entry.renewal")
        try map.caches(
            &caches, &wire.pointee.n_caches, &wire.pointee.caches, "Entry.caches")
        map.flag(&memoryFirst, &wire.pointee.memory_first, "Entry.memory_first")
        map.flag(&inSteps, &wire.pointee.in_steps, "Entry.in_steps")
        map.flag(&wantsValidity, &wire.pointee.wants_validity, "Entry.wants_validity")
    }
}
