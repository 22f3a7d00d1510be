public import ImageModel

/// Which names of caches stand for several caches. Without any, nothing here costs anything: ask
/// `isEmpty` first.
///
/// Caches are called here as in stored texts: the default one is empty.
public struct CacheLayout: Hashable, Sendable {
    private var composites: [String: CompositeCache] = [:]
    /// For each name that has to do with a composite: all names that have a cache in common with
    /// it, itself included.
    private var kin: [String: [String]] = [:]
    /// Caches that workers of somebody else's hold, by name.
    let foreign: [String: ForeignCache]
    /// Caches in which hits of external ones are found again: those that keep them, and names that
    /// stand for one of these.
    private var promoted: Set<String> = []

    /// Every name stands for one cache.
    public init() { foreign = [:] }

    /// These names stand for several, and those are held by others.
    public init(
        _ composites: [String: CompositeCache], foreign: [String: ForeignCache] = [:]
    ) {
        self.foreign = foreign
        self.composites = composites.filter { !$0.value.caches.isEmpty }
        let names = Set(self.composites.keys)
            .union(self.composites.values.flatMap(\.caches)).sorted()
        for name in names {
            let own = Set(caches(named: name))
            kin[name] = names.filter { !own.isDisjoint(with: caches(named: $0)) }
        }
        for (name, composite) in self.composites {
            let names = queried(composite)
            for found in names where foreign[found]?.promotion ?? .none != .none {
                if let target = cacheAsked(before: found, among: names) {
                    promoted.formUnion([name, target])
                }
            }
        }
    }

    /// Whether every name stands for one cache.
    public var isEmpty: Bool { composites.isEmpty }

    /// Whether others hold some of the caches.
    public var hasForeign: Bool { !foreign.isEmpty }
    /// The names of these, in order.
    var foreignNames: [String] { foreign.keys.sorted() }
    /// Whether others hold the cache of that name, as stored texts call it.
    package func isHeldByOthers(_ name: String) -> Bool { foreign[name] != nil }

    /// The composite cache of a stored text; `nil` where that is of one cache.
    public func composite(ofStored text: String) -> CompositeCache? {
        isEmpty ? nil : composites[CacheKey.cache(inStored: text)]
    }

    /// The caches for which a name stands, the highest first.
    private func caches(named name: String) -> [String] {
        composites[name]?.caches.reversed() ?? [name]
    }

    /// The texts under which the caches keep what a text names, the highest first.
    public func texts(ofStored text: String) -> [String] {
        guard let composite = composite(ofStored: text) else { return [text] }
        return composite.caches.reversed().map { CacheKey.moved(text, to: $0) }
    }

    /// All texts under which the same key is asked of one of the same caches; the text is one of
    /// them.
    public func related(toStored text: String) -> [String] {
        guard !isEmpty, let names = kin[CacheKey.cache(inStored: text)] else { return [text] }
        return names.map { CacheKey.moved(text, to: $0) }
    }

    /// Throws where the key of a composite cache would be too long in one of its caches.
    public func check(_ text: String, bytesMax: Int) throws(ImageError) {
        guard let composite = composite(ofStored: text) else { return }
        let longest = composite.caches.map { CacheKey.moved(text, to: $0).utf8.count }.max() ?? 0
        guard longest <= bytesMax else {
            throw ImageError(
                .invalidRequest,
                "the cache key is too long for the caches of this name: use fewer steps")
        }
    }

    // MARK: - Jobs

    /// The work as the cache process does it: about the caches for which a name stands.
    public func expanded(_ work: JobWork) -> JobWork {
        guard !isEmpty else { return work }
        switch work {
        case .query(let query): return .query(expanded(query))
        case .store(let store): return .store(expanded(store))
        case .entry(let entry): return .entry(expanded(entry))
        case .fetch, .decode, .transform, .paint: return work
        }
    }

    private func expanded(_ work: QueryWork) -> QueryWork {
        guard let composite = composite(ofStored: work.key) else { return work }
        var (work, names) = (work, composite.caches(for: .query))
        work.key = CacheKey.moved(work.key, to: names.removeFirst())
        work.caches = names
        work.memoryFirst = composite.policy(.query) == .concurrent
        return work
    }

    private func expanded(_ work: StoreWork) -> StoreWork {
        guard let key = work.key, let composite = composite(ofStored: key) else { return work }
        var (work, names) = (work, composite.caches(for: .store))
        work.key = CacheKey.moved(key, to: names.removeFirst())
        work.caches = names
        return work
    }

    /// The same of what an operator wants.
    public func expanded(_ work: EntryWork) -> EntryWork {
        switch work.action {
        case .contains: expanded(work, .contains)
        case .remove: expanded(work, .remove)
        case .removeSelected:
            selecting(work, work.selection.namesCacheOnly ? .clear : .remove)
        case .list, .count: selecting(work, nil)
        case .renew: everywhere(work)
        case .clear, .trim: work
        }
    }

    private func expanded(_ work: EntryWork, _ operation: CompositeOperation) -> EntryWork {
        guard let composite = composite(ofStored: work.key) else { return work }
        var (work, names) = (work, composite.caches(for: operation))
        work.key = CacheKey.moved(work.key, to: names.removeFirst())
        work.caches = names
        work.memoryFirst = composite.policy(operation) == .concurrent
        return work
    }

    /// What is said of an entry counts wherever it is kept.
    private func everywhere(_ work: EntryWork) -> EntryWork {
        guard let composite = composite(ofStored: work.key) else { return work }
        var (work, names) = (work, Array(composite.caches.reversed()))
        work.key = CacheKey.moved(work.key, to: names.removeFirst())
        work.caches = names
        return work
    }

    /// A list is of all caches.
    private func selecting(_ work: EntryWork, _ operation: CompositeOperation?) -> EntryWork {
        guard let name = work.selection.cache, let composite = composites[name] else { return work }
        var work = work
        var names = operation.map { composite.caches(for: $0) } ?? composite.caches
        work.selection.cache = names.removeFirst()
        work.selection.furtherCaches = names
        return work
    }

    /// What removes, from all caches of a composite, what a store under the same text does not
    /// replace; where a store replaces it, the tiers of that are left out. A store in a cache of
    /// others may not be made, and removes nothing then.
    public func removals(
        ofOutdated text: String, exceptIn tiers: CacheTypes
    ) -> [EntryWork] {
        guard let composite = composite(ofStored: text) else { return [] }
        let stores = composite.caches(for: .store).filter { foreign[$0] == nil }
        let others = composite.caches.filter { !stores.contains($0) }
        // A store for the disk removes the entry in memory by itself.
        let rest = tiers.contains(.disk) ? CacheTypes.none : CacheTypes.all.subtracting(tiers)
        return [(others, CacheTypes.all), (stores, rest)].compactMap { names, tiers in
            guard let first = names.first, !tiers.isEmpty else { return nil }
            var work = EntryWork(
                action: .remove, key: CacheKey.moved(text, to: first), tiers: tiers)
            work.caches = Array(names.dropFirst())
            return work
        }
    }
}

// Where hits of external caches are kept (SEMANTICS §5.26).
extension CacheLayout {
    /// Whether hits of external caches are kept in our own.
    public var promotes: Bool { !promoted.isEmpty }

    /// Whether what our own cache has under a text may come from an external one.
    public func mayHavePromoted(_ text: String) -> Bool {
        promotes && promoted.contains(CacheKey.cache(inStored: text))
    }

    /// The caches of a composite in the order in which a query asks them.
    package func queried(_ composite: CompositeCache) -> [String] {
        let names = composite.caches(for: .query)
        return composite.policy(.query) == .concurrent ? ownFirst(names) : names
    }

    /// Our own caches in front of external ones.
    func ownFirst(_ names: [String]) -> [String] {
        names.filter { foreign[$0] == nil } + names.filter { foreign[$0] != nil }
    }

    /// The text under which our own cache keeps what a query found in an external one: that of the
    /// first of our own caches, if it is asked before that one. The query is one that was
    /// `expanded`.
    package func promotionTarget(of query: QueryWork, foundIn name: String) -> String? {
        var names = [CacheKey.cache(inStored: query.key)] + query.caches
        if query.memoryFirst { names = ownFirst(names) }
        return cacheAsked(before: name, among: names).map { CacheKey.moved(query.key, to: $0) }
    }

    /// The first of our own caches, if it is asked before another one.
    private func cacheAsked(before name: String, among names: [String]) -> String? {
        names.prefix { $0 != name }.first { foreign[$0] == nil }
    }
}

extension CacheLayout {
    /// Whether an external cache may know of the freshness of what is kept under a text.
    package func isShared(_ text: String) -> Bool {
        guard hasForeign else { return false }
        guard let composite = composite(ofStored: text) else { return isForeign(text) }
        return composite.caches(for: .contains).contains { foreign[$0] != nil }
    }

    /// Whether our own cache keeps what is stored under a text, or a part of it.
    package func hasOwn(_ text: String) -> Bool {
        guard hasForeign else { return true }
        guard let composite = composite(ofStored: text) else { return !isForeign(text) }
        return composite.caches.contains { foreign[$0] == nil }
    }

    /// Whether a stored text is of one cache that others hold.
    public func isForeign(_ text: String) -> Bool {
        hasForeign && foreign[CacheKey.cache(inStored: text)] != nil
    }
}

extension EntrySelection {
    /// Whether it means all entries of a cache.
    fileprivate var namesCacheOnly: Bool {
        cache != nil && url == nil && prefix == nil && olderThanSeconds == nil && tag == nil
    }
}

extension EntryWork {
    /// The texts of the entry that is meant: one in each cache.
    public var keys: [String] { [key] + caches.map { CacheKey.moved(key, to: $0) } }
}
