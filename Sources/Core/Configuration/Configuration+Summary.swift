extension Configuration {
    /// Hosts whose certificates rules leave unverified, sorted.
    public var unverifiedHosts: [String] {
        let rules = profiles.values.flatMap(\.rules).filter { $0.transfer.verifiesTLS == false }
        return Set(rules.compactMap(\.pattern.secureHost)).sorted()
    }

    /// How many there are of each, in words; no names and no values.
    public var summary: String {
        let counts = [
            (sources?.count ?? 0, "source"), (caches.count, "cache"), (presets.count, "preset"),
            (keyFilters.count, "key filter"), (serializers.count, "serializer"),
            (profiles.count, "profile"), (ruleCount, "rule"), (loaders.count, "loader"),
            (pools.count, "pool"),
        ]
        // Most stacks have no further pool and no further loader.
        return counts.filter { !["pool", "loader"].contains($0.1) || $0.0 > 0 }.map {
            "\($0) \($1)\($0 == 1 ? "" : "s")"
        }.joined(separator: ", ")
    }
}
