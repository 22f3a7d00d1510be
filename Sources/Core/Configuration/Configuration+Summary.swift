extension Configuration {
    /// How many there are of each, in words; no names and no values.
    public var summary: String {
        let counts = [
            (sources?.count ?? 0, "source"), (caches.count, "cache"), (presets.count, "preset"),
            (keyFilters.count, "key filter"), (serializers.count, "serializer"),
            (profiles.count, "profile"), (ruleCount, "rule"), (pools.count, "pool"),
        ]
        // Most stacks have no further pool.
        return counts.filter { $0.1 != "pool" || $0.0 > 0 }.map {
            "\($0) \($1)\($0 == 1 ? "" : "s")"
        }.joined(separator: ", ")
    }
}
