internal import ImageModel

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
