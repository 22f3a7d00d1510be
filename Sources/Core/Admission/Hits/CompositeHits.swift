import ImageModel
import Messages

/// What memory answers of names that stand for several caches (SEMANTICS §5.16).
///
/// What the highest cache has in memory is the answer. Of a lower one that is known only after the
/// cache process looked in vain higher up, or where the policy takes it from any of them.
struct CompositeHits: Sendable {
    private var layout = CacheLayout()
    /// Where the cache process found them, by the texts of the composite caches.
    private var found: [String: HitIndex.Place] = [:]
    private let entriesMax: Int

    init(entriesMax: Int) { self.entriesMax = entriesMax }

    /// Whether there are no such names.
    var isEmpty: Bool { layout.isEmpty }

    /// Whether others hold the cache of a text.
    func isForeign(_ text: String) -> Bool { layout.isForeign(text) }

    /// Names stand for other caches from now on.
    mutating func adopt(_ layout: CacheLayout) {
        self.layout = layout
        forgetAll()
    }

    /// The entry that answers a text, and whether it does for as long as it is there.
    func entry(
        for text: String, in index: borrowing HitIndex, at now: Instant
    ) -> (entry: HitIndex.Entry, lasts: Bool)? {
        guard let composite = layout.composite(ofStored: text) else { return nil }
        let names = layout.queried(composite)
        // An external cache that comes first is asked.
        guard !layout.isHeldByOthers(names[0]) else { return nil }
        let first = CacheKey.moved(text, to: names[0])
        if let entry = index.entry(for: first, at: now) { return (entry, true) }
        if composite.policy(.query) == .concurrent {
            for name in names.dropFirst() where !layout.isHeldByOthers(name) {
                let text = CacheKey.moved(text, to: name)
                if let entry = index.entry(for: text, at: now) { return (entry, false) }
            }
        }
        return found[text].flatMap { index.entry($0, at: now) }.map { ($0, false) }
    }

    /// The cache process found what a text names, after both tiers of every higher cache were
    /// asked. Forgets all when full: what is in use comes back at once. Where others hold one of
    /// them, that is asked each time: what it has changes behind our back.
    mutating func learn(_ text: String, _ place: HitIndex.Place) {
        guard let composite = layout.composite(ofStored: text),
            !composite.caches(for: .query).contains(where: layout.isHeldByOthers)
        else { return }
        if found.count >= entriesMax { forgetAll() }
        found[text] = place
    }

    /// A text was stored: what was found lower may not be the answer any more.
    mutating func stored(_ text: String) {
        guard !found.isEmpty else { return }
        for related in layout.related(toStored: text) { found[related] = nil }
    }

    /// Nothing that was found counts any more.
    mutating func forgetAll() { found.removeAll(keepingCapacity: true) }
}
