public import ImageModel
public import Messages
internal import Nettle
public import StageContract
internal import Synchronization

/// Bytes that several need at a time: a client, the memory tier, a write to disk, a copy.
///
/// Its memory goes back to its space with the last of them, on whichever thread that is.
final class Body: Sendable {
    /// Where memory comes from, and goes back to.
    enum Home: Sendable {
        case results(any ResultSpace)
        /// Staged for a decoder, or private.
        case other(any OutputSpace)
    }

    /// Bytes in use.
    let length: Int
    private let block: OutputBlock
    private let home: Home
    /// No reader is left, so the memory may hold something else at once.
    private let hasNoReaders = Atomic<Bool>(false)

    /// Reserves memory; throws `arenaFull`.
    init(in home: Home, length: Int) throws(ImageError) {
        self.length = length
        self.home = home
        let bytes = max(1, length)
        block =
            switch home {
            case .results(let space): try space.reserve(bytes)
            case .other(let space): try space.reserve(bytes)
            }
    }

    deinit {
        switch home {
        case .results(let space) where !hasNoReaders.load(ordering: .acquiring):
            space.retire(block.id)
        case .results(let space): space.discard(block)
        case .other(let space): space.discard(block)
        }
    }

    /// What a message names it by.
    var reference: BlockReference { block.reference(length: length) }

    /// Bytes that it takes in its space.
    var blockBytes: Int { block.bytes.count }

    /// The bytes; valid while the body lives.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(target) }

    /// Whether another body has the same bytes.
    func isEqual(_ other: Body) -> Bool { bytes.elementsEqual(other.bytes) }

    /// SHA-256 of the bytes.
    var digest: ContentDigest? { ContentDigest(SHA256.digest(bytes.bytes)) }

    /// Where whoever made the body writes, once and before anybody else sees it.
    var target: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: block.bytes[..<length])
    }

    /// Tells readers of `results/` that it is complete.
    func publish() {
        if case .results(let space) = home { space.publish(block) }
    }

    /// Notes that the only receiver there was has released it.
    func releasedByReaders() { hasNoReaders.store(true, ordering: .releasing) }
}

/// The arena of `results/`, which clients read while it is written.
public protocol ResultSpace: OutputSpace {
    /// The block's bytes are complete: readers find its id from now on. Once for each block, before
    /// its reference travels.
    func publish(_ block: OutputBlock)
    /// Gives a block up that readers may still have mapped: its memory is not used again for
    /// another block where it could be mapped (SEMANTICS §14.6).
    func retire(_ id: BlockID)
}

/// Where the bytes lie that jobs name: other processes' segments.
public protocol PayloadSource: Sendable {
    /// Looks whether the bytes are there, without reading them.
    /// - Throws: where the segment is gone, or shorter than the reference says.
    func check(_ reference: BlockReference) throws(ImageError)
    /// Copies the payload to the start of `target`, which holds it. Any thread.
    ///
    /// - Throws: where the segment is gone, or shorter than the reference says.
    func copy(
        _ reference: BlockReference, into target: UnsafeMutableRawBufferPointer
    ) throws(ImageError)
}

/// Private memory as an output space: for bodies that wait for the disk and that nobody reads.
///
/// Its bound is that of the write-behind, which is asked before.
final class HeapSpace: OutputSpace {
    private let nextID = Atomic<UInt64>(1)

    func reserve(_ bytes: Int) throws(ImageError) -> OutputBlock {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes, alignment: 64)
        let (id, _) = nextID.add(1, ordering: .relaxed)
        return OutputBlock(id: BlockID(id), arena: .stage, segment: 0, offset: 0, bytes: memory)
    }

    func discard(_ block: OutputBlock) { block.bytes.deallocate() }
}

/// Large bodies that left the memory tier, until the coordinator says that no client reads them
/// (SEMANTICS §14.6).
///
/// A body that is released goes back to its arena warm. One that is given up before, since too many
/// wait or since the coordinator that knew its readers has gone, has its segment unlinked: whoever
/// mapped it keeps the pages.
struct DepartingBodies {
    private let bytesMax: Int
    private var bodies: [BlockID: Body] = [:]
    private var order: [BlockID] = []
    /// Bodies whose readers nobody can name any more: never used again.
    private var distrusted: Set<BlockID> = []
    /// Bytes of all that wait.
    private(set) var bytes = 0

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// The coordinator has been told that the body left.
    mutating func add(_ body: Body) {
        let block = body.reference.block
        bodies[block] = body
        order.append(block)
        bytes += body.length
        while bytes > bytesMax, let oldest = order.first { drop(oldest) }
    }

    /// No client reads the block any more. Unknown ones are ignored.
    mutating func release(_ block: BlockID) {
        if !distrusted.contains(block) { bodies[block]?.releasedByReaders() }
        drop(block)
    }

    /// Gives the oldest up, since its room is needed; false where none waits.
    mutating func giveUpOldest() -> Bool {
        guard let oldest = order.first else { return false }
        drop(oldest)
        return true
    }

    /// A new coordinator does not know who has mapped what: what waits is given up, and of the
    /// `living` none will be used again.
    mutating func distrust(_ living: some Sequence<Body>) {
        for block in order { drop(block) }
        for body in living where body.length >= CacheStage.largeBytes {
            distrusted.insert(body.reference.block)
        }
    }

    private mutating func drop(_ block: BlockID) {
        guard let body = bodies.removeValue(forKey: block) else { return }
        bytes -= body.length
        order.removeAll { $0 == block }
        distrusted.remove(block)
    }
}

extension CacheStage {
    /// Reserves memory for a body in `results/`, and evicts for it what has to go.
    func reserveResult(_ key: String?, length: Int) throws(ImageError) -> Body {
        let cost = MemoryTier.cost(key: key, blockBytes: length)
        // Room that never comes is not waited for.
        guard cost <= memory.costMax else { throw Self.tooLarge(length) }
        guard let gone = memory.makeRoom(for: cost, of: key) else { throw Self.noRoom(length) }
        apply(gone)
        while true {
            do { return try Body(in: .results(results), length: length) } catch {
                // The account says that there is room, the arena is not of that opinion: pieces of
                // it may be too small, and evicted bodies may still be read, or wait for the disk.
                guard error.code == .arenaFull else { throw error }
                if departing.giveUpOldest() { continue }
                guard let gone = memory.evictOne() else { throw error }
                apply(gone)
            }
        }
    }

    /// Publishes a filled body and takes it into the memory tier; without a key it stays until it
    /// is released or its room is needed.
    func deliver(
        _ body: Body, key: String?, _ metadata: StoredMetadata, expires: UnixTime?,
        stored: UnixTime, _ now: UnixTime
    ) {
        body.publish()
        let cost = MemoryTier.cost(
            key: key, blockBytes: body.blockBytes, partBytes: metadata.partBytes)
        let key = memory.mayHold(key, cost: cost) ? key : nil
        let entry = MemoryEntry(
            key: key, reference: body.reference, metadata: metadata, blockBytes: body.blockBytes,
            expires: expires, stored: stored)
        if let key { apply(memory.remove(key: key)) }
        // Again, now that the size of the block is known: others go, never the new one.
        if let gone = memory.makeRoom(for: entry.cost, of: key) { apply(gone) }
        bodies[entry.block] = body
        apply(memory.insert(entry))
        notify(entry, now)
    }

    /// Tells the coordinator that it may answer the key of an entry.
    func notify(_ entry: MemoryEntry, _ now: UnixTime) {
        if let notice = notice(of: entry, now) { act(.stored(notice)) }
    }

    /// Says and does what follows from entries that left the memory tier.
    func apply(_ gone: Departures) {
        counts.evictions += UInt64(gone.evicted.count)
        var rest = gone.evicted[...]
        while !rest.isEmpty {
            act(.evicted(Array(rest.prefix(MessageLimits.idsMax))))
            rest = rest.dropFirst(MessageLimits.idsMax)
        }
        for block in gone.freed {
            firstUses.forget(block)
            guard let body = bodies.removeValue(forKey: block) else { continue }
            if body.length >= Self.largeBytes { departing.add(body) }
        }
    }

    static func noRoom(_ length: Int) -> ImageError {
        ImageError(.arenaFull, "no room for a result of \(length) bytes; retry, or raise the limit")
    }

    private static func tooLarge(_ length: Int) -> ImageError {
        ImageError(
            .limitExceeded,
            "a result of \(length) bytes is larger than the memory tier: raise --memory-limit")
    }

    static let tooMuchWaits = ImageError(.busy, "too many requests wait in the cache; retry")
}

extension CacheStage {
    /// Copies bytes into a body and goes on: here where they are few, else on the copy thread.
    func fill(
        _ body: Body, from source: CopySource, for filling: Filling, _ now: UnixTime
    ) throws(ImageError) {
        guard body.length < Self.largeBytes else {
            if !ask(copying: source, into: body, for: filling) { throw Self.tooMuchWaits }
            return
        }
        try source.copy(into: body)
        let end = CopyAnswer(
            ticket: 0, error: nil, isSame: filling.comparand.map(body.isEqual) ?? false,
            digest: filling.wantsDigest ? body.digest : nil)
        didFill(body, filling, end, now)
    }

    /// A body is complete.
    private func didFill(
        _ body: Body, _ filling: Filling, _ end: CopyAnswer, _ now: UnixTime
    ) {
        switch filling {
        case .query(let job, let work, var finding):
            finding.metadata.digest = finding.metadata.digest ?? end.digest
            found(body, job, work, finding, now)
        case .store(let job, var work, let plan):
            // Of the copy: nobody changes it between this look and its use.
            guard work.describes(body) else { return self.answer(job, .failed(Self.otherImage)) }
            work.metadata.digest = end.digest
            store(body, job, work, plan, now)
        case .comparison(let job, _):
            self.answer(job, .stored(StoreReport(delivered: nil, tiers: .none, isSame: end.isSame)))
        }
    }

    /// The copy thread has ended a copy.
    func copied(_ answer: CopyAnswer, _ now: UnixTime) {
        guard case .copying(let filling, let body)? = pending.removeValue(forKey: answer.ticket)
        else { return }
        guard let error = answer.error else {
            return didFill(body, filling, answer, now)
        }
        switch filling {
        case .query(let job, _, _): self.answer(job, .failed(error))
        case .store(let job, _, _): self.answer(job, .failed(error))
        case .comparison(let job, _): self.answer(job, .failed(error))
        }
    }

    private static let otherImage = ImageError(
        .badImageData, "the bytes are not the image that their maker said")
}

extension StoreWork {
    /// Whether bytes which a transformer made are, by their header, the image of which the metadata
    /// speak. Originals are what origins send: their facts are a decoder's, and say how they are
    /// displayed. What a cache of others had may be one of both, and a file that a decoder hands
    /// over is displayed like its original. Of some formats the signature is all that is known.
    fileprivate func describes(_ body: Body) -> Bool {
        let bytes = body.bytes.bindMemory(to: UInt8.self)
        guard let producer = source.producer else { return true }
        let (format, size) = (metadata.info.format, metadata.info.size)
        if producer.kind == .transform, format.isEncodable {
            guard let header = ImageHeader(bytes.span) else { return false }
            return header.format == format && header.size == size
        }
        let isForeignCache = producer.kind == .cache && producer.pool != PoolName(.cache)
        guard isForeignCache || [.transform, .decode].contains(producer.kind) else { return true }
        guard ImageFormat(file: bytes.span) == format else { return false }
        guard format.traits.storedSize != nil else { return true }
        guard let stored = ImageHeader(bytes.span)?.size else { return false }
        return stored == size || stored.transposed == size
    }
}

/// Bytes to be copied into a body.
enum CopySource: Sendable {
    /// Another process' block.
    case payload(BlockReference, any PayloadSource)
    /// A body of ours.
    case body(Body)

    /// Fills all of `target`.
    func copy(into target: Body) throws(ImageError) {
        switch self {
        case .payload(let reference, let source):
            guard reference.length == UInt64(target.length) else {
                throw ImageError(.internalError, "a copy needs room of its own length")
            }
            try source.copy(reference, into: target.target)
        case .body(let body): target.target.copyMemory(from: body.bytes)
        }
    }
}

/// A copy that is long enough to be kept off the bus thread.
struct CopyRequest: Sendable {
    /// Names the answer.
    let ticket: UInt64
    let source: CopySource
    let target: Body
    /// Bytes that the copy is held against.
    let comparand: Body?
    /// Whether the digest of the bytes is wanted.
    var wantsDigest = false

    /// Does it; `nil` is success.
    func perform() -> CopyAnswer {
        do {
            try source.copy(into: target)
            return CopyAnswer(
                ticket: ticket, error: nil, isSame: comparand.map(target.isEqual) ?? false,
                digest: wantsDigest ? target.digest : nil)
        } catch {
            return CopyAnswer(ticket: ticket, error: error, isSame: false)
        }
    }
}

/// How a copy ended.
struct CopyAnswer: Sendable {
    let ticket: UInt64
    let error: ImageError?
    let isSame: Bool
    var digest: ContentDigest?
}
