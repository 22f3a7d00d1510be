extension Configuration {
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
