import CMessages
import ImageModel
import Messages

extension JobOutcome {
    init(_ wire: Imagebus__V1__Outcome, _ read: FieldReader) throws(WireError) {
        self.init(
            id: JobID(try read.counted(wire.id, "Outcome.id")),
            attempt: try read.counted(wire.attempt, "Outcome.attempt"),
            result: try JobResult(wire, read), workMicroseconds: wire.work_microseconds)
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Outcome>
    {
        let wire = try write.make(imagebus__v1__outcome__init)
        wire.pointee.id = try write.counted(id.value, "Outcome.id")
        wire.pointee.attempt = try write.counted(attempt, "Outcome.attempt")
        wire.pointee.work_microseconds = workMicroseconds
        try result.put(into: &wire.pointee, write)
        return wire
    }
}

extension JobResult {
    fileprivate init(_ wire: Imagebus__V1__Outcome, _ read: FieldReader) throws(WireError) {
        switch wire.result_case {
        case IMAGEBUS__V1__OUTCOME__RESULT_FETCHED:
            self = .fetched(
                try FetchedBody(try read.required(wire.fetched, "Outcome.fetched"), read))
        case IMAGEBUS__V1__OUTCOME__RESULT_HIT:
            self = .hit(try CacheHit(try read.required(wire.hit, "Outcome.hit"), read))
        case IMAGEBUS__V1__OUTCOME__RESULT_MISS: self = .miss
        case IMAGEBUS__V1__OUTCOME__RESULT_STORED:
            self = .stored(
                try StoreReport(try read.required(wire.stored, "Outcome.stored"), read))
        case IMAGEBUS__V1__OUTCOME__RESULT_DECODED:
            self = .decoded(
                try DecodedImage(try read.required(wire.decoded, "Outcome.decoded"), read))
        case IMAGEBUS__V1__OUTCOME__RESULT_TRANSFORMED:
            self = .transformed(
                try EncodedImage(try read.required(wire.transformed, "Outcome.transformed"), read))
        case IMAGEBUS__V1__OUTCOME__RESULT_FAILED:
            self = .failed(try ImageError(try read.required(wire.failed, "Outcome.failed"), read))
        case IMAGEBUS__V1__OUTCOME__RESULT_ENTRY:
            let report = try read.required(wire.entry, "Outcome.entry")
            self = .entry(try CacheTypes(report.tiers, "EntryReport.tiers"))
        default: throw .field("Outcome.result", .missing)
        }
    }

    fileprivate func put(into wire: inout Imagebus__V1__Outcome, _ write: FieldWriter)
        throws(WireError)
    {
        switch self {
        case .fetched(let body):
            wire.result_case = IMAGEBUS__V1__OUTCOME__RESULT_FETCHED
            wire.fetched = try body.wire(write)
        case .hit(let hit):
            wire.result_case = IMAGEBUS__V1__OUTCOME__RESULT_HIT
            wire.hit = try hit.wire(write)
        case .miss:
            wire.result_case = IMAGEBUS__V1__OUTCOME__RESULT_MISS
            wire.miss = try write.make(imagebus__v1__unit__init)
        case .stored(let report):
            wire.result_case = IMAGEBUS__V1__OUTCOME__RESULT_STORED
            wire.stored = try report.wire(write)
        case .entry(let tiers):
            wire.result_case = IMAGEBUS__V1__OUTCOME__RESULT_ENTRY
            wire.entry = try write.make(imagebus__v1__entry_report__init)
            wire.entry.pointee.tiers = UInt32(tiers.rawValue)
        case .decoded(let image):
            wire.result_case = IMAGEBUS__V1__OUTCOME__RESULT_DECODED
            wire.decoded = try image.wire(write)
        case .transformed(let image):
            wire.result_case = IMAGEBUS__V1__OUTCOME__RESULT_TRANSFORMED
            wire.transformed = try image.wire(write)
        case .failed(let error):
            wire.result_case = IMAGEBUS__V1__OUTCOME__RESULT_FAILED
            wire.failed = try error.wire(write)
        }
    }
}
