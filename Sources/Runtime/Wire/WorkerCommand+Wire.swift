import CMessages
import ImageModel
public import Messages

private let limit = MessageLimits.backFrameBytesMax

extension MessageEncoder {
    /// Prepares a message to a worker.
    public mutating func encode(_ command: WorkerCommand) throws(WireError) -> EncodedMessage {
        switch command {
        case .welcome(let welcome):
            try prepare(.workerWelcome, limit: limit) { write throws(WireError) in
                let wire = try write.make(imagebus__v1__worker_welcome__init)
                wire.pointee.epoch = try write.bytes(welcome.epoch.value)
                return wire
            }
        case .helloRequired:
            try prepare(.helloRequired, limit: limit) { write throws(WireError) in
                try write.make(imagebus__v1__hello_required__init)
            }
        case .job(let job):
            try prepare(.job, limit: limit) { write throws(WireError) in try job.wire(write) }
        case .adjust(let adjustment):
            try prepare(.adjustJob, limit: limit) { write throws(WireError) in
                try adjustment.wire(write)
            }
        case .cancelJob(let id):
            try prepare(.cancelJob, limit: limit) { write throws(WireError) in
                let wire = try write.make(imagebus__v1__cancel_job__init)
                wire.pointee.id = try write.counted(id.value, "CancelJob.id")
                return wire
            }
        case .release(let blocks):
            try prepare(.release, limit: limit) { write throws(WireError) in
                try BlockID.release(blocks, write)
            }
        case .touched(let blocks):
            try prepare(.touched, limit: limit) { write throws(WireError) in
                try BlockID.touched(blocks, write)
            }
        case .drain:
            try prepare(.drain, limit: limit) { write throws(WireError) in
                try write.make(imagebus__v1__drain__init)
            }
        case .refused(let error):
            try prepare(.refused, limit: limit) { write throws(WireError) in
                try error.refusal(of: nil, write)
            }
        }
    }
}

extension MessageDecoder {
    /// Reads what the coordinator sent to a worker. Throws `versionRefused` where it refused us.
    public mutating func workerCommand(_ kind: MessageKind, _ body: RawSpan) throws(WireError)
        -> WorkerCommand
    {
        switch kind {
        case .versions: throw VersionRefusal.error(body)
        case .workerWelcome:
            try decode(body, limit: limit, imagebus__v1__worker_welcome__unpack) {
                part, read throws(WireError) in
                let epoch = try read.identifier(part.epoch, "WorkerWelcome.epoch")
                return .welcome(WorkerWelcome(epoch: Epoch(epoch)))
            }
        case .helloRequired:
            try decode(body, limit: limit, imagebus__v1__hello_required__unpack) {
                _, _ throws(WireError) in .helloRequired
            }
        case .job:
            try decode(body, limit: limit, imagebus__v1__job__unpack) {
                part, read throws(WireError) in .job(try Job(part, read))
            }
        case .adjustJob:
            try decode(body, limit: limit, imagebus__v1__adjust_job__unpack) {
                part, read throws(WireError) in .adjust(try JobAdjustment(part, read))
            }
        case .cancelJob:
            try decode(body, limit: limit, imagebus__v1__cancel_job__unpack) {
                part, read throws(WireError) in
                .cancelJob(JobID(try read.counted(part.id, "CancelJob.id")))
            }
        case .release:
            try decode(body, limit: limit, imagebus__v1__release__unpack) {
                part, _ throws(WireError) in
                .release(try BlockID.list(part.n_blocks, part.blocks, "Release.blocks"))
            }
        case .touched:
            try decode(body, limit: limit, imagebus__v1__touched__unpack) {
                part, _ throws(WireError) in
                .touched(try BlockID.list(part.n_blocks, part.blocks, "Touched.blocks"))
            }
        case .drain:
            try decode(body, limit: limit, imagebus__v1__drain__unpack) {
                _, _ throws(WireError) in .drain
            }
        case .refused:
            try decode(body, limit: limit, imagebus__v1__refused__unpack) {
                part, read throws(WireError) in
                .refused(try ImageError(refusal: part, read))
            }
        default: throw .unexpectedKind(kind)
        }
    }
}
