import CMessages
import ImageModel
import Messages

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

/// A job that nobody wants any more.
struct CancelledJob: WireMessage {
    var id: JobID

    typealias Form = Imagebus__V1__CancelJob
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__cancel_job__init }
    static var blank: Self { Self(id: JobID(0)) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.counted(&id, &wire.pointee.id, "CancelJob.id")
    }
}
