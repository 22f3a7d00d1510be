import Coordinator
import Model

// One step of a walk, chosen by the input.
extension ForgingStack {
    mutating func step(_ reader: inout ByteReader) throws(BrokenInvariant) {
        switch reader.choice(26) {
        case 0, 1: try load(&reader)
        case 2, 3, 4, 5: try finish(&reader)
        case 6, 7: try forge(&reader)
        case 8, 9: try hire(&reader)
        case 10: try kill(&reader)
        case 11:
            if let worker = reader.pick(staff) { try open(Self.segments(&reader), by: worker) }
        case 12:
            if let worker = reader.pick(staff) { try close(Self.segments(&reader), by: worker) }
        case 13:
            guard let (worker, outcome) = lastOutcome else { return }
            try answer(outcome, from: worker)
        case 14:
            now = now.adding(milliseconds: 1 << reader.choice(14))
            try send(.tick)
        case 15: try stored(&reader)
        case 16: try evict(&reader)
        case 17: try credit(&reader)
        case 18: try progress(&reader)
        case 19: try join(life: UInt64(reader.choice(2)))
        case 20: if let client = reader.pick(clients) { try leave(client) }
        case 21: try cancel(&reader)
        case 22:
            guard let client = reader.pick(clients) else { return }
            let block = BlockID(Self.firstResult + UInt64(reader.choice(8)))
            try send(.clientReleased(client, [block]))
        case 23: if let worker = reader.pick(staff) { try send(.workerDraining(worker)) }
        case 24: try operate(&reader)
        default:
            guard let token = reader.pick(detached.filter { waiting[$0] == nil }) else { return }
            try load(&reader, again: token)
        }
    }

    private mutating func load(_ reader: inout ByteReader, again: Token? = nil)
        throws(BrokenInvariant)
    {
        guard let client = reader.pick(clients) else { return try join(life: 0) }
        var image = ImageRequest(url: "http://example.org/\(reader.choice(3)).jpg")
        let what = reader.byte()
        if what & 1 != 0 {
            image.steps = [.resize(PixelSize(width: 9, height: 1 + reader.choice(2)), .fit)]
        }
        if what & 2 != 0 { image.output.format = .webp }
        if what & 4 != 0 { image.options.insert(.waitStoreCache) }
        if what & 8 != 0 { image.options.insert(.fromLoaderOnly) }
        if what & 16 != 0 { image.timeoutMilliseconds = 40 }
        if what & 32 != 0 {
            image.queryCacheTypes = CacheTypes(rawValue: reader.byte() % 4)
            image.storeCacheTypes = CacheTypes(rawValue: reader.byte() % 4)
            image.originalQueryCacheTypes = CacheTypes(rawValue: reader.byte() % 4)
            image.originalStoreCacheTypes = CacheTypes(rawValue: reader.byte() % 4)
        }
        if what & 0xC0 == 0xC0 { image.infoOnly = true }
        // Reuses bits of the loads that wait only for bytes, so no further input byte is consumed.
        if what & 0x18 == 0x08 { image.context.serializer = .transcode(.png, quality: nil) }
        if what & 0xC0 == 0x80 { image.context.fallback = Self.fallback(&reader) }
        try load(image, by: client, detach: what & 0xC0 == 0x40, again: again)
    }

    private static func fallback(_ reader: inout ByteReader) -> Fallback {
        reader.bool()
            ? .color(Color(argb: reader.number()))
            : .url("http://example.org/\(reader.choice(4)).jpg")
    }

    /// Completes a job correctly.
    private mutating func finish(_ reader: inout ByteReader) throws(BrokenInvariant) {
        guard let (worker, job) = reader.pick(held) else { return }
        let how = reader.byte()
        let length: UInt64 = how & 2 == 0 ? 900 : 2 << 20
        let result: JobResult =
            how & 1 == 0
            ? honest(job, by: worker, length: length) : hit(job, by: worker, length: length)
        try answer(
            JobOutcome(
                id: job.id, attempt: job.attempt, result: result, workMicroseconds: 10),
            from: worker)
    }

    /// Sends an arbitrary outcome, for a job of the worker or for any other.
    private mutating func forge(_ reader: inout ByteReader) throws(BrokenInvariant) {
        guard let worker = reader.pick(staff) else { return }
        let own = workers[worker]?.held.values.sorted { $0.id < $1.id } ?? []
        let job = reader.bool() ? reader.pick(own) : nil
        let outcome = JobOutcome(
            id: job?.id ?? JobID(UInt64(reader.byte())),
            attempt: job?.attempt ?? UInt32(reader.choice(3)), result: Self.forged(&reader),
            workMicroseconds: reader.number())
        try answer(outcome, from: worker)
    }

    private mutating func hire(_ reader: inout ByteReader) throws(BrokenInvariant) {
        guard workers.count < 12 else { return }
        let kind = reader.pick(WorkerKind.allCases) ?? .decode
        try hire(kind, credit: UInt32(reader.choice(4)))
        guard reader.bool() else { return }
        try open(Self.whole(kind), by: WorkerID(staff.last?.value ?? 0))
    }

    /// One segment of each arena that the kind may write.
    static func whole(_ kind: WorkerKind) -> [SegmentAnnouncement] {
        let stage = SegmentAnnouncement(arena: .stage, number: 0, size: 1 << 30)
        let results = SegmentAnnouncement(arena: .results, number: 0, size: 1 << 30)
        return kind == .cache ? [stage, results] : [stage]
    }

    private static func segments(_ reader: inout ByteReader) -> [SegmentAnnouncement] {
        (0..<(1 + reader.choice(3))).map { _ in
            SegmentAnnouncement(
                arena: reader.choice(3) == 0 ? .results : .stage,
                number: UInt32(reader.choice(5)), size: reader.number())
        }
    }

    private mutating func stored(_ reader: inout ByteReader) throws(BrokenInvariant) {
        guard let worker = reader.pick(staff), let record = workers[worker] else { return }
        let reference = Self.reference(&reader)
        try send(
            .stored(
                worker,
                StoredNotice(
                    key: "http://example.org/\(reader.choice(3)).jpg", reference: reference,
                    info: ImageInfo(format: .png, size: PixelSize(width: 1, height: 1)),
                    expiresInMilliseconds: reader.bool() ? reader.number() : nil)))
        let isSound = reference.arena == .results && isSound(reference, of: record)
        try expect(isSound || workers[worker] == nil, "the cache names what it has")
    }

    private mutating func evict(_ reader: inout ByteReader) throws(BrokenInvariant) {
        guard let worker = reader.pick(staff) else { return }
        let block = BlockID(Self.firstResult + UInt64(reader.choice(8)))
        workers[worker]?.evicted.insert(block)
        try send(.evicted(worker, [block]))
        try expect(
            workers[worker] == nil || workers[worker]?.kind == .cache,
            "only the cache can evict blocks")
    }

    private mutating func credit(_ reader: inout ByteReader) throws(BrokenInvariant) {
        guard let worker = reader.pick(staff) else { return }
        let more: UInt32 = reader.number()
        workers[worker]?.window += Int(more)
        try send(.credit(worker, more))
    }

    private mutating func progress(_ reader: inout ByteReader) throws(BrokenInvariant) {
        guard let worker = reader.pick(staff) else { return }
        let progress = JobProgress(
            id: JobID(UInt64(reader.byte())), attempt: UInt32(reader.choice(3)),
            received: reader.number(), expected: reader.number())
        try send(.progress(worker, progress))
    }

    private mutating func cancel(_ reader: inout ByteReader) throws(BrokenInvariant) {
        let tokens = waiting.keys.sorted { $0.value.low < $1.value.low }
        guard let token = reader.pick(tokens), let client = waiting[token] else { return }
        try send(.cancel(client, token))
    }

    private mutating func kill(_ reader: inout ByteReader) throws(BrokenInvariant) {
        guard let worker = reader.pick(staff) else { return }
        let job = reader.pick(workers[worker]?.held.keys.sorted() ?? [])
        let record = CrashRecord(
            job: reader.bool() ? job : JobID(UInt64(reader.byte())),
            attempt: UInt32(1 + reader.choice(2)), signal: 11)
        try kill(worker, reader.bool() ? record : nil)
    }

    private mutating func operate(_ reader: inout ByteReader) throws(BrokenInvariant) {
        guard let client = reader.pick(clients) else { return }
        let tokens = waiting.keys.sorted { $0.value.low < $1.value.low } + detached
        switch reader.choice(6) {
        case 5: try put(&reader, by: client)
        case 0: try send(.failureCache(client, .list(after: reader.number())))
        case 1:
            let url = "http://example.org/\(reader.choice(3)).jpg"
            try send(.failureCache(client, .remove(url: url)))
        case 2: try send(.failureCache(client, .clear))
        case 3:
            let actions = EntryAction.allCases
            let action = actions[reader.choice(actions.count)]
            var command = CacheCommand(number: 1, action: action, key: reader.bool() ? "k" : "")
            if reader.bool() { command.selection.prefix = "http" }
            try send(.cache(client, command))
        default: if let token = reader.pick(tokens) { try send(.cancelAny(token)) }
        }
    }
}
