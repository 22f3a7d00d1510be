package import Model
internal import Nettle
internal import Synchronization

/// Bytes shared by several users: a client, the memory tier, a write to disk, a copy.
///
/// The last release returns the memory to its space, on whichever thread that happens.
final class Body: Sendable {
    /// The space that owns the memory.
    enum Home: Sendable {
        case results(any ResultSpace)
        /// Staged for a decoder, or private.
        case other(any OutputSpace)
    }

    /// The number of bytes in use.
    let length: Int
    private let block: OutputBlock
    private let home: Home
    /// Whether no reader is left, so that the memory can be reused immediately.
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

    /// The reference to use in messages.
    var reference: BlockReference { block.reference(length: length) }

    var blockBytes: Int { block.bytes.count }

    /// The bytes; valid while the body exists.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(target) }

    /// Returns whether another body has the same bytes.
    func isEqual(_ other: Body) -> Bool { bytes.elementsEqual(other.bytes) }

    /// SHA-256 of the bytes.
    var digest: ContentDigest? { ContentDigest(SHA256.digest(bytes.bytes)) }

    /// The memory to fill, once, before the body is shared.
    var target: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: block.bytes[..<length])
    }

    /// Publishes the complete bytes to readers of `results/`.
    func publish() {
        if case .results(let space) = home { space.publish(block) }
    }

    /// Records that the only receiver has released it.
    func releasedByReaders() { hasNoReaders.store(true, ordering: .releasing) }
}

/// The arena of `results/`, which clients read while it is written.
package protocol ResultSpace: OutputSpace {
    /// Marks the block's bytes as complete, so that readers find its ID. Call once per block,
    /// before sending its reference.
    func publish(_ block: OutputBlock)
    /// Frees a block that readers may still have mapped: if it could be mapped, its memory is not
    /// reused for another block (SEMANTICS §14.6).
    func retire(_ id: BlockID)
}

/// Access to payloads in the segments of other processes.
package protocol PayloadSource: Sendable {
    /// Checks that the bytes exist, without reading them.
    /// - Throws: If the segment is gone, or shorter than the reference states.
    func check(_ reference: BlockReference) throws(ImageError)
    /// Copies the payload to the start of `target`, which must be large enough. May be called from
    /// any thread.
    ///
    /// - Throws: If the segment is gone, or shorter than the reference states.
    func copy(
        _ reference: BlockReference, into target: UnsafeMutableRawBufferPointer
    ) throws(ImageError)
}

/// Private memory as an output space, for bodies that are queued for the disk and not read by other
/// processes.
///
/// The write-behind queue enforces the limit before bodies are allocated.
final class HeapSpace: OutputSpace {
    private let nextID = Atomic<UInt64>(1)

    func reserve(_ bytes: Int) throws(ImageError) -> OutputBlock {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes, alignment: 64)
        let (id, _) = nextID.add(1, ordering: .relaxed)
        return OutputBlock(id: BlockID(id), arena: .stage, segment: 0, offset: 0, bytes: memory)
    }

    func discard(_ block: OutputBlock) { block.bytes.deallocate() }
}

/// Large bodies evicted from the memory tier that clients may still be reading, until the
/// coordinator releases them (SEMANTICS §14.6).
///
/// A released body returns to its arena for reuse. A body abandoned earlier, because there are too
/// many or the coordinator that tracked its readers has gone, has its segment unlinked: processes
/// that mapped it keep the pages.
struct DepartingBodies {
    private let bytesMax: Int
    private var bodies: [BlockID: Body] = [:]
    private var order: [BlockID] = []
    /// Bodies whose readers are unknown: their memory is never reused.
    private var distrusted: Set<BlockID> = []
    /// The total size of the bodies.
    private(set) var bytes = 0

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// Adds a body whose eviction was reported to the coordinator.
    mutating func add(_ body: Body) {
        let block = body.reference.block
        bodies[block] = body
        order.append(block)
        bytes += body.length
        while bytes > bytesMax, let oldest = order.first { drop(oldest) }
    }

    /// Releases a block that no client reads any more. Unknown IDs are ignored.
    mutating func release(_ block: BlockID) {
        if !distrusted.contains(block) { bodies[block]?.releasedByReaders() }
        drop(block)
    }

    /// Abandons the oldest body to make room; returns false if there is none.
    mutating func giveUpOldest() -> Bool {
        guard let oldest = order.first else { return false }
        drop(oldest)
        return true
    }

    /// Abandons all bodies and marks the `living` ones as not reusable, because a new coordinator
    /// doesn't know which clients have mapped them.
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
    /// Reserves memory for a body in `results/`, evicting entries if necessary.
    func reserveResult(_ key: String?, length: Int) throws(ImageError) -> Body {
        let cost = MemoryTier.cost(key: key, blockBytes: length)
        // Fail immediately if there can never be enough room.
        guard cost <= memory.costMax else { throw Self.tooLarge(length) }
        guard let gone = memory.makeRoom(for: cost, of: key) else { throw Self.noRoom(length) }
        apply(gone)
        while true {
            do { return try Body(in: .results(results), length: length) } catch {
                // The accounting shows enough room but the arena is full: free space may be
                // fragmented, and evicted bodies may still be read or queued for the disk.
                guard error.code == .arenaFull else { throw error }
                if departing.giveUpOldest() { continue }
                guard let gone = memory.evictOne() else { throw error }
                apply(gone)
            }
        }
    }

    /// Publishes a filled body and inserts it into the memory tier. Without a key it stays until it
    /// is released or evicted.
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
        // Again, now that the size of the block is known; this evicts other entries, never the new
        // one.
        if let gone = memory.makeRoom(for: entry.cost, of: key) { apply(gone) }
        bodies[entry.block] = body
        apply(memory.insert(entry))
        notify(entry, now)
    }

    /// Reports an entry to the coordinator, which may then answer its key itself.
    func notify(_ entry: MemoryEntry, _ now: UnixTime) {
        if let notice = notice(of: entry, now) { act(.stored(notice)) }
    }

    /// Handles the departure of entries from the memory tier.
    func apply(_ gone: Departures) {
        counts.memoryEvictions += UInt64(gone.evicted.count)
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
        ImageError(
            .arenaFull, "no space for a result of \(length) bytes; retry, or raise the limit")
    }

    private static func tooLarge(_ length: Int) -> ImageError {
        ImageError(
            .limitExceeded,
            "a result of \(length) bytes does not fit in the memory tier: raise --memory-limit")
    }

    static let tooMuchWaits = ImageError(.busy, "too many requests are queued in the cache; retry")
}

extension CacheStage {
    /// Copies bytes into a body and continues: small copies on this thread, others on the copy
    /// thread.
    func fill(
        _ body: Body, from source: CopySource, for filling: Filling, _ now: UnixTime
    ) throws(ImageError) {
        let request = CopyRequest(
            ticket: nextTicket, source: source, target: body, comparand: filling.comparand,
            wantsDigest: filling.wantsDigest)
        guard body.length < Self.largeBytes else {
            guard expect(.copying(filling, body), copier.submit(request)) else {
                throw Self.tooMuchWaits
            }
            return
        }
        didFill(body, filling, request.perform(), now)
    }

    /// Continues with a filled body, or answers with the error of the copy.
    private func didFill(
        _ body: Body, _ filling: Filling, _ end: CopyAnswer, _ now: UnixTime
    ) {
        if let error = end.error { return self.answer(filling.job, .failed(error)) }
        switch filling {
        case .query(let job, let work, var finding):
            finding.metadata.digest = finding.metadata.digest ?? end.digest
            found(body, job, work, finding, now)
        case .store(let job, var work, let plan):
            // Checks the copy, which nobody can change before it is used.
            guard work.describes(body) else { return self.answer(job, .failed(Self.otherImage)) }
            work.metadata.digest = end.digest
            store(body, job, work, plan, now)
        case .comparison(let job, _):
            self.answer(job, .stored(StoreReport(delivered: nil, tiers: .none, isSame: end.isSame)))
        }
    }

    /// Handles a completed copy.
    func copied(_ answer: CopyAnswer, _ now: UnixTime) {
        if case .copying(let filling, let body)? = pending.removeValue(forKey: answer.ticket) {
            didFill(body, filling, answer, now)
        }
    }

    private static let otherImage = ImageError(
        .badImageData, "the bytes are not the image that the transformer reported")
}

extension StoreWork {
    /// Returns whether the header of bytes produced by a transformer agrees with the image
    /// properties in the metadata. Not checked for originals, which come from origins: their
    /// properties are determined by a decoder and describe the displayed image. An entry of an
    /// external cache may be either, and a file passed through by a decoder is displayed like its
    /// original. Of some formats only the signature is known.
    fileprivate func describes(_ body: Body) -> Bool {
        let bytes = body.bytes.bindMemory(to: UInt8.self)
        guard let producer = source.producer else { return true }
        let (format, size) = (metadata.info.format, metadata.info.size)
        if producer.kind == .transform, format.isEncodable {
            guard let header = ImageHeader(bytes.span) else { return false }
            return header.format == format && header.size == size
        }
        let isExternalCache = producer.kind == .cache && producer.pool != PoolName(.cache)
        guard isExternalCache || [.transform, .decode].contains(producer.kind) else { return true }
        guard ImageFormat(file: bytes.span) == format else { return false }
        guard format.traits.storedSize != nil else { return true }
        guard let stored = ImageHeader(bytes.span)?.size else { return false }
        return stored == size || stored.transposed == size
    }
}

/// The source of a body's bytes.
enum CopySource: Sendable {
    /// A block of another process.
    case payload(BlockReference, any PayloadSource)
    /// A body of this process.
    case body(Body)

    /// Fills `target` completely.
    func copy(into target: Body) throws(ImageError) {
        switch self {
        case .payload(let reference, let source):
            guard reference.length == UInt64(target.length) else {
                throw ImageError(.internalError, "the destination of a copy must have its length")
            }
            try source.copy(reference, into: target.target)
        case .body(let body): target.target.copyMemory(from: body.bytes)
        }
    }
}

/// A copy that is too long for the bus thread.
struct CopyRequest: Sendable {
    /// Identifies the answer.
    let ticket: UInt64
    let source: CopySource
    let target: Body
    /// The body to compare the copy with.
    let comparand: Body?
    /// Whether to compute the digest of the bytes.
    var wantsDigest = false

    /// Performs the copy; an error of `nil` means success.
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

struct CopyAnswer: Sendable {
    let ticket: UInt64
    let error: ImageError?
    let isSame: Bool
    var digest: ContentDigest?
}
