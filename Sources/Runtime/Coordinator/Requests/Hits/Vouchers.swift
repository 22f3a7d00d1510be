import Model

/// Issued vouchers. A voucher is a client-side lease on a memory hit: it permits the client to
/// repeat an answer without asking (SEMANTICS §5.24).
///
/// Voucher *n* is stored in word *n* modulo the number of words. It is valid while the word
/// contains *n* and *n* is not below the floor. Numbers are never reused, so an invalid voucher
/// never becomes valid again; issuing more vouchers than there are words invalidates the oldest.
/// Writes to the words are queued in order and must be applied before anything is acknowledged.
struct Vouchers: Sendable {
    private struct Grant {
        let number: UInt64
        let block: BlockID
        let source: ScopedSource?
        let text: String
    }

    /// The number of words; 0 disables vouchers.
    let words: UInt64
    private var next: UInt64 = 1
    private var floor: UInt64 = 0
    /// Valid vouchers by word.
    private var grants: [UInt64: Grant] = [:]
    private var ofBlocks: [BlockID: Set<UInt64>] = [:]
    private var ofSources: [ScopedSource: Set<UInt64>] = [:]
    private var ofTexts: [String: Set<UInt64>] = [:]
    private var writes: [VoucherWrite] = []

    init(words: Int) { self.words = UInt64(max(0, words)) }

    /// The number of valid vouchers.
    var count: Int { grants.count }

    /// Whether a voucher is valid, apart from its expiry.
    func stands(_ number: UInt64) -> Bool {
        words > 0 && number >= floor && grants[number % words]?.number == number
    }

    /// The block that contains the voucher's answer; `nil` if the voucher is invalid.
    func block(of number: UInt64) -> BlockID? {
        stands(number) ? grants[number % words]?.block : nil
    }

    /// Issues a voucher for an answer in a block, which depends on a source that may be refused and
    /// on the header fields of a text. Returns `nil` if vouchers are disabled.
    mutating func issue(_ block: BlockID, _ source: ScopedSource?, text: String) -> UInt64? {
        guard words > 0, floor < .max else { return nil }
        let number = next
        next += 1
        let word = number % words
        if let old = grants[word] { forget(old) }
        grants[word] = Grant(number: number, block: block, source: source, text: text)
        ofBlocks[block, default: []].insert(number)
        if let source { ofSources[source, default: []].insert(number) }
        ofTexts[text, default: []].insert(number)
        writes.append(.word(word, number))
        return number
    }

    // MARK: - Invalidation

    mutating func withdraw(of block: BlockID) { withdraw(ofBlocks[block]) }
    mutating func withdraw(of source: ScopedSource) { withdraw(ofSources[source]) }
    mutating func withdraw(ofText text: String) { withdraw(ofTexts[text]) }

    private mutating func withdraw(_ numbers: Set<UInt64>?) {
        // Sorted, so that the order of the writes doesn't depend on hashing.
        for number in (numbers ?? []).sorted() {
            guard let grant = grants[number % words] else { continue }
            forget(grant)
            grants[number % words] = nil
            writes.append(.word(number % words, 0))
        }
    }

    /// Invalidates all issued vouchers.
    mutating func withdrawAll() { raise(to: next) }

    /// Invalidates all vouchers and disables issuing.
    mutating func close() { raise(to: .max) }

    private mutating func raise(to floor: UInt64) {
        guard words > 0, self.floor < .max else { return }
        self.floor = floor
        (grants, ofBlocks, ofSources, ofTexts) = ([:], [:], [:], [:])
        writes.append(.floor(floor))
    }

    private mutating func forget(_ grant: Grant) {
        Self.remove(grant.number, of: grant.block, from: &ofBlocks)
        if let source = grant.source { Self.remove(grant.number, of: source, from: &ofSources) }
        Self.remove(grant.number, of: grant.text, from: &ofTexts)
    }

    private static func remove<Key>(
        _ number: UInt64, of key: Key, from table: inout [Key: Set<UInt64>]
    ) {
        table[key]?.remove(number)
        if table[key]?.isEmpty == true { table[key] = nil }
    }

    /// Removes and returns the pending writes, in order.
    mutating func drainWrites() -> [VoucherWrite] {
        guard !writes.isEmpty else { return [] }
        defer { writes = [] }
        return writes
    }
}

/// A write to the memory in which clients check whether a voucher is valid.
enum VoucherWrite: Hashable, Sendable {
    /// Sets a word to a number; 0 means no valid voucher.
    case word(UInt64, UInt64)
    /// Invalidates all numbers below the floor.
    case floor(UInt64)
}

/// A fully resolved hit. The same load, from any client, gets the same answer for as long as `Hits`
/// considers it valid.
package struct HitTicket: Hashable, Sendable {
    let place: HitIndex.Place
    /// The configuration term under which the load was resolved.
    let term: UInt64
    /// The plain text of its original, and the header fields on which that depended. Information
    /// about other texts is irrelevant.
    let plainOriginal: String
    let fields: [String]?
    /// The source that must not be in the failure cache; `nil` if that is irrelevant.
    let source: ScopedSource?
    let operation: SourceOperation
    /// The age in milliseconds up to which earlier failures count; `nil` means their lifetime in
    /// the failure cache.
    let earlierFailureMilliseconds: Int?
    /// Freshness information, if freshness is relevant.
    let freshness: Freshness?
    /// The answer.
    var image: DeliveredImage

    /// Caching information for an answer that is valid only while fresh.
    struct Freshness: Hashable, Sendable {
        let kept: OriginCaching?
        let mark: BodyMark
        /// The caching information that applied when the ticket was granted.
        let counted: OriginCaching
        /// The time of the grant in milliseconds since 1970.
        let countedAt: Int64
        /// The end of the freshness lifetime.
        let until: Instant
    }

    /// When the ticket expires; `nil` means that only events invalidate it.
    var until: Instant? {
        guard let freshness else { return place.expiry }
        return place.expiry.map { min($0, freshness.until) } ?? freshness.until
    }
}

// Repeated hits. Everything that depends only on the request was determined earlier; everything
// that may have changed is checked again.
extension Scheduler {
    /// Returns a ticket for a load that passed its admission and that a hit answers now. Returns
    /// `nil` if there is no hit, for large results, for loads with a slot, which may end others,
    /// and for loads with an explanation.
    func ticket(
        for load: LoadRequest, _ terms: LoadTerms, _ plan: LoadPlan, _ names: RequestNames
    ) -> HitTicket? {
        guard plan.mayComeFromMemory, load.slot == nil, !load.image.wantsExplanation else {
            return nil
        }
        return hits.grant(
            load.image, terms, names, at: now,
            ifFreshAt: plan.respectsCacheControl ? calendarNow : nil)
    }

    /// Accounts for loads that a client answered by itself, and marks their blocks as used.
    func used(_ used: UsedVouchers) {
        shared.counters.requests &+= used.loads
        shared.counters.memoryHits &+= used.loads
        shared.counters.voucherHits &+= used.loads
        for number in used.numbers {
            if let block = hits.vouchers.block(of: number) { hits.touches.add(block, at: now) }
        }
    }

    /// Admits and answers a load that has a ticket; the caller sends the ticket's image. Returns
    /// `false` without effect if `load` must be processed normally: the answer is invalid, the
    /// token is in use, the client is unknown, or used blocks must be reported to the cache.
    func answer(
        _ ticket: HitTicket, again token: Token, of client: ClientID, at moment: Instant
    ) -> Bool {
        let now = max(now, moment)
        guard mayAnswer(ticket, again: token, of: client, at: now) else { return false }
        shared.now = now
        shared.counters.requests += 1
        use(ticket)
        return true
    }

    /// Counts a hit and marks its block as used.
    func use(_ ticket: HitTicket) {
        shared.counters.memoryHits += 1
        hits.touches.add(ticket.place.block, at: now)
    }

    /// Whether `answer` would answer the load.
    func mayAnswer(
        _ ticket: HitTicket, again token: Token, of client: ClientID, at now: Instant
    ) -> Bool {
        hits.touches.count(with: ticket.place.block) < limits.touchedMax
            && hits.stands(ticket, at: now)
            && clients.keys.contains(client) && (tokens.isEmpty || !tokens.keys.contains(token))
            && (prefetching.batches.isEmpty || !prefetching.batches.keys.contains(token))
    }

    /// Handles a change of the configuration or of a secret: earlier answers are not repeated
    /// without deriving their keys again.
    func reconfigured() { hits.withdraw(.reconfigured) }
}
