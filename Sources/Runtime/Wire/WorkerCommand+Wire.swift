import CMessages
import ImageModel
public import Messages

private let limit = MessageLimits.backFrameBytesMax

extension MessageEncoder {
    /// Prepares a message to a worker.
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
    /// Reads what the coordinator sent to a worker. Throws `versionRefused` where it refused us.
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
