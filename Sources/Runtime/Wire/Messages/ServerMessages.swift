import CMessages
public import Model

private let limit = MessageLimits.frontFrameBytesMax

extension MessageEncoder {
    /// Encodes a message to a client.
    public mutating func encode(_ message: ServerMessage) throws(WireError) -> EncodedMessage {
        switch message {
        case .welcome(let welcome): try prepare(.clientWelcome, limit: limit, welcome)
        case .helloRequired: try prepare(.helloRequired, limit: limit, HelloRequiredMessage())
        case .progress(let progress): try prepare(.event, limit: limit, progress)
        case .reply(let reply): try prepare(.reply, limit: limit, reply)
        case .status(let report): try prepare(.statusReport, limit: limit, report)
        case .failureCache(let report): try prepare(.failureCacheReport, limit: limit, report)
        case .cache(let report): try prepare(.cacheReport, limit: limit, report)
        case .chunk(let chunk): try prepare(.chunk, limit: limit, chunk)
        case .taken(let bytes): try prepare(.taken, limit: limit, TakenBytes(count: bytes))
        case .prefetched(let report): try prepare(.prefetchReport, limit: limit, report)
        case .draining(let processes):
            try prepare(.drainReport, limit: limit, DrainAnswer(processes: processes))
        case .refused(let error, let token):
            try prepare(.refused, limit: limit, Refusal(error: error, token: token))
        }
    }
}

extension MessageDecoder {
    /// Decodes a message from the coordinator to a client. Throws `versionRefused` if the
    /// coordinator rejected the version.
    public mutating func serverMessage(_ kind: MessageKind, _ body: RawSpan) throws(WireError)
        -> ServerMessage
    {
        switch kind {
        case .versions: throw VersionRefusal.error(body)
        case .clientWelcome:
            return .welcome(try decode(body, limit: limit, imagebus__v1__client_welcome__unpack))
        case .helloRequired:
            _ =
                try decode(body, limit: limit, imagebus__v1__hello_required__unpack)
                as HelloRequiredMessage
            return .helloRequired
        case .event: return .progress(try decode(body, limit: limit, imagebus__v1__event__unpack))
        case .reply: return .reply(try decode(body, limit: limit, imagebus__v1__reply__unpack))
        case .statusReport:
            return .status(try decode(body, limit: limit, imagebus__v1__status_report__unpack))
        case .failureCacheReport:
            return .failureCache(
                try decode(body, limit: limit, imagebus__v1__blacklist_report__unpack))
        case .cacheReport:
            return .cache(try decode(body, limit: limit, imagebus__v1__cache_report__unpack))
        case .chunk: return .chunk(try decode(body, limit: limit, imagebus__v1__piece__unpack))
        case .taken:
            return .taken(
                (try decode(body, limit: limit, imagebus__v1__taken__unpack) as TakenBytes).count)
        case .prefetchReport:
            return .prefetched(
                try decode(body, limit: limit, imagebus__v1__prefetch_report__unpack))
        case .drainReport:
            return .draining(
                (try decode(body, limit: limit, imagebus__v1__drain_report__unpack) as DrainAnswer)
                    .processes)
        case .refused:
            let refusal: Refusal = try decode(body, limit: limit, imagebus__v1__refused__unpack)
            return .refused(refusal.error, refusal.token)
        default: throw .unexpectedKind(kind)
        }
    }
}

extension Reply: WireMessage {
    typealias Form = Imagebus__V1__Reply
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__reply__init }
    static var blank: Self { Self(token: .blank, outcome: .notModified) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.identifier(&token, &wire.pointee.token, "Reply.token")
        try mapOutcome(map, wire)
        try map.part(&timings, unless: false, &wire.pointee.timings, "Reply.timings")
        map.flag(&isRefreshing, &wire.pointee.is_refreshing, "Reply.is_refreshing")
        try map.number(
            &arrivedBytes, &wire.pointee.arrived_bytes,
            if: &wire.pointee.maybe_arrived_bytes_case, 8, "Reply.arrived_bytes")
    }

    private mutating func mapOutcome(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        if try map.part(
            { if case .image(let image) = outcome { image } else { nil } },
            { outcome = .image($0) }, &wire.pointee.image,
            if: &wire.pointee.outcome_case, 3, "Reply.image")
        {
            return
        }
        if try map.text(
            { if case .miss(let key) = outcome { key } else { nil } }, { outcome = .miss(key: $0) },
            &wire.pointee.miss,
            if: &wire.pointee.outcome_case, 4, "Reply.miss", limit: MessageLimits.keyBytesMax)
        {
            return
        }
        if try map.part(
            { if case .failure(let error) = outcome { error } else { nil } },
            { outcome = .failure($0) }, &wire.pointee.failure,
            if: &wire.pointee.outcome_case, 5, "Reply.failure")
        {
            return
        }
        if try map.unit(
            outcome.isUnchanged, { outcome = .notModified }, &wire.pointee.not_modified,
            if: &wire.pointee.outcome_case, 6, "Reply.not_modified")
        {
            return
        }
        throw .field("Reply.outcome", .missing)
    }
}

extension Reply.Outcome {
    fileprivate var isUnchanged: Bool { if case .notModified = self { true } else { false } }
}

extension DeliveredImage: WireMessage {
    typealias Form = Imagebus__V1__DeliveredImage
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__delivered_image__init }
    static var blank: Self { Self(reference: nil, info: .blank, cacheType: [], key: "") }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.maybe(&reference, &wire.pointee.reference, "DeliveredImage.reference")
        try map.part(&info, &wire.pointee.info, "DeliveredImage.info")
        try map.tiers(&cacheType, &wire.pointee.cache_type, "DeliveredImage.cache_type")
        try map.text(
            &key, &wire.pointee.key, "DeliveredImage.key", limit: MessageLimits.keyBytesMax)
        try map.tiers(
            &storedTiers, &wire.pointee.stored_tiers, if: &wire.pointee.maybe_stored_tiers_case, 5,
            "DeliveredImage.stored_tiers")
        map.flag(&mustCopy, &wire.pointee.must_copy, "DeliveredImage.must_copy")
        try map.number(
            &chunkBytes, &wire.pointee.piece_bytes, if: &wire.pointee.maybe_piece_bytes_case, 7,
            "DeliveredImage.piece_bytes")
        try map.finite(
            &scaleFactor, unless: 1, &wire.pointee.scale_factor,
            if: &wire.pointee.maybe_scale_factor_case, 8, "DeliveredImage.scale_factor")
        try map.maybe(&fallbackFor, &wire.pointee.fallback_for, "DeliveredImage.fallback_for")
        try map.maybe(&properties, &wire.pointee.facts, "DeliveredImage.facts")
        try map.maybe(&explanation, &wire.pointee.explanation, "DeliveredImage.explanation")
        try map.maybe(&validity, &wire.pointee.validity, "DeliveredImage.validity")
        try map.digest(&digest, &wire.pointee.digest, "DeliveredImage.digest")
        try map.maybe(&extendedData, &wire.pointee.extended_data, "DeliveredImage.extended_data")
        try map.maybe(&voucher, &wire.pointee.voucher, "DeliveredImage.voucher")
        map.flag(&isDamaged, &wire.pointee.is_damaged, "DeliveredImage.is_damaged")
    }
}

extension RequestProgress: WireMessage {
    typealias Form = Imagebus__V1__Event
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__event__init }
    static var blank: Self { Self(token: .blank, received: 0, expected: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.identifier(&token, &wire.pointee.token, "Event.token")
        let isThere = try map.part(
            { ReceivedBytes(received: received, expected: expected) },
            { (received, expected) = ($0.received, $0.expected) },
            &wire.pointee.progress, if: &wire.pointee.event_case, 2, "Event.progress")
        guard isThere else { throw .field("Event.event", .missing) }
        try map.maybe(&info, &wire.pointee.info, "Event.info")
    }
}

/// The number of received bytes of an image.
struct ReceivedBytes: WireMessage {
    var received: UInt64
    var expected: UInt64

    typealias Form = Imagebus__V1__Event__Progress
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__event__progress__init }
    static var blank: Self { Self(received: 0, expected: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(&received, &wire.pointee.received, "Progress.received")
        try map.number(&expected, &wire.pointee.expected, "Progress.expected")
    }
}

extension StageTimings: WireMessage {
    typealias Form = Imagebus__V1__Timings
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__timings__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.finite(&queue, &wire.pointee.queue, "Timings.queue")
        try map.finite(&query, &wire.pointee.query, "Timings.query")
        try map.finite(&fetch, &wire.pointee.fetch, "Timings.fetch")
        try map.finite(&decode, &wire.pointee.decode, "Timings.decode")
        try map.finite(&transform, &wire.pointee.transform, "Timings.transform")
        try map.finite(&store, &wire.pointee.store, "Timings.store")
        try map.finite(&total, &wire.pointee.total, "Timings.total")
    }
}

extension Explanation: WireMessage {
    typealias Form = Imagebus__V1__Explanation
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__explanation__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.texts(
            &plan, &wire.pointee.n_plan, &wire.pointee.plan, "Explanation.plan",
            countMax: Self.stagesMax, limit: RequestLimits.nameBytesMax)
        try map.texts(
            &steps, &wire.pointee.n_steps, &wire.pointee.steps, "Explanation.steps",
            countMax: Self.stepsMax, limit: MessageLimits.textBytesMax)
        try map.details(
            &settings, ParameterLimits.self, &wire.pointee.n_settings, &wire.pointee.settings,
            "Explanation.settings", limit: Self.settingsMax)
        try map.maybe(&fetched, &wire.pointee.fetched, "Explanation.fetched")
        try map.maybe(&decoded, &wire.pointee.decoded, "Explanation.decoded")
        try map.maybe(&transformed, &wire.pointee.transformed, "Explanation.transformed")
    }
}

extension FetchAccount: WireMessage {
    typealias Form = Imagebus__V1__FetchAccount
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__fetch_account__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.finite(&name, &wire.pointee.name, "FetchAccount.name")
        try map.finite(&connect, &wire.pointee.connect, "FetchAccount.connect")
        try map.finite(&tls, &wire.pointee.tls, "FetchAccount.tls")
        try map.finite(&firstByte, &wire.pointee.first_byte, "FetchAccount.first_byte")
        try map.finite(&total, &wire.pointee.total, "FetchAccount.total")
        try map.number(&bytes, &wire.pointee.bytes, "FetchAccount.bytes")
        try map.text(
            &httpVersion, &wire.pointee.http_version, "FetchAccount.http_version",
            limit: RequestLimits.nameBytesMax)
        try map.text(
            &address, &wire.pointee.address, "FetchAccount.address",
            limit: RequestLimits.nameBytesMax)
        map.flag(&isReused, &wire.pointee.is_reused, "FetchAccount.is_reused")
        try map.number(&redirects, &wire.pointee.redirects, "FetchAccount.redirects")
        try map.number(&continuations, &wire.pointee.continuations, "FetchAccount.continuations")
    }
}

extension DecodeAccount: WireMessage {
    typealias Form = Imagebus__V1__DecodeAccount
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__decode_account__init }
    static var blank: Self {
        Self(format: .jpeg, size: .blank, pixels: .blank, scale: 0, isPlanar: false)
    }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.word(&format, &wire.pointee.format, "DecodeAccount.format")
        try map.part(&size, &wire.pointee.size, "DecodeAccount.size")
        try map.part(&pixels, &wire.pointee.pixels, "DecodeAccount.pixels")
        try map.finite(&scale, &wire.pointee.scale, "DecodeAccount.scale")
        map.flag(&isPlanar, &wire.pointee.is_planar, "DecodeAccount.is_planar")
    }
}

extension TransformAccount: WireMessage {
    typealias Form = Imagebus__V1__TransformAccount
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__transform_account__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        map.flag(&isPlanar, &wire.pointee.is_planar, "TransformAccount.is_planar")
        try map.number(
            &foldedSteps, &wire.pointee.folded_steps, "TransformAccount.folded_steps")
        try map.number(&attempts, &wire.pointee.attempts, "TransformAccount.attempts")
        try map.number(
            &quality, &wire.pointee.quality, if: &wire.pointee.maybe_quality_case, 4,
            "TransformAccount.quality")
    }
}

extension Voucher: WireMessage {
    typealias Form = Imagebus__V1__Voucher
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__voucher__init }
    static var blank: Self { Self(number: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.counted(&number, &wire.pointee.number, "Voucher.number")
        var nanoseconds = until?.nanoseconds ?? 0
        try map.number(&nanoseconds, &wire.pointee.until, "Voucher.until")
        until = nanoseconds == 0 ? nil : Instant(nanoseconds: nanoseconds)
    }
}

extension UsedVouchers: WireMessage {
    typealias Form = Imagebus__V1__Used
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__used__init }
    static var blank: Self { Self(loads: 0, numbers: []) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.counted(&loads, &wire.pointee.loads, "Used.loads")
        try map.numbers(
            &numbers, &wire.pointee.n_vouchers, &wire.pointee.vouchers, "Used.vouchers",
            limit: MessageLimits.idsMax, least: 1)
    }
}

extension Chunk: WireMessage {
    typealias Form = Imagebus__V1__Piece
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__piece__init }
    static var blank: Self { Self(token: .blank, offset: 0, total: 0, bytes: []) }

    /// Errors after the token are attributed to that request.
    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.identifier(&token, &wire.pointee.token, "Piece.token")
        do throws(WireError) {
            try map.number(&offset, &wire.pointee.offset, "Piece.offset")
            try map.number(&total, &wire.pointee.total, "Piece.total")
            try map.data(
                &bytes, &wire.pointee.data, "Piece.data", limit: MessageLimits.chunkBytesMax)
            let (end, overflow) = offset.addingReportingOverflow(UInt64(bytes.count))
            guard !overflow, end <= total else { throw .field("Piece.offset", .outOfRange) }
        } catch {
            throw error.about(token)
        }
    }
}

/// Acknowledges received bytes of chunks.
struct TakenBytes: WireMessage {
    var count: UInt64

    typealias Form = Imagebus__V1__Taken
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__taken__init }
    static var blank: Self { Self(count: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.counted(&count, &wire.pointee.bytes, "Taken.bytes")
    }
}
