import CMessages
public import Model

private let limit = MessageLimits.frontFrameBytesMax

extension MessageEncoder {
    /// Encodes a message of a client. Throws `tooLarge` if it exceeds the limit of a frame.
    public mutating func encode(_ message: ClientMessage) throws(WireError) -> EncodedMessage {
        switch message {
        case .hello(let hello): try prepare(.clientHello, limit: limit, hello)
        case .load(let request): try prepare(.load, limit: limit, request)
        case .cancel(let token):
            try prepare(.cancel, limit: limit, Cancellation(target: .token(token)))
        case .cancelGroup(let group):
            try prepare(.cancel, limit: limit, Cancellation(target: .group(group)))
        case .reprioritize(let token, let priority):
            try prepare(
                .reprioritize, limit: limit,
                Reprioritization(target: .token(token), priority: priority))
        case .reprioritizeGroup(let group, let priority):
            try prepare(
                .reprioritize, limit: limit,
                Reprioritization(target: .group(group), priority: priority))
        case .prefetch(let request): try prepare(.prefetch, limit: limit, request)
        case .release(let blocks):
            try prepare(.release, limit: limit, ReleaseBlocks(blocks: blocks))
        case .status: try prepare(.status, limit: limit, StatusMessage())
        case .failureCache(let command): try prepare(.failureCacheCommand, limit: limit, command)
        case .downloads(let command):
            try prepare(.downloadsCommand, limit: limit, DownloadsRequest(command: command))
        case .cache(let command): try prepare(.cacheCommand, limit: limit, command)
        case .chunk(let chunk): try prepare(.chunk, limit: limit, chunk)
        case .taken(let bytes): try prepare(.taken, limit: limit, TakenBytes(count: bytes))
        case .used(let used): try prepare(.used, limit: limit, used)
        case .drain(let kind, let pool):
            try prepare(.drainCommand, limit: limit, DrainRequest(kind: kind, pool: pool))
        case .goodbye: try prepare(.goodbye, limit: limit, GoodbyeReason.terminated)
        }
    }
}

extension MessageDecoder {
    /// Decodes a message of a client.
    public mutating func clientMessage(_ kind: MessageKind, _ body: RawSpan) throws(WireError)
        -> ClientMessage
    {
        switch kind {
        case .clientHello:
            return .hello(try decode(body, limit: limit, imagebus__v1__client_hello__unpack))
        case .load: return .load(try decode(body, limit: limit, imagebus__v1__load__unpack))
        case .cancel:
            let cancellation: Cancellation = try decode(
                body, limit: limit, imagebus__v1__cancel__unpack)
            return switch cancellation.target {
            case .token(let token): .cancel(token)
            case .group(let group): .cancelGroup(group)
            }
        case .reprioritize:
            let change: Reprioritization = try decode(
                body, limit: limit, imagebus__v1__reprioritise__unpack)
            return switch change.target {
            case .token(let token): .reprioritize(token, change.priority)
            case .group(let group): .reprioritizeGroup(group, change.priority)
            }
        case .prefetch:
            return .prefetch(try decode(body, limit: limit, imagebus__v1__prefetch__unpack))
        case .release:
            return .release(
                (try decode(body, limit: limit, imagebus__v1__release__unpack) as ReleaseBlocks)
                    .blocks)
        case .status:
            _ = try decode(body, limit: limit, imagebus__v1__status__unpack) as StatusMessage
            return .status
        case .chunk: return .chunk(try decode(body, limit: limit, imagebus__v1__piece__unpack))
        case .taken:
            return .taken(
                (try decode(body, limit: limit, imagebus__v1__taken__unpack) as TakenBytes).count)
        case .used: return .used(try decode(body, limit: limit, imagebus__v1__used__unpack))
        case .goodbye:
            _ = try decode(body, limit: limit, imagebus__v1__goodbye__unpack) as GoodbyeReason
            return .goodbye
        default: return try operatorMessage(kind, body)
        }
    }

    private func downloads(_ request: DownloadsRequest) -> ClientMessage {
        .downloads(request.command)
    }

    private func drain(_ request: DrainRequest) -> ClientMessage {
        .drain(request.kind, request.pool)
    }

    /// Decodes a message that only operators may send.
    private mutating func operatorMessage(_ kind: MessageKind, _ body: RawSpan) throws(WireError)
        -> ClientMessage
    {
        switch kind {
        case .failureCacheCommand:
            .failureCache(try decode(body, limit: limit, imagebus__v1__blacklist_command__unpack))
        case .cacheCommand:
            .cache(try decode(body, limit: limit, imagebus__v1__cache_command__unpack))
        case .downloadsCommand:
            downloads(try decode(body, limit: limit, imagebus__v1__downloads_command__unpack))
        case .drainCommand:
            drain(try decode(body, limit: limit, imagebus__v1__drain_command__unpack))
        default: throw .unexpectedKind(kind)
        }
    }
}

extension ClientHello: WireMessage {
    typealias Form = Imagebus__V1__ClientHello
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__client_hello__init }
    static var blank: Self { Self(incarnation: .blank, pid: 0, version: "") }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.identifier(&incarnation, &wire.pointee.incarnation, "ClientHello.incarnation")
        try map.number(&pid, &wire.pointee.pid, "ClientHello.pid")
        try map.text(
            &version, &wire.pointee.version, "ClientHello.version",
            limit: MessageLimits.textBytesMax)
        map.flag(&wantsChunks, &wire.pointee.wants_pieces, "ClientHello.wants_pieces")
        try map.secret(&secret, &wire.pointee.secret, "ClientHello.secret")
        try map.maybe(&front, &wire.pointee.front, "ClientHello.front")
        map.flag(&takesBatches, &wire.pointee.takes_batches, "ClientHello.takes_batches")
    }
}

extension FrontProcess: WireMessage {
    typealias Form = Imagebus__V1__FrontProcess
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__front_process__init }
    static var blank: Self { Self(name: "") }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(
            &name, &wire.pointee.name, "FrontProcess.name", limit: Self.nameBytesMax)
        try map.number(&restarts, &wire.pointee.restarts, "FrontProcess.restarts")
        try map.bits(&sandbox, &wire.pointee.sandbox, "FrontProcess.sandbox")
    }
}

extension ClientWelcome: WireMessage {
    typealias Form = Imagebus__V1__ClientWelcome
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__client_welcome__init }
    static var blank: Self { Self(epoch: .blank, window: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.identifier(&epoch, &wire.pointee.epoch, "ClientWelcome.epoch")
        try map.number(&window, &wire.pointee.window, "ClientWelcome.window")
        try map.number(&chunkWindow, &wire.pointee.piece_window, "ClientWelcome.piece_window")
        try map.number(&voucherWords, &wire.pointee.voucher_words, "ClientWelcome.voucher_words")
        try map.number(&clock.nanoseconds, &wire.pointee.clock, "ClientWelcome.clock")
        try map.number(&loadsMax, &wire.pointee.loads_max, "ClientWelcome.loads_max")
    }
}

extension LoadRequest: WireMessage {
    typealias Form = Imagebus__V1__Load
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__load__init }
    static var blank: Self { Self(token: .blank, image: .blank) }

    /// Errors after the token are attributed to this request.
    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.identifier(&token, &wire.pointee.token, "Load.token")
        do {
            try map.identifier(maybe: &group, &wire.pointee.group, "Load.group")
            try map.part(&image, &wire.pointee.image, "Load.image")
            map.flag(&wantsProgress, &wire.pointee.wants_progress, "Load.wants_progress")
            map.flag(&wantsInfo, &wire.pointee.wants_info, "Load.wants_info")
            try map.number(&staleRetries, &wire.pointee.stale_retries, "Load.stale_retries")
            map.flag(&detach, &wire.pointee.detach, "Load.detach")
            map.flag(&wantsChunks, &wire.pointee.wants_pieces, "Load.wants_pieces")
            try map.number(&uploadBytes, &wire.pointee.upload_bytes, "Load.upload_bytes")
            try map.name(&slot, &wire.pointee.slot, "Load.slot")
            try map.formed(&logContext.trace, &wire.pointee.traceparent, "Load.traceparent")
            try map.number(&httpClient, &wire.pointee.visitor, "Load.visitor")
            try map.formed(&logContext.requestID, &wire.pointee.request_id, "Load.request_id")
            map.flag(&logContext.isProbe, &wire.pointee.is_probe, "Load.is_probe")
        } catch {
            throw error.about(token)
        }
    }
}

/// The target of a client's message: a request, or a group of them.
enum Target: Hashable {
    case token(Token)
    case group(GroupID)
}

/// Cancels requests.
struct Cancellation: WireMessage {
    var target: Target

    typealias Form = Imagebus__V1__Cancel
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__cancel__init }
    static var blank: Self { Self(target: .token(.blank)) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        if try map.identifier(
            { if case .token(let token) = target { token } else { nil } }, { target = .token($0) },
            &wire.pointee.token,
            if: &wire.pointee.target_case, 1, "Cancel.token")
        {
            return
        }
        if try map.identifier(
            { if case .group(let group) = target { group } else { nil } }, { target = .group($0) },
            &wire.pointee.group,
            if: &wire.pointee.target_case, 2, "Cancel.group")
        {
            return
        }
        throw .field("Cancel.target", .missing)
    }
}

/// Changes the priority of requests.
struct Reprioritization: WireMessage {
    var target: Target
    var priority: Priority

    typealias Form = Imagebus__V1__Reprioritise
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__reprioritise__init }
    static var blank: Self { Self(target: .token(.blank), priority: .normal) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.word(&priority, &wire.pointee.priority, "Reprioritise.priority")
        if try map.identifier(
            { if case .token(let token) = target { token } else { nil } }, { target = .token($0) },
            &wire.pointee.token,
            if: &wire.pointee.target_case, 1, "Reprioritise.token")
        {
            return
        }
        if try map.identifier(
            { if case .group(let group) = target { group } else { nil } }, { target = .group($0) },
            &wire.pointee.group,
            if: &wire.pointee.target_case, 2, "Reprioritise.group")
        {
            return
        }
        throw .field("Reprioritise.target", .missing)
    }
}

extension PrefetchRequest: WireMessage {
    typealias Form = Imagebus__V1__Prefetch
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__prefetch__init }
    static var blank: Self {
        Self(batch: .blank, image: .blank, urls: [], isLast: false, concurrency: 0, trace: nil)
    }

    /// Errors after the batch ID are attributed to this batch.
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

// Messages with at most one number, which have no type in `Model`.

/// Grants a worker additional jobs.
struct CreditGrant: WireMessage {
    var jobs: UInt32

    typealias Form = Imagebus__V1__Credit
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__credit__init }
    static var blank: Self { Self(jobs: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(&jobs, &wire.pointee.jobs, "Credit.jobs")
    }
}

/// Makes the processes of a kind, or of one of its pools, exit.
struct DrainRequest: WireMessage {
    var kind: WorkerKind
    var pool: PoolName?

    typealias Form = Imagebus__V1__DrainCommand
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__drain_command__init }
    static var blank: Self { Self(kind: .coordinator) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.word(&kind, &wire.pointee.kind, "DrainCommand.kind")
        try map.formed(&pool, &wire.pointee.pool, "DrainCommand.pool")
    }
}

/// The number of processes that are exiting.
struct DrainAnswer: WireMessage {
    var processes: UInt32

    typealias Form = Imagebus__V1__DrainReport
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__drain_report__init }
    static var blank: Self { Self(processes: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(&processes, &wire.pointee.processes, "DrainReport.processes")
    }
}

/// Asks the peer to say hello.
struct HelloRequiredMessage: WireMessage {
    typealias Form = Imagebus__V1__HelloRequired
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__hello_required__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) {}
}

/// Makes the worker exit.
struct DrainMessage: WireMessage {
    typealias Form = Imagebus__V1__Drain
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__drain__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) {}
}

/// Requests a status report.
struct StatusMessage: WireMessage {
    typealias Form = Imagebus__V1__Status
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__status__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) {}
}
