import ImageModel

extension Configuration {
    /// Rules of all profiles.
    public var ruleCount: Int { profiles.values.reduce(0) { $0 + $1.rules.count } }

    /// What differs from an earlier configuration, in words of the file; names, never values.
    public func differences(from old: Configuration) -> String {
        var parts: [String] = []
        if sources != old.sources { parts.append("sources") }
        if caches != old.caches || cacheSettings != old.cacheSettings
            || composites != old.composites || readOnly != old.readOnly
            || foreignCaches != old.foreignCaches
        {
            parts.append("caches")
        }
        if downloads != old.downloads { parts.append("downloads") }
        if damaged != old.damaged { parts.append("damaged") }
        parts += Self.changed("preset", presets, old.presets)
        parts += Self.changed("key-filter", keyFilters, old.keyFilters)
        parts += Self.changed("serializer", serializers, old.serializers)
        parts += Self.changed("loader", loadersByName, old.loadersByName)
        parts += Self.changed("profile", profiles, old.profiles)
        if gateways != old.gateways { parts.append("gateway") }
        if parts.isEmpty, loaders != old.loaders { parts.append("the order of loaders") }
        if secrets != old.secrets { parts.append("secret files") }
        return parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
    }

    private var loadersByName: [String: Loader] {
        Dictionary(loaders.map { ($0.name, $0) }) { _, later in later }
    }

    private static func changed<Value: Equatable>(
        _ kind: String, _ new: [String: Value], _ old: [String: Value]
    ) -> [String] {
        Set(new.keys).union(old.keys).sorted().filter { new[$0] != old[$0] }.map { "\(kind) \($0)" }
    }
}
