import CMessages
import ImageModel
import Messages

extension Job {
    init(_ wire: Imagebus__V1__Job, _ read: FieldReader) throws(WireError) {
        self.init(
            id: JobID(try read.counted(wire.id, "Job.id")),
            attempt: try read.counted(wire.attempt, "Job.attempt"),
            work: try JobWork(wire, read), millisecondsLeft: wire.milliseconds_left,
            priority: try read.known(wire.priority.rawValue, "Job.priority"),
            trace: try read.trace(wire.traceparent, "Job.traceparent"))
    }

    func wire(_ write: FieldWriter) throws(WireError) -> UnsafeMutablePointer<Imagebus__V1__Job> {
        let wire = try write.make(imagebus__v1__job__init)
        wire.pointee.id = try write.counted(id.value, "Job.id")
        wire.pointee.attempt = try write.counted(attempt, "Job.attempt")
        wire.pointee.milliseconds_left = millisecondsLeft
        wire.pointee.priority = .init(rawValue: .init(priority.rawValue))
        wire.pointee.traceparent = try write.trace(trace, "Job.traceparent")
        try work.put(into: &wire.pointee, write)
        return wire
    }
}

extension JobWork {
    fileprivate init(_ wire: Imagebus__V1__Job, _ read: FieldReader) throws(WireError) {
        switch wire.work_case {
        case IMAGEBUS__V1__JOB__WORK_FETCH:
            self = .fetch(try FetchWork(try read.required(wire.fetch, "Job.fetch"), read))
        case IMAGEBUS__V1__JOB__WORK_QUERY:
            self = .query(try QueryWork(try read.required(wire.query, "Job.query"), read))
        case IMAGEBUS__V1__JOB__WORK_STORE:
            self = .store(try StoreWork(try read.required(wire.store, "Job.store"), read))
        case IMAGEBUS__V1__JOB__WORK_DECODE:
            self = .decode(try DecodeWork(try read.required(wire.decode, "Job.decode"), read))
        case IMAGEBUS__V1__JOB__WORK_TRANSFORM:
            self = .transform(
                try TransformWork(try read.required(wire.transform, "Job.transform"), read))
        case IMAGEBUS__V1__JOB__WORK_ENTRY:
            self = .entry(try EntryWork(try read.required(wire.entry, "Job.entry"), read))
        case IMAGEBUS__V1__JOB__WORK_PAINT:
            self = .paint(try PaintWork(try read.required(wire.paint, "Job.paint"), read))
        default: throw .field("Job.work", .missing)
        }
    }

    fileprivate func put(into wire: inout Imagebus__V1__Job, _ write: FieldWriter)
        throws(WireError)
    {
        switch self {
        case .fetch(let work):
            wire.work_case = IMAGEBUS__V1__JOB__WORK_FETCH
            wire.fetch = try work.wire(write)
        case .query(let work):
            wire.work_case = IMAGEBUS__V1__JOB__WORK_QUERY
            wire.query = try work.wire(write)
        case .store(let work):
            wire.work_case = IMAGEBUS__V1__JOB__WORK_STORE
            wire.store = try work.wire(write)
        case .entry(let work):
            wire.work_case = IMAGEBUS__V1__JOB__WORK_ENTRY
            wire.entry = try work.wire(write)
        case .decode(let work):
            wire.work_case = IMAGEBUS__V1__JOB__WORK_DECODE
            wire.decode = try work.wire(write)
        case .transform(let work):
            wire.work_case = IMAGEBUS__V1__JOB__WORK_TRANSFORM
            wire.transform = try work.wire(write)
        case .paint(let work):
            wire.work_case = IMAGEBUS__V1__JOB__WORK_PAINT
            wire.paint = try work.wire(write)
        }
    }
}

extension JobAdjustment {
    init(_ wire: Imagebus__V1__AdjustJob, _ read: FieldReader) throws(WireError) {
        self.init(
            id: JobID(try read.counted(wire.id, "AdjustJob.id")),
            millisecondsLeft: wire.milliseconds_left,
            priority: try read.known(wire.priority.rawValue, "AdjustJob.priority"))
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__AdjustJob>
    {
        let wire = try write.make(imagebus__v1__adjust_job__init)
        wire.pointee.id = try write.counted(id.value, "AdjustJob.id")
        wire.pointee.milliseconds_left = millisecondsLeft
        wire.pointee.priority = .init(rawValue: .init(priority.rawValue))
        return wire
    }
}
