import CMessages
import ImageModel
import Messages

extension Job: WireMessage {
    static var begin: (CPart<Imagebus__V1__Job>?) -> Void { imagebus__v1__job__init }
    static var blank: Self {
        Self(id: JobID(0), attempt: 0, work: .query(.blank), millisecondsLeft: 0, priority: .normal)
    }

    static func fields(_ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Job>)
        throws(WireError)
    {
        try map.counted(&value.id, &wire.pointee.id, "Job.id")
        try map.counted(&value.attempt, &wire.pointee.attempt, "Job.attempt")
        try work(map, &value, wire)
        try map.number(
            &value.millisecondsLeft, &wire.pointee.milliseconds_left, "Job.milliseconds_left")
        try map.word(&value.priority, &wire.pointee.priority, "Job.priority")
        try map.formed(&value.trace, &wire.pointee.traceparent, "Job.traceparent")
    }

    private static func work(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Job>
    ) throws(WireError) {
        if try map.part(
            { if case .fetch(let work) = value.work { work } else { nil } },
            { value.work = .fetch($0) }, &wire.pointee.fetch,
            if: &wire.pointee.work_case, 8, "Job.fetch")
        {
            return
        }
        if try map.part(
            { if case .query(let work) = value.work { work } else { nil } },
            { value.work = .query($0) }, &wire.pointee.query,
            if: &wire.pointee.work_case, 9, "Job.query")
        {
            return
        }
        if try map.part(
            { if case .store(let work) = value.work { work } else { nil } },
            { value.work = .store($0) }, &wire.pointee.store,
            if: &wire.pointee.work_case, 10, "Job.store")
        {
            return
        }
        if try map.part(
            { if case .decode(let work) = value.work { work } else { nil } },
            { value.work = .decode($0) }, &wire.pointee.decode,
            if: &wire.pointee.work_case, 11, "Job.decode")
        {
            return
        }
        if try map.part(
            { if case .transform(let work) = value.work { work } else { nil } },
            { value.work = .transform($0) }, &wire.pointee.transform,
            if: &wire.pointee.work_case, 12, "Job.transform")
        {
            return
        }
        if try map.part(
            { if case .entry(let work) = value.work { work } else { nil } },
            { value.work = .entry($0) }, &wire.pointee.entry,
            if: &wire.pointee.work_case, 13, "Job.entry")
        {
            return
        }
        if try map.part(
            { if case .paint(let work) = value.work { work } else { nil } },
            { value.work = .paint($0) }, &wire.pointee.paint,
            if: &wire.pointee.work_case, 14, "Job.paint")
        {
            return
        }
        throw .field("Job.work", .missing)
    }
}

extension JobAdjustment: WireMessage {
    static var begin: (CPart<Imagebus__V1__AdjustJob>?) -> Void { imagebus__v1__adjust_job__init }
    static var blank: Self { Self(id: JobID(0), millisecondsLeft: 0, priority: .normal) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__AdjustJob>
    ) throws(WireError) {
        try map.counted(&value.id, &wire.pointee.id, "AdjustJob.id")
        try map.number(
            &value.millisecondsLeft, &wire.pointee.milliseconds_left, "AdjustJob.milliseconds_left")
        try map.word(&value.priority, &wire.pointee.priority, "AdjustJob.priority")
    }
}

/// A job that nobody wants any more.
struct CancelledJob: WireMessage {
    var id: JobID

    static var begin: (CPart<Imagebus__V1__CancelJob>?) -> Void { imagebus__v1__cancel_job__init }
    static var blank: Self { Self(id: JobID(0)) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__CancelJob>
    ) throws(WireError) {
        try map.counted(&value.id, &wire.pointee.id, "CancelJob.id")
    }
}
