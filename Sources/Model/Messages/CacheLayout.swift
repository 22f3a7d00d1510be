/// Resolves composite caches, names that stand for several caches, and divides cache jobs,
/// including operators' commands, among the caches that they involve. Check `isEmpty` first to
/// avoid any cost without them.
///
/// Caches are named here as in stored texts: the default one is empty.
public struct CacheLayout: Hashable, Sendable {
    private var composites: [String: CompositeCache] = [:]
    /// For each name involved in a composite: all names that have a cache in common with it,
    /// including itself.
    private var kin: [String: [String]] = [:]
    /// Caches held by plug-ins, by name.
    let external: [String: ExternalCache]
    /// Caches that may contain promoted hits of external caches: those that store them, and names
    /// that stand for one of these.
    private var promoted: Set<String> = []

    /// Creates a layout without composite or external caches.
    public init() { external = [:] }

    /// Creates a layout of composite and external caches.
    public init(
        _ composites: [String: CompositeCache], external: [String: ExternalCache] = [:]
    ) {
        self.external = external
        self.composites = composites.filter { !$0.value.caches.isEmpty }
        let names = Set(self.composites.keys)
            .union(self.composites.values.flatMap(\.caches)).sorted()
        for name in names {
            let own = Set(caches(named: name))
            kin[name] = names.filter { !own.isDisjoint(with: caches(named: $0)) }
        }
        for composite in self.composites.values {
            let names = queried(composite)
            for found in names where external[found]?.promotion ?? .none != .none {
                if let target = cacheAsked(before: found, among: names) { promoted.insert(target) }
            }
        }
        let targets = promoted
        for (name, composite) in self.composites
        where !targets.isDisjoint(with: queried(composite)) {
            promoted.insert(name)
        }
    }

    /// Whether there are no composite caches.
    public var isEmpty: Bool { composites.isEmpty }

    /// Whether there are external caches.
    public var hasExternal: Bool { !external.isEmpty }
    /// The names of the external caches, in order.
    var externalNames: [String] { external.keys.sorted() }
    /// Returns whether the cache of that name, as in stored texts, is external.
    package func isHeldExternally(_ name: String) -> Bool { external[name] != nil }

    /// Returns the composite cache of a stored text; `nil` for a simple cache.
    public func composite(ofStored text: String) -> CompositeCache? {
        isEmpty ? nil : composites[CacheKey.cache(inStored: text)]
    }

    /// Returns the caches for which a name stands, the highest first.
    private func caches(named name: String) -> [String] {
        composites[name]?.caches.reversed() ?? [name]
    }

    /// Returns the texts under which the individual caches store an entry, the highest cache first.
    public func texts(ofStored text: String) -> [String] {
        guard let composite = composite(ofStored: text) else { return [text] }
        return composite.caches.reversed().map { CacheKey.moved(text, to: $0) }
    }

    /// Returns all texts under which the same key may be requested from one of the same caches,
    /// including the text itself.
    public func related(toStored text: String) -> [String] {
        guard !isEmpty, let names = kin[CacheKey.cache(inStored: text)] else { return [text] }
        return names.map { CacheKey.moved(text, to: $0) }
    }

    /// Throws if the key of a composite cache would be too long in one of its caches.
    public func check(_ text: String, bytesMax: Int) throws(ImageError) {
        guard let composite = composite(ofStored: text) else { return }
        let longest = composite.caches.map { CacheKey.moved(text, to: $0).utf8.count }.max() ?? 0
        try ImageError.require(
            longest <= bytesMax,
            "the cache key is too long for this composite cache: use fewer steps")
    }

    // MARK: - Jobs

    /// Returns the work as the cache process performs it, with composite caches resolved.
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
        var work = work
        (work.key, work.caches) = Self.place(work.key, in: composite.caches(for: .query))
        work.memoryFirst = composite.policy(.query) == .concurrent
        return work
    }

    private func expanded(_ work: StoreWork) -> StoreWork {
        guard let key = work.key, let composite = composite(ofStored: key) else { return work }
        var work = work
        (work.key, work.caches) = Self.place(key, in: composite.caches(for: .store))
        return work
    }

    /// Resolves composite caches in an operator's command.
    public func expanded(_ work: EntryWork) -> EntryWork {
        switch work.action {
        case .contains: expanded(work, .contains)
        case .remove: expanded(work, .remove)
        case .removeSelected:
            selecting(work, work.selection.namesCacheOnly ? .clear : .remove)
        case .list, .count: selecting(work, nil)
        case .renew: expanded(work, nil)
        case .clear, .trim: work
        }
    }

    /// Without an operation, the work applies to every cache that may contain the entry.
    private func expanded(_ work: EntryWork, _ operation: CompositeOperation?) -> EntryWork {
        guard let composite = composite(ofStored: work.key) else { return work }
        var work = work
        let names = operation.map { composite.caches(for: $0) } ?? composite.caches.reversed()
        (work.key, work.caches) = Self.place(work.key, in: names)
        if let operation { work.memoryFirst = composite.policy(operation) == .concurrent }
        return work
    }

    /// A list covers all caches.
    private func selecting(_ work: EntryWork, _ operation: CompositeOperation?) -> EntryWork {
        guard let name = work.selection.cache, let composite = composites[name] else { return work }
        var work = work
        var names = operation.map { composite.caches(for: $0) } ?? composite.caches
        work.selection.cache = names.removeFirst()
        work.selection.furtherCaches = names
        return work
    }

    /// Returns the jobs that remove, from all caches of a composite, entries that a store under the
    /// same text does not replace; the tiers that the store replaces are excluded. A store into an
    /// external cache may fail to happen, so those are always removed.
    public func removals(
        ofOutdated text: String, exceptIn tiers: CacheTypes
    ) -> [EntryWork] {
        guard let composite = composite(ofStored: text) else { return [] }
        let stores = composite.caches(for: .store).filter { external[$0] == nil }
        let others = composite.caches.filter { !stores.contains($0) }
        // A store to disk also removes the entry in memory.
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

// Promotion of hits from external caches (SEMANTICS §5.26).
extension CacheLayout {
    /// Whether hits of external caches are stored in our own cache.
    public var promotes: Bool { !promoted.isEmpty }

    /// Returns whether an entry of our own cache may have been promoted from an external one.
    public func mayHavePromoted(_ text: String) -> Bool {
        promotes && promoted.contains(CacheKey.cache(inStored: text))
    }

    /// Returns the caches of a composite in the order in which a query tries them.
    package func queried(_ composite: CompositeCache) -> [String] {
        let names = composite.caches(for: .query)
        return composite.policy(.query) == .concurrent ? ownFirst(names) : names
    }

    /// Moves our own caches before external ones.
    func ownFirst(_ names: [String]) -> [String] {
        names.filter { external[$0] == nil } + names.filter { external[$0] != nil }
    }

    /// Returns the text under which our own cache stores a hit from an external one: that of the
    /// first of our own caches, if it is queried before the external one. The query must already be
    /// `expanded`.
    package func promotionTarget(of query: QueryWork, foundIn name: String) -> String? {
        var names = [CacheKey.cache(inStored: query.key)] + query.caches
        if query.memoryFirst { names = ownFirst(names) }
        return cacheAsked(before: name, among: names).map { CacheKey.moved(query.key, to: $0) }
    }

    /// Returns the first of our own caches if it is queried before another one.
    private func cacheAsked(before name: String, among names: [String]) -> String? {
        names.prefix { $0 != name }.first { external[$0] == nil }
    }
}

extension CacheLayout {
    /// Returns whether an external cache may know the freshness of the entry.
    package func isShared(_ text: String) -> Bool {
        guard hasExternal else { return false }
        guard let composite = composite(ofStored: text) else { return isExternal(text) }
        return composite.caches(for: .contains).contains { external[$0] != nil }
    }

    /// Returns whether our own cache stores the entry, at least in part.
    package func hasOwn(_ text: String) -> Bool {
        guard hasExternal else { return true }
        guard let composite = composite(ofStored: text) else { return !isExternal(text) }
        return composite.caches.contains { external[$0] == nil }
    }

    /// Returns whether a stored text belongs to a single external cache.
    public func isExternal(_ text: String) -> Bool {
        hasExternal && external[CacheKey.cache(inStored: text)] != nil
    }
}

extension EntrySelection {
    /// Whether all entries of a cache are selected.
    fileprivate var namesCacheOnly: Bool {
        cache != nil && url == nil && prefix == nil && olderThanSeconds == nil && tag == nil
    }
}

extension EntryWork {
    /// The texts of the entry: one per cache.
    public var keys: [String] { [key] + caches.map { CacheKey.moved(key, to: $0) } }
}

/// A part of a cache job, performed by the holder of the caches involved.
public enum CachePart: Hashable, Sendable {
    /// Performed by our own cache.
    case own(JobWork)
    /// Performed by plug-ins; the name is that of the cache in stored texts.
    case external(ExternalCache, name: String, JobWork)

    /// The work of the part.
    public var work: JobWork {
        switch self {
        case .own(let work), .external(_, _, let work): work
        }
    }
}

// Jobs that involve external caches. An external cache counts as a disk: operations that exclude
// the disk exclude it.
extension CacheLayout {
    /// Returns the parts of a job, in order; `nil` if our own cache performs all of it. The job
    /// must already be `expanded`.
    public func parts(of work: JobWork) -> [CachePart]? {
        guard hasExternal else { return nil }
        switch work {
        case .query(let query): return parts(of: query)
        case .store(let store): return parts(of: store)
        case .entry(let entry): return parts(of: entry)
        case .fetch, .decode, .transform, .paint: return nil
        }
    }

    /// Groups consecutive caches with the same holder, in order; our own come first if all are
    /// queried at once.
    private func runs(_ names: [String], ownFirst isOwnFirst: Bool = false) -> [Run]? {
        guard names.contains(where: { external[$0] != nil }) else { return nil }
        let names = isOwnFirst ? ownFirst(names) : names
        return names.reduce(into: []) { runs, name in
            if let cache = external[name] { return runs.append(.external(cache, name)) }
            guard case .own(let own)? = runs.last else { return runs.append(.own([name])) }
            runs[runs.count - 1] = .own(own + [name])
        }
    }

    private enum Run {
        case own([String])
        case external(ExternalCache, String)
    }

    /// Returns the key in the first of these caches, and the others, which use the same key.
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
            case .external(let cache, let name):
                guard query.tiers.contains(.disk) else { return nil }
                work = QueryWork(
                    key: CacheKey.moved(query.key, to: name), tiers: .disk, destination: .staging,
                    promotes: false)
                return .external(cache, name: name, .query(work))
            }
        }
    }

    /// Our own part, which delivers, comes first.
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
            case .external(let cache, let name):
                guard store.tiers.contains(.disk) else { continue }
                var work = StoreWork(
                    key: CacheKey.moved(key, to: name), source: store.source, tiers: .disk,
                    delivers: false, waitsForDisk: true, metadata: store.metadata)
                // Digests reported by external programs are not trusted.
                work.metadata.digest = nil
                parts.append(.external(cache, name: name, .store(work)))
            }
        }
        return (own.map { [.own(.store($0))] } ?? []) + parts
    }

    private func parts(of entry: EntryWork) -> [CachePart]? {
        switch entry.action {
        case .contains, .remove, .renew: keyed(entry)
        case .clear: clearing(entry)
        case .removeSelected: selecting(entry, withExternal: entry.tiers.contains(.disk))
        case .list, .count: selecting(entry, withExternal: false)
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
            case .external(let cache, let name):
                guard isForAll else { return nil }
                work = EntryWork(
                    action: entry.action, key: CacheKey.moved(entry.key, to: name), tiers: .disk)
                (work.renewal, work.wantsValidity) = (entry.renewal, entry.wantsValidity)
                return .external(cache, name: name, .entry(work))
            }
        }
    }

    private func clearing(_ entry: EntryWork) -> [CachePart]? {
        guard entry.tiers.contains(.disk) else { return nil }
        // Remove all entries of each cache individually, because its pool may hold other caches.
        let emptying = EntryWork(action: .removeSelected, key: "", tiers: .disk)
        return [.own(.entry(entry))] + selecting(emptying, of: externalNames)
    }

    /// Returns a part for each of these caches that is external.
    private func selecting(_ entry: EntryWork, of names: [String]) -> [CachePart] {
        names.compactMap { name in
            guard let cache = external[name] else { return nil }
            var work = entry
            (work.tiers, work.selection.cache) = (.disk, name)
            work.selection.furtherCaches = []
            (work.inSteps, work.after) = (true, 0)
            return .external(cache, name: name, .entry(work))
        }
    }

    private func selecting(_ entry: EntryWork, withExternal: Bool) -> [CachePart]? {
        let named = entry.selection.cache.map { [$0] + entry.selection.furtherCaches }
        let others = named.map { $0.filter { external[$0] != nil } } ?? externalNames
        guard !others.isEmpty else { return nil }
        var parts: [CachePart] = []
        let own = named.map { $0.filter { external[$0] == nil } }
        if own?.isEmpty != true {
            var work = entry
            work.selection.cache = own?.first
            work.selection.furtherCaches = own.map { Array($0.dropFirst()) } ?? []
            parts.append(.own(.entry(work)))
        }
        return withExternal ? parts + selecting(entry, of: others) : parts
    }
}

/// An operation on a composite cache; each has its own policy (SEMANTICS §5.16).
public enum CompositeOperation: String, Hashable, Sendable, CaseIterable {
    /// Look up and read an entry.
    case query
    /// Store an entry.
    case store
    /// Remove one or several entries.
    case remove
    /// Look up an entry without reading it.
    case contains
    /// Remove all entries.
    case clear

    /// The default policy, which is SDWebImage's.
    public var defaultPolicy: CompositePolicy {
        switch self {
        case .query, .contains: .serial
        case .store: .highestOnly
        case .remove, .clear: .concurrent
        }
    }
}

/// The caches of a composite that an operation uses, and their order.
public enum CompositePolicy: String, Hashable, Sendable, CaseIterable {
    /// One after the other, the highest first.
    case serial
    /// All at once: memory hits take precedence over disk hits.
    case concurrent
    /// Only the highest cache.
    case highestOnly = "highest-only"
    /// Only the lowest cache.
    case lowestOnly = "lowest-only"
}

/// A named cache that stands for several caches.
public struct CompositeCache: Hashable, Sendable {
    /// The names of the caches, 1 to `countMax`; the last one is the highest.
    public var caches: [String]
    /// The configured policies by operation.
    public var policies: [CompositeOperation: CompositePolicy]

    /// Creates a composite of these caches.
    public init(
        of caches: [String] = [], policies: [CompositeOperation: CompositePolicy] = [:]
    ) {
        (self.caches, self.policies) = (caches, policies)
    }

    /// The maximum number of caches in a composite.
    public static let countMax = 8

    /// Returns the configured policy of an operation, or its default.
    public func policy(_ operation: CompositeOperation) -> CompositePolicy {
        policies[operation] ?? operation.defaultPolicy
    }

    /// Returns the caches that an operation uses, the highest first.
    public func caches(for operation: CompositeOperation) -> [String] {
        switch policy(operation) {
        case .serial, .concurrent: caches.reversed()
        case .highestOnly: Array(caches.suffix(1))
        case .lowestOnly: Array(caches.prefix(1))
        }
    }
}

/// A named cache held by the plug-ins of an external pool (SEMANTICS §5.26).
public struct ExternalCache: Hashable, Sendable {
    /// The pool of the plug-ins.
    public var pool: String
    /// The timeout of a query in milliseconds.
    public var timeout: Int
    /// Where our own cache stores hits of this cache.
    public var promotion: CachePromotion

    /// Creates a cache held by that pool.
    public init(
        pool: String, timeout: Int = ExternalCache.defaultTimeout,
        promotion: CachePromotion = .memory
    ) {
        (self.pool, self.timeout, self.promotion) = (pool, timeout, promotion)
    }

    /// The default timeout in milliseconds.
    public static let defaultTimeout = 250
    /// The valid timeouts.
    public static let timeoutRange = 1...10_000
    /// The timeout of a store or removal relative to that of a query. By default no load waits for
    /// them.
    private static let writesFactor = 10

    /// Returns the timeout of a job in milliseconds.
    public func timeout(for work: JobWork) -> Int {
        switch work {
        case .query: return timeout
        case .entry(let work) where work.action == .contains: return timeout
        default: return timeout * Self.writesFactor
        }
    }
}

/// Whether hits of an external cache are promoted into our own (SEMANTICS §5.26).
public enum CachePromotion: String, Hashable, Sendable, CaseIterable {
    /// Not promoted; the next load queries the external cache again.
    case none
    /// Promoted to the memory tier, if the load stores in memory.
    case memory
    /// Also written to disk, if the load stores on disk.
    case disk

    /// The tiers that a hit may be promoted to.
    public var tiers: CacheTypes {
        switch self {
        case .none: .none
        case .memory: .memory
        case .disk: .all
        }
    }
}

/// A cache directory of another stack that serves as a read-only fallback for misses
/// (SEMANTICS §5.18).
public struct ReadOnlyDirectory: Hashable, Sendable {
    /// The cache that uses it; empty for the default one.
    public var cache: String
    /// The path, as seen by the cache process.
    public var path: String
    /// Why the directory is unusable and how to fix it; empty if it is usable.
    public var reason = ""
    /// Hits in the directory since the process started.
    public var hits: UInt64 = 0
    /// Entries that didn't match their index since the process started.
    public var damaged: UInt64 = 0

    /// Creates a directory that is assumed usable.
    package init(cache: String, path: String) { (self.cache, self.path) = (cache, path) }

    /// The maximum number of directories per cache.
    public static let countMax = 8
    /// The maximum number of directories of all caches together.
    public static let totalMax = 64
}
