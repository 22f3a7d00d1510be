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
                if let target = cacheAsked(before: found, among: names) { promoted.insert(target) }
            }
        }
        let targets = promoted
        for (name, composite) in self.composites
        where !targets.isDisjoint(with: queried(composite)) {
            promoted.insert(name)
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

/// A part of a job of the cache, done by whoever holds the caches that it is about.
public enum CachePart: Hashable, Sendable {
    /// Our own cache.
    case own(JobWork)
    /// Workers of somebody else's; the name is that of the cache in stored texts.
    case foreign(ForeignCache, name: String, JobWork)

    /// What is to be done.
    public var work: JobWork {
        switch self {
        case .own(let work), .foreign(_, _, let work): work
        }
    }
}

// Jobs about caches that other programs hold. Each of their caches counts as a disk: who does not
// mean the disk does not mean them.
extension CacheLayout {
    /// Who does a job, in order, where not our own cache alone does; the job is one that was
    /// `expanded`. `nil`: it does.
    public func parts(of work: JobWork) -> [CachePart]? {
        guard hasForeign else { return nil }
        switch work {
        case .query(let query): return parts(of: query)
        case .store(let store): return parts(of: store)
        case .entry(let entry): return parts(of: entry)
        case .fetch, .decode, .transform, .paint: return nil
        }
    }

    /// Runs of caches that one holds, in their order; those of our own in front where all are
    /// asked at once.
    private func runs(_ names: [String], ownFirst isOwnFirst: Bool = false) -> [Run]? {
        guard names.contains(where: { foreign[$0] != nil }) else { return nil }
        let names = isOwnFirst ? ownFirst(names) : names
        return names.reduce(into: []) { runs, name in
            if let cache = foreign[name] { return runs.append(.foreign(cache, name)) }
            guard case .own(let own)? = runs.last else { return runs.append(.own([name])) }
            runs[runs.count - 1] = .own(own + [name])
        }
    }

    private enum Run {
        case own([String])
        case foreign(ForeignCache, String)
    }

    /// A key in the first of these caches, and the others, which have it under the same key.
    private static func place(_ key: String, in own: [String]) -> (String, [String]) {
        (CacheKey.moved(key, to: own[0]), Array(own.dropFirst()))
    }

    private func parts(of query: QueryWork) -> [CachePart]? {
        let names = [CacheKey.cache(inStored: query.key)] + query.caches
        guard let runs = runs(names, ownFirst: query.memoryFirst) else { return nil }
        return runs.compactMap { run in
            var work = query
            switch run {
            case .own(let own):
                (work.key, work.caches) = Self.place(query.key, in: own)
                return .own(.query(work))
            case .foreign(let cache, let name):
                guard query.tiers.contains(.disk) else { return nil }
                work = QueryWork(
                    key: CacheKey.moved(query.key, to: name), tiers: .disk, destination: .staging,
                    promotes: false)
                return .foreign(cache, name: name, .query(work))
            }
        }
    }

    /// The part of our own, which delivers, comes first.
    private func parts(of store: StoreWork) -> [CachePart]? {
        guard let key = store.key else { return nil }
        let names = [CacheKey.cache(inStored: key)] + store.caches
        guard let runs = runs(names, ownFirst: true) else { return nil }
        var own: StoreWork?
        if store.delivers {
            own = StoreWork(
                key: nil, source: store.source, tiers: .none, delivers: true, waitsForDisk: false,
                metadata: store.metadata)
        }
        var parts: [CachePart] = []
        for run in runs {
            switch run {
            case .own(let names):
                var work = store
                (work.key, work.caches) = Self.place(key, in: names)
                own = work
            case .foreign(let cache, let name):
                guard store.tiers.contains(.disk) else { continue }
                var work = StoreWork(
                    key: CacheKey.moved(key, to: name), source: store.source, tiers: .disk,
                    delivers: false, waitsForDisk: true, metadata: store.metadata)
                // Nobody believes what another program says of it.
                work.metadata.digest = nil
                parts.append(.foreign(cache, name: name, .store(work)))
            }
        }
        return (own.map { [.own(.store($0))] } ?? []) + parts
    }

    private func parts(of entry: EntryWork) -> [CachePart]? {
        switch entry.action {
        case .contains, .remove, .renew: keyed(entry)
        case .clear: clearing(entry)
        case .removeSelected: selecting(entry, withForeign: entry.tiers.contains(.disk))
        case .list, .count: selecting(entry, withForeign: false)
        case .trim: nil
        }
    }

    private func keyed(_ entry: EntryWork) -> [CachePart]? {
        let names = [CacheKey.cache(inStored: entry.key)] + entry.caches
        let isOrdered = entry.action == .contains && !entry.memoryFirst
        guard let runs = runs(names, ownFirst: !isOrdered) else { return nil }
        let isForAll = entry.tiers.contains(.disk) && !entry.staysOwn
        return runs.compactMap { run in
            var work = entry
            switch run {
            case .own(let own):
                guard !entry.wantsValidity else { return nil }
                (work.key, work.caches) = Self.place(entry.key, in: own)
                return .own(.entry(work))
            case .foreign(let cache, let name):
                guard isForAll else { return nil }
                work = EntryWork(
                    action: entry.action, key: CacheKey.moved(entry.key, to: name), tiers: .disk)
                (work.renewal, work.wantsValidity) = (entry.renewal, entry.wantsValidity)
                return .foreign(cache, name: name, .entry(work))
            }
        }
    }

    private func clearing(_ entry: EntryWork) -> [CachePart]? {
        guard entry.tiers.contains(.disk) else { return nil }
        // All entries of each cache: its pool may hold others.
        let emptying = EntryWork(action: .removeSelected, key: "", tiers: .disk)
        return [.own(.entry(entry))] + selecting(emptying, of: foreignNames)
    }

    /// A part for each of these caches, of those that others hold.
    private func selecting(_ entry: EntryWork, of names: [String]) -> [CachePart] {
        names.compactMap { name in
            guard let cache = foreign[name] else { return nil }
            var work = entry
            (work.tiers, work.selection.cache) = (.disk, name)
            work.selection.furtherCaches = []
            (work.inSteps, work.after) = (true, 0)
            return .foreign(cache, name: name, .entry(work))
        }
    }

    private func selecting(_ entry: EntryWork, withForeign: Bool) -> [CachePart]? {
        let named = entry.selection.cache.map { [$0] + entry.selection.furtherCaches }
        let others = named.map { $0.filter { foreign[$0] != nil } } ?? foreignNames
        guard !others.isEmpty else { return nil }
        var parts: [CachePart] = []
        let own = named.map { $0.filter { foreign[$0] == nil } }
        if own?.isEmpty != true {
            var work = entry
            work.selection.cache = own?.first
            work.selection.furtherCaches = own.map { Array($0.dropFirst()) } ?? []
            parts.append(.own(.entry(work)))
        }
        return withForeign ? parts + selecting(entry, of: others) : parts
    }
}

/// What is done with a composite cache; each has a policy of its own (SEMANTICS §5.16).
public enum CompositeOperation: String, Hashable, Sendable, CaseIterable {
    /// An entry is looked for and read.
    case query
    /// An entry is kept.
    case store
    /// An entry goes, or some of them do.
    case remove
    /// An entry is looked for.
    case contains
    /// All entries go.
    case clear

    /// What holds where nobody says anything: upstream's.
    public var usual: CompositePolicy {
        switch self {
        case .query, .contains: .serial
        case .store: .highestOnly
        case .remove, .clear: .concurrent
        }
    }
}

/// Which of its caches a composite cache means, and in which order.
public enum CompositePolicy: String, Hashable, Sendable, CaseIterable {
    /// One after the other, the highest first.
    case serial
    /// All at once: what memory has comes before what a disk has.
    case concurrent
    /// That one alone.
    case highestOnly = "highest-only"
    /// That one alone.
    case lowestOnly = "lowest-only"
}

/// A name that stands for several caches.
public struct CompositeCache: Hashable, Sendable {
    /// The names of the caches; the last one is the highest. From 1 to `countMax`.
    public var caches: [String]
    /// What is said of its operations.
    public var policies: [CompositeOperation: CompositePolicy]

    /// Stands for these caches.
    public init(
        of caches: [String] = [], policies: [CompositeOperation: CompositePolicy] = [:]
    ) {
        (self.caches, self.policies) = (caches, policies)
    }

    /// Caches of one composite at most.
    public static let countMax = 8

    /// The policy of an operation.
    public func policy(_ operation: CompositeOperation) -> CompositePolicy {
        policies[operation] ?? operation.usual
    }

    /// The caches that an operation means, the highest first.
    public func caches(for operation: CompositeOperation) -> [String] {
        switch policy(operation) {
        case .serial, .concurrent: caches.reversed()
        case .highestOnly: Array(caches.suffix(1))
        case .lowestOnly: Array(caches.prefix(1))
        }
    }
}

/// A named cache that the workers of a foreign pool hold (SEMANTICS §5.26).
public struct ForeignCache: Hashable, Sendable {
    /// The pool whose workers are asked.
    public var pool: String
    /// Milliseconds that a load waits for the answer to a query.
    public var patience: Int
    /// Where our own cache keeps what a query found in it.
    public var promotion: CachePromotion

    /// Held by that pool.
    public init(
        pool: String, patience: Int = ForeignCache.patienceUsual,
        promotion: CachePromotion = .memory
    ) {
        (self.pool, self.patience, self.promotion) = (pool, patience, promotion)
    }

    /// Milliseconds where nobody says how long.
    public static let patienceUsual = 250
    /// What may be said.
    public static let patienceRange = 1...10_000
    /// How many times as long a store, or a removal, may take: no load waits for them, unless it
    /// says so.
    private static let writesFactor = 10

    /// Milliseconds until the answer to a job is not waited for any more.
    public func patience(for work: JobWork) -> Int {
        switch work {
        case .query: return patience
        case .entry(let work) where work.action == .contains: return patience
        default: return patience * Self.writesFactor
        }
    }
}

/// Whether a hit of an external cache enters our own (SEMANTICS §5.26).
public enum CachePromotion: String, Hashable, Sendable, CaseIterable {
    /// It stays where it is; the next load asks there again.
    case none
    /// It enters the memory tier, as far as the load stores in memory.
    case memory
    /// It is written to the disk as well, as far as the load stores on the disk.
    case disk

    /// The tiers that a hit may enter.
    public var tiers: CacheTypes {
        switch self {
        case .none: .none
        case .memory: .memory
        case .disk: .all
        }
    }
}

/// A cache directory of another stack in which a cache looks for what it does not have itself, and
/// in which it changes nothing (SEMANTICS §5.18).
public struct ReadOnlyDirectory: Hashable, Sendable {
    /// The cache that looks there; empty: the default one.
    public var cache: String
    /// Where it is, for the process of the cache.
    public var path: String
    /// Why nothing is found there, and what helps; empty where it can be used.
    public var reason = ""
    /// Queries that were answered from it, since the process started.
    public var hits: UInt64 = 0
    /// Entries that were not what their index says, since the process started.
    public var damaged: UInt64 = 0

    /// Names a directory that can be used, as far as is known.
    package init(cache: String, path: String) { (self.cache, self.path) = (cache, path) }

    /// Directories of one cache at most.
    public static let countMax = 8
    /// Directories of all caches together at most.
    public static let totalMax = 64
}
