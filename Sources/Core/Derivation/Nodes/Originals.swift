import ImageModel
import Messages

/// What is wanted and known of a source's bytes under each text of the cache: one transfer may be
/// kept in several caches and under several keys. Nearly always it is one text.
///
/// Texts are plain ones, the same whatever the origin's answer depends on.
struct Originals: Sendable {
    private struct Original {
        let text: String
        /// Tiers that somebody wants it in, and whether somebody waits for the disk.
        var policy = StorePolicy(tiers: .none, waitsForDisk: false)
        /// Tiers that were asked for it, in vain.
        var missing: CacheTypes = .none
        /// Tiers for which any store was begun.
        var attempted: CacheTypes = .none
        /// Tiers that stored it.
        var stored: CacheTypes = .none
    }

    private var entries: [Original] = []
    /// Where the second text and those after it are.
    private var places: [String: Int] = [:]
    /// Texts with policies that may not have been attempted, in the order of the policies.
    private var wanting: [Int] = []

    /// All texts, the first one first.
    var texts: [String] { entries.map(\.text) }

    /// The tags that somebody wants it to have, under whichever text.
    var tags: [String] {
        entries.reduce(into: []) { CacheTag.unite(&$0, with: $1.policy.tags) }
    }

    private func place(of text: String) -> Int? {
        if let first = entries.first, first.text == text { return 0 }
        return entries.count > 1 ? places[text] : nil
    }

    private mutating func index(of text: String) -> Int {
        if let place = place(of: text) { return place }
        if !entries.isEmpty { places[text] = entries.count }
        entries.append(Original(text: text))
        return entries.count - 1
    }

    /// All texts, with the tiers for which a store is wanted or was begun.
    var wanted: [(text: String, tiers: CacheTypes)] {
        entries.map { ($0.text, $0.policy.tiers.union($0.attempted)) }
    }

    /// Somebody looks for it under this text; whether nobody did before.
    mutating func enter(_ text: String) -> Bool {
        let count = entries.count
        return index(of: text) == count
    }

    /// Tiers that were asked for it under this text, in vain.
    func missing(_ text: String) -> CacheTypes {
        place(of: text).map { entries[$0].missing } ?? .none
    }

    /// Tiers that stored it under this text.
    func stored(_ text: String) -> CacheTypes {
        place(of: text).map { entries[$0].stored } ?? .none
    }

    /// Those tiers were asked for it, in vain.
    mutating func noteMissing(_ tiers: CacheTypes, _ text: String) {
        if !tiers.isEmpty { entries[index(of: text)].missing.formUnion(tiers) }
    }

    /// Somebody wants it kept under this text.
    mutating func want(_ policy: StorePolicy, as text: String) {
        let index = index(of: text)
        entries[index].policy.unite(policy)
        guard !entries[index].policy.tiers.isSubset(of: entries[index].attempted),
            !wanting.contains(index)
        else { return }
        wanting.append(index)
    }

    /// The next text with tiers that are wanted and that no store was begun for; from now on one
    /// has.
    mutating func takeUnattempted() -> (text: String, policy: StorePolicy)? {
        while !wanting.isEmpty {
            let index = wanting.removeFirst()
            var policy = entries[index].policy
            policy.tiers.subtract(entries[index].attempted)
            if policy.tiers.isEmpty { continue }
            entries[index].attempted.formUnion(policy.tiers)
            return (entries[index].text, policy)
        }
        return nil
    }

    /// A store for those tiers was begun elsewhere.
    mutating func attempt(_ tiers: CacheTypes, _ text: String) {
        entries[index(of: text)].attempted.formUnion(tiers)
    }

    /// Those tiers have it now.
    mutating func ended(_ tiers: CacheTypes, _ text: String) {
        entries[index(of: text)].stored.formUnion(tiers)
    }
}
