import Derivation
import Dispatching
import ImageModel
import Messages
import Tables

/// The answers that memory gives by itself, and all that they depend on (SEMANTICS §5.11).
///
///     publish ──► an entry: the cache holds a key in memory
///                   grant ──► a ticket: one load and its answer ── stands? ──► answered again
///     withdraw ──► entries and tickets fall
///
/// This is the one place that knows why a remembered answer stands. Callers say what happened, and
/// what falls is decided here. Answers fall only by `withdraw`, or when their entry expires. So a
/// component that hands answers on has to follow `publish`, `withdraw` and the expiry.
struct Hits: Sendable {
    private var index: HitIndex
    private var composites: CompositeHits
    private var readers: ResultBlocks
    private var touches = TouchBatch()
    /// Sources that failed for good, and why.
    private(set) var denyList: DenyList<RefusedOperation, Refusal>
    /// The header fields on which answers depend.
    private(set) var variances: VarianceTable
    /// What origins said of what is kept, after that was stored.
    private(set) var confirmations: Confirmations
    /// Which answers clients repeat by themselves.
    private var vouchers: Vouchers
    /// Tickets of an earlier term have fallen; `nil`: all have, for good.
    private var term: UInt64? = 0

    init(_ limits: SchedulerLimits) {
        index = HitIndex(entriesMax: limits.hitsMax)
        composites = CompositeHits(entriesMax: limits.hitsMax)
        readers = ResultBlocks(
            unreleasedBytesMax: limits.unreleasedBytesMax,
            unreleasedBytesPerClientMax: limits.unreleasedBytesPerClientMax)
        denyList = DenyList(
            entriesMax: limits.blacklistMax, milliseconds: limits.blacklistMilliseconds)
        variances = VarianceTable(keysMax: limits.namesMax)
        confirmations = Confirmations(entriesMax: limits.hitsMax)
        vouchers = Vouchers(words: limits.vouchersMax)
    }

    // MARK: - Entries

    /// Entries that memory answers.
    var count: Int { index.count }

    /// The entry of a key, unless it expired. None of a cache that others hold by now.
    func entry(for key: String, at now: Instant) -> HitIndex.Entry? {
        guard !composites.isForeign(key) else { return nil }
        if let entry = index.entry(for: key, at: now) { return entry }
        guard !composites.isEmpty else { return nil }
        return composites.entry(for: key, in: index, at: now)?.entry
    }

    /// The same, where it stands for as long as it is there.
    private func lastingEntry(for key: String, at now: Instant) -> HitIndex.Entry? {
        guard !composites.isForeign(key) else { return nil }
        if let entry = index.entry(for: key, at: now) { return entry }
        guard !composites.isEmpty,
            let (entry, lasts) = composites.entry(for: key, in: index, at: now)
        else { return nil }
        return lasts ? entry : nil
    }

    /// Names of caches stand for these from now on.
    mutating func adopt(_ layout: CacheLayout) { composites.adopt(layout) }

    /// The cache process found a key, which may be one of several caches, in a block of memory.
    mutating func found(_ key: String, in block: BlockID) {
        guard !composites.isEmpty, let entry = index.entry(in: block) else { return }
        composites.learn(key, entry.place)
    }

    /// A key was stored.
    mutating func stored(_ key: String) { if !composites.isEmpty { composites.stored(key) } }

    /// The cache answers a key from memory from now on; the reference has been checked.
    mutating func publish(
        _ notice: StoredNotice, _ reference: BlockReference, of cache: WorkerID, at now: Instant
    ) {
        readers.notice(reference, of: cache)
        withdraw(.reused(reference.block))
        withdraw(.replaced(notice.key))
        index.insert(notice, reference, at: now)
        while let oldest = index.surplus() { withdraw(.crowdedOut(oldest)) }
    }

    // MARK: - Tickets

    /// The ticket of a load that an entry answers. None for a large result, whose answer depends on
    /// what the client keeps. `calendarNow`: milliseconds since 1970, where the entry is answered
    /// only while it is fresh.
    func grant(
        _ image: ImageRequest, _ terms: LoadTerms, _ names: RequestNames, at now: Instant,
        ifFreshAt calendarNow: Int64? = nil
    ) -> HitTicket? {
        guard let term, let entry = lastingEntry(for: names.result, at: now),
            !ResultBlocks.isLarge(entry.reference)
        else { return nil }
        var freshness: HitTicket.Freshness?
        if let calendarNow {
            freshness = self.freshness(of: entry, terms, names, at: now, calendarNow)
            guard freshness != nil else { return nil }
        }
        var delivered = entry.delivered(for: image, names)
        if let freshness, image.wantsValidity {
            delivered.validity = Validity(telling: freshness.counted, freshness.mark, terms)
        }
        return HitTicket(
            place: entry.place, term: term, plainOriginal: names.plainOriginal,
            fields: variances[names.plainOriginal],
            source: image.options.contains(.retryFailed)
                ? nil : ScopedSource(names.source, terms),
            operation: image.operation,
            earlierFailureMilliseconds: image.earlierFailureMilliseconds, freshness: freshness,
            image: delivered)
    }

    /// Why an entry is fresh; `nil` where it is not.
    private func freshness(
        of entry: HitIndex.Entry, _ terms: LoadTerms, _ names: RequestNames, at now: Instant,
        _ calendarNow: Int64
    ) -> HitTicket.Freshness? {
        guard let validity = entry.origin?.validity else { return nil }
        let mark = BodyMark(validity)
        let caching = confirmations.caching(
            validity.caching, of: names.plainOriginal, mark, at: calendarNow)
        guard let caching, let expiry = terms.expiry(caching),
            FreshnessDecision(expiry, at: calendarNow) == .fresh
        else { return nil }
        let left = Int(clamping: expiry.freshUntil - calendarNow)
        return HitTicket.Freshness(
            kept: validity.caching, mark: mark, counted: caching, countedAt: calendarNow,
            until: now.adding(milliseconds: left))
    }

    /// Adds a voucher to the answer of a ticket that stands, where such are issued.
    mutating func vouch(for ticket: inout HitTicket) {
        ticket.image.voucher = vouchers.issue(
            ticket.place.block, ticket.source, text: ticket.plainOriginal
        ).map { Voucher(number: $0, until: ticket.until) }
    }

    /// The block that a voucher's answer lies in; `nil` where the voucher fell.
    func block(ofVoucher number: UInt64) -> BlockID? { vouchers.block(of: number) }

    /// Vouchers that stand.
    var vouched: Int { vouchers.count }

    /// Whether a voucher stands, its moment apart.
    func stands(voucher number: UInt64) -> Bool { vouchers.stands(number) }

    /// What is to be written into the file of vouchers before anything is acknowledged.
    mutating func takeVoucherWrites() -> [VoucherWrite] { vouchers.takeWrites() }

    /// Whether the answer of a ticket still stands. Usually no origin varies and no source is
    /// refused: then neither costs a look-up.
    func stands(_ ticket: HitTicket, at now: Instant) -> Bool {
        ticket.term == term && isFresh(ticket, at: now)
            && (ticket.image.voucher.map { vouchers.stands($0.number) } ?? true)
            && (variances.isEmpty
                ? ticket.fields == nil : variances[ticket.plainOriginal] == ticket.fields)
            && index.isLive(ticket.place, at: now)
            && (denyList.isEmpty
                || ticket.source.flatMap {
                    refusal(
                        of: $0, for: ticket.operation,
                        within: ticket.earlierFailureMilliseconds, at: now)
                } == nil)
    }

    private func isFresh(_ ticket: HitTicket, at now: Instant) -> Bool {
        guard let fresh = ticket.freshness else { return true }
        return now < fresh.until
            && confirmations.caching(
                fresh.kept, of: ticket.plainOriginal, fresh.mark, at: fresh.countedAt)
                == fresh.counted
    }

    /// A source that is refused, and why.
    typealias DenyEntry = DenyList<RefusedOperation, Refusal>.Entry

    /// Why a load of a source is refused; `nil` where it is not, or where the failure is longer
    /// ago than so many milliseconds.
    func refusal(
        of source: ScopedSource, for operation: SourceOperation,
        within milliseconds: Int? = nil, at now: Instant
    ) -> DenyEntry? {
        Self.keys(source, operation).lazy.compactMap { denyList.entry($0, at: now) }.first {
            entry in milliseconds.map { entry.since.adding(milliseconds: $0) > now } ?? true
        }
    }

    /// The entries that refuse an operation: what needs its pixels needs its header as well.
    private static func keys(
        _ source: ScopedSource, _ operation: SourceOperation
    ) -> [RefusedOperation] {
        let operations = operation == .header ? [.header] : [.header, operation]
        return operations.map { RefusedOperation(source: source, operation: $0) }
    }

    // MARK: - What falls

    /// Takes back answers that do not stand any more. Returns a large block, where the cache is to
    /// be told that nobody reads it.
    @discardableResult
    mutating func withdraw(_ reason: Withdrawal) -> BlockHandle? {
        switch reason {
        case .evicted(let handle):
            remove(handle.block)
            return readers.evict(handle) ? handle : nil
        case .reused(let block), .crowdedOut(let block): remove(block)
        case .replaced(let key):
            if let block = index.block(of: key) { remove(block) }
            stored(key)
        case .cacheGone(let cache):
            vouchers.withdrawAll()
            index.removeAll()
            composites.forgetAll()
            touches.removeAll()
            readers.leave(cache)
        case .denied(let denial): enter(denial)
        case .varies(let text, let fields):
            vouchers.withdraw(ofText: text)
            variances.learn(text, fields)
        case .confirmed(let text, let mark, let said):
            vouchers.withdraw(ofText: text)
            confirmations.learn(text, mark, said)
        case .reconfigured:
            vouchers.withdrawAll()
            term = term.map { $0 + 1 }
            composites.forgetAll()
        case .drained:
            vouchers.close()
            term = nil
        }
        return nil
    }

    private mutating func remove(_ block: BlockID) {
        vouchers.withdraw(of: block)
        index.remove(block)
    }

    /// The last number that an entry of the deny list got, or was told of.
    private(set) var lastDenial: UInt64 = 0

    private mutating func enter(_ denial: Denial) {
        vouchers.withdraw(of: denial.source)
        lastDenial = denial.lastNumber
        denyList.put(
            RefusedOperation(source: denial.source, operation: denial.refusal.operation),
            denial.refusal, url: denial.url, at: denial.at, numbers: &lastDenial)
    }

    /// A source is no longer refused for an operation: its answers stand again.
    mutating func forgive(_ source: ScopedSource, for operation: SourceOperation) {
        for key in Self.keys(source, operation) { denyList.remove(key) }
    }

    /// The same for all sources that are meant. Returns how many were refused until now.
    mutating func forgive(
        at now: Instant, where isMeant: (DenyEntry) -> Bool
    ) -> Int {
        denyList.remove(at: now, where: isMeant).count
    }

    // MARK: - Use

    /// Used blocks that the cache was not told of yet, and since when there are any.
    var touched: Int { touches.count }
    var touchedSince: Instant? { touches.since }

    /// How many there would be with this ticket's block.
    func touched(with ticket: HitTicket) -> Int { touches.count(with: ticket.place.block) }

    /// A block answered a hit.
    mutating func touch(_ block: BlockID, at now: Instant) { touches.add(block, at: now) }

    /// Takes the used blocks that the cache is to be told of.
    mutating func takeTouched() -> [BlockID] { touches.take() }

    // MARK: - Readers of large blocks

    /// Whether somebody reads a large block.
    var hasReaders: Bool { readers.hasReaders }
    /// Whether a client has a large block that it did not release.
    var hasDeliveries: Bool { readers.hasDeliveries }

    /// How many readers a large block still has; `nil` for an unknown block.
    func readers(of handle: BlockHandle) -> Int? { readers.readers(of: handle) }

    /// The cache named a block, which may be large.
    mutating func notice(_ reference: BlockReference, of cache: WorkerID) {
        readers.notice(reference, of: cache)
    }

    /// A reply that has not gone out yet names the block.
    mutating func hold(_ handle: BlockHandle) { readers.hold(handle) }

    /// The reply no longer names the block; `true` when the cache is to be told that the block is
    /// free.
    mutating func letGo(_ handle: BlockHandle) -> Bool { readers.drop(handle) }

    /// A reply with a block goes out. Returns whether the client may map the block: a large one is
    /// kept for the client until it releases it, as far as limits allow.
    mutating func lend(
        _ handle: BlockHandle, _ bytes: UInt64, to client: ClientID
    ) -> Bool {
        readers.deliver(handle, bytes, to: client)
    }

    /// A client released one delivery. Returns the handle when the cache is to be told.
    mutating func released(_ block: BlockID, by client: ClientID) -> BlockHandle? {
        readers.release(block, by: client)
    }

    /// A client is gone. Returns the blocks that the cache is to be told of.
    mutating func releaseAll(of client: ClientID) -> [BlockHandle] {
        readers.releaseAll(of: client)
    }
}

/// Why remembered answers do not stand any more. An answer that expires needs no such event: it
/// carries the moment until which it stands.
enum Withdrawal: Sendable {
    /// The cache no longer holds the key of the block, which was evicted or removed.
    case evicted(BlockHandle)
    /// The block holds another key from now on.
    case reused(BlockID)
    /// The key lies in another block from now on: made again, refreshed, or put by an operator.
    case replaced(String)
    /// There were too many entries, and this one was the oldest.
    case crowdedOut(BlockID)
    /// The cache is gone, and its segments with it.
    case cacheGone(WorkerID)
    /// A source is refused from now on: its answers fall, but not other answers of the same
    /// entries.
    case denied(Denial)
    /// The header fields that the answer under a plain text depends on have changed.
    case varies(plainOriginal: String, [String]?)
    /// An origin confirmed what is kept under a plain text, and said until when.
    case confirmed(plainOriginal: String, BodyMark, Confirmation)
    /// A load may mean something else now: the configuration or a secret has changed.
    case reconfigured
    /// Nothing is admitted any more.
    case drained
}
