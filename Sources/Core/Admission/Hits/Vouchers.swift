import ImageModel
import Messages

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
