import Model
import YAML

/// One cache as written in the file, except for a composite cache.
struct OneCache: Sendable {
    var settings = CacheSettings()
    var readOnly: [String]?
    var pool: String?
    var timeout: Int?
    var promotion: CachePromotion?
}

extension KeyTable where Target == OneCache {
    /// The settings of the default cache, which also apply to the other caches, or the settings and
    /// directories of one cache.
    static let oneCache = KeyTable(
        CacheSetting.allCases.map(row) + [
            Row("read-only", .directories, \.readOnly),
            Row("pool", .reference(.cachePool), \.pool),
            Row(
                "timeout", .count(ExternalCache.timeoutRange, of: "a number of milliseconds"),
                \.timeout
            ).formerly(["patience"]),
            Row("promote", .promotion, \.promotion),
        ])

    private static func row(_ setting: CacheSetting) -> Row {
        // YAML accepts more spellings of booleans than the options do.
        let value =
            setting.isYesOrNo
            ? ValueReader<Bool>.bool.map { $0 ? Int64(1) : 0 }
            : ValueReader<Int64>.scalar(setting.expected) { setting.value(of: $0) }
        return Row(setting.rawValue, value) { cache, value in cache.settings[setting] = value }
    }
}

extension ValueReader where Value == [String] {
    /// A list of distinct directories.
    fileprivate static let directories = ValueReader { node, name, reading in
        let paths = list(of: .directory).read(node, name, &reading) ?? []
        if paths.count > ReadOnlyDirectory.countMax {
            reading.report(
                node.line, "\(name): at most \(ReadOnlyDirectory.countMax) directories are accepted"
            )
        }
        for (index, path) in paths.enumerated() where paths[..<index].contains(path) {
            reading.report(node.line, "\(name): '\(path.prefix(64))' is listed twice")
        }
        return paths
    }
}

extension ValueReader where Value == CachePromotion {
    fileprivate static let promotion = word(CachePromotion.allCases.map { ($0.rawValue, $0) })
}

extension KeyTable where Target == CompositeCache {
    static let compositeCache = KeyTable(
        [
            Row("of", .cacheList, \.caches)
        ]
            + CompositeOperation.allCases.map { operation in
                Row(operation.rawValue, .policy) { $0.policies[operation] = $1 }
            })
}

extension ValueReader where Value == CompositePolicy {
    fileprivate static let policy = word(CompositePolicy.allCases.map { ($0.rawValue, $0) })
}

extension ValueReader where Value == [String] {
    /// A list of distinct names of caches that are defined elsewhere in the file.
    fileprivate static let cacheList = ValueReader { node, name, reading in
        let names = list(of: .reference(.cache)).read(node, name, &reading) ?? []
        guard case .list(let items) = node.content,
            (1...CompositeCache.countMax).contains(items.count)
        else {
            return reading.refuse(
                node.line,
                "\(name): expected a list of 1 to \(CompositeCache.countMax) caches, from lowest "
                    + "to highest priority")
        }
        for (index, cache) in names.enumerated() where names[..<index].contains(cache) {
            reading.report(node.line, "\(name): '\(cache)' is listed twice")
        }
        return names
    }
}

extension Configuration {
    /// Reads the names of caches, optionally with settings for each.
    mutating func readCaches(_ node: YAMLNode, _ reading: inout Reading) {
        guard case .map(let entries) = node.content else {
            let names = ValueReader<[String]>.list(of: .cacheName).read(node, "caches", &reading)
            caches = Set(names ?? [])
            return
        }
        for entry in entries { readCache(entry, &reading) }
        for entry in entries {
            for cache in composites[entry.key]?.caches ?? [] where composites[cache] != nil {
                reading.report(
                    entry.line,
                    "caches.\(entry.key): '\(cache)' is a composite cache: list its members "
                        + "instead")
            }
        }
        let configured = Set(cacheSettings.keys).union(readOnly.keys)
        if configured.count > NamedCacheSettings.countMax {
            reading.report(
                node.line,
                "caches: at most \(NamedCacheSettings.countMax) caches can have settings")
        }
        if readOnly.values.reduce(0, { $0 + $1.count }) > ReadOnlyDirectory.totalMax {
            reading.report(
                node.line,
                "caches: at most \(ReadOnlyDirectory.totalMax) directories can be read-only")
        }
    }

    private mutating func readCache(_ entry: YAMLEntry, _ reading: inout Reading) {
        let (name, node) = (entry.key, entry.value)
        guard reading.accepts(name, in: "caches", line: entry.line) else { return }
        if name != Self.defaultName { caches.insert(name) }
        guard !node.isEmpty else { return }
        // Only composite caches have this key.
        guard !node.has("of") else { return readComposite(entry, &reading) }
        var cache = OneCache()
        KeyTable.oneCache.read(node, "caches.\(name)", into: &cache, &reading)
        if cache.pool != nil || cache.timeout != nil || cache.promotion != nil {
            return addExternal(cache, entry, &reading)
        }
        if !cache.settings.isEmpty || cache.readOnly == nil { cacheSettings[name] = cache.settings }
        readOnly[name] = cache.readOnly
    }

    /// Adds an external cache. It decides itself how much it stores and for how long.
    private mutating func addExternal(
        _ cache: OneCache, _ entry: YAMLEntry, _ reading: inout Reading
    ) {
        let fault: String? =
            if entry.key == Self.defaultName {
                "'default' is always the built-in cache: choose another name for an external cache"
            } else if cache.pool == nil {
                "'\(cache.timeout == nil ? "promote" : "timeout")' requires 'pool', because it "
                    + "applies to external caches only"
            } else if !cache.settings.isEmpty || cache.readOnly != nil {
                "a cache with 'pool' accepts only 'timeout' and 'promote': the workers of the "
                    + "pool set its limits and directories"
            } else { nil }
        if let fault { return reading.report(entry.line, "caches.\(entry.key): \(fault)") }
        guard let pool = cache.pool else { return }
        externalCaches[entry.key] = ExternalCache(
            pool: pool, timeout: cache.timeout ?? ExternalCache.defaultTimeout,
            promotion: cache.promotion ?? .memory)
    }

    private mutating func readComposite(_ entry: YAMLEntry, _ reading: inout Reading) {
        guard entry.key != Self.defaultName else {
            return reading.report(
                entry.line,
                "caches: 'default' is a single cache: choose another name for a composite cache")
        }
        var composite = CompositeCache()
        KeyTable.compositeCache.read(
            entry.value, "caches.\(entry.key)", into: &composite, &reading)
        composites[entry.key] = composite
    }
}
