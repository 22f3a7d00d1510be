import Derivation
public import ImageModel
public import Messages
import Tables

/// The vouchers that were issued: which answers clients may repeat without asking
/// (SEMANTICS §5.24).
///
/// Number *n* lies in word *n* modulo the count of words, and stands while that word has it and no
/// floor is above it. Numbers never repeat, so a voucher that fell never stands again; one more
/// than there are words withdraws the oldest. What is to be written into the words collects in
/// order: whoever acknowledges anything writes them before.
struct Vouchers: Sendable {
    private struct Grant {
        let number: UInt64
        let block: BlockID
        let source: ScopedSource?
        let text: String
    }

    /// 0: none are issued.
    let words: UInt64
    private var next: UInt64 = 1
    private var floor: UInt64 = 0
    /// By word.
    private var grants: [UInt64: Grant] = [:]
    private var ofBlocks: [BlockID: Set<UInt64>] = [:]
    private var ofSources: [ScopedSource: Set<UInt64>] = [:]
    private var ofTexts: [String: Set<UInt64>] = [:]
    private var writes: [VoucherWrite] = []

    init(words: Int) { self.words = UInt64(max(0, words)) }

    /// Those that stand.
    var count: Int { grants.count }

    /// Whether a voucher stands, its moment apart.
    func stands(_ number: UInt64) -> Bool {
        words > 0 && number >= floor && grants[number % words]?.number == number
    }

    /// The block whose answer a voucher repeats; `nil` where it fell.
    func block(of number: UInt64) -> BlockID? {
        stands(number) ? grants[number % words]?.block : nil
    }

    /// A voucher for an answer in a block, which depends on a source that may be refused and on the
    /// header fields of a text; `nil` where none are issued.
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

    // MARK: - What falls

    mutating func withdraw(of block: BlockID) { withdraw(ofBlocks[block]) }
    mutating func withdraw(of source: ScopedSource) { withdraw(ofSources[source]) }
    mutating func withdraw(ofText text: String) { withdraw(ofTexts[text]) }

    private mutating func withdraw(_ numbers: Set<UInt64>?) {
        // In their order: what is written does not depend on a hash.
        for number in (numbers ?? []).sorted() {
            guard let grant = grants[number % words] else { continue }
            forget(grant)
            grants[number % words] = nil
            writes.append(.word(number % words, 0))
        }
    }

    /// All that were issued so far.
    mutating func withdrawAll() { raise(to: next) }

    /// All, and none is issued any more.
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

    /// What is to be written now, in order.
    mutating func takeWrites() -> [VoucherWrite] {
        guard !writes.isEmpty else { return [] }
        defer { writes = [] }
        return writes
    }
}

/// What is to be written where clients look whether a voucher stands.
public enum VoucherWrite: Hashable, Sendable {
    /// A word has this number, or none that stands (0).
    case word(UInt64, UInt64)
    /// Numbers below it have fallen.
    case floor(UInt64)
}

/// A hit that was found the whole way once. The same load again, whoever makes it, gets the same
/// answer for as long as `Hits` says that it stands.
public struct HitTicket: Hashable, Sendable {
    let place: HitIndex.Place
    /// The term of the configuration by which the load was read.
    let term: UInt64
    /// The plain text of its original, and the header fields on which that depended. What is
    /// learned of other texts does not matter.
    let plainOriginal: String
    let fields: [String]?
    /// The source that must not be on the deny list; `nil` where that does not matter.
    let source: ScopedSource?
    /// What was done with the source.
    let operation: SourceOperation
    /// For how long an earlier failure counts; `nil`: as long as it is on the list.
    let earlierFailureMilliseconds: Int?
    /// Why it is fresh, where that counts.
    let freshness: Freshness?
    /// The answer.
    public internal(set) var image: DeliveredImage

    /// What origins said of an answer that is given as long as it is fresh.
    struct Freshness: Hashable, Sendable {
        let kept: OriginCaching?
        let mark: BodyMark
        /// What counted as the ticket was granted.
        let counted: OriginCaching
        /// When that was, in milliseconds since 1970.
        let countedAt: Int64
        /// It is fresh until then.
        let until: Instant
    }

    /// Until when it may stand; `nil`: for as long as nothing happens.
    var until: Instant? {
        guard let freshness else { return place.expiry }
        return place.expiry.map { min($0, freshness.until) } ?? freshness.until
    }

    /// Whether both say the same, whatever their vouchers are.
    public func saysTheSame(as other: HitTicket) -> Bool {
        var (left, right) = (self, other)
        (left.image.voucher, right.image.voucher) = (nil, nil)
        return left == right
    }
}

// A repeated hit. What depends on the request alone was found out before. What may have changed
// since is looked at again.
extension Scheduler {
    /// The ticket of a load that a hit answers now; `nil` where none does, for large results,
    /// for loads with a slot, which may end others, and for those that are explained.
    public mutating func hitTicket(for load: LoadRequest, _ terms: LoadTerms) -> HitTicket? {
        guard load.slot == nil, !load.image.wantsExplanation, terms.firstRefusal == nil,
            (try? load.image.checkWishes()) != nil,
            refusal(of: load.image, terms) == nil,
            let names = try? names(of: load.image, terms),
            case let plan = JobPlan(load, terms, names), plan.mayComeFromMemory
        else { return nil }
        return hits.grant(
            load.image, terms, names, at: now,
            ifFreshAt: plan.respectsCacheControl ? calendarNow : nil)
    }

    /// Whether the answer of a ticket stands.
    public func stands(_ ticket: HitTicket, at moment: Instant) -> Bool {
        hits.stands(ticket, at: max(now, moment))
    }

    /// Adds a voucher to the answer of a ticket, by which clients that are told it repeat it
    /// without asking.
    public mutating func vouch(for ticket: inout HitTicket) { hits.vouch(for: &ticket) }

    /// What is to be written into the file of vouchers, in order: before anything that follows from
    /// the event is told to anybody.
    public mutating func takeVoucherWrites() -> [VoucherWrite] { hits.takeVoucherWrites() }

    /// A client answered loads by itself. They count, and what they used was used.
    mutating func used(_ used: UsedVouchers) {
        figures.counters.requests &+= used.loads
        figures.counters.memoryHits &+= used.loads
        figures.counters.voucherHits &+= used.loads
        for number in used.numbers {
            if let block = hits.block(ofVoucher: number) { hits.touch(block, at: now) }
        }
    }

    /// Admits and answers a load that has a ticket; the caller sends the ticket's image. `false`
    /// where it did nothing, since `load` has to be told the whole way: the answer does not stand,
    /// the token is in use, the client is not there, it is time to tell the cache what was used.
    public mutating func answer(
        _ ticket: HitTicket, again token: Token, of client: ClientID, at moment: Instant
    ) -> Bool {
        let now = max(now, moment)
        guard hits.touched(with: ticket) < limits.touchedMax, hits.stands(ticket, at: now),
            clients.keys.contains(client), tokens.isEmpty || !tokens.keys.contains(token),
            prefetching.tokens.isEmpty || !prefetching.tokens.keys.contains(token)
        else { return false }
        self.now = now
        figures.counters.requests += 1
        figures.counters.memoryHits += 1
        hits.touch(ticket.place.block, at: now)
        return true
    }

    /// The configuration or a secret, by which loads are read, has changed. Keys are derived anew,
    /// and no earlier answer is repeated without that.
    public mutating func reconfigured() {
        namesMemo.removeAll()
        hits.withdraw(.reconfigured)
    }
}
