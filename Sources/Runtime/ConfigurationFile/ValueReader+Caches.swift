import Configuration
import Messages
import YAML

/// The caches of a configuration.
struct NamedCaches: Sendable {
    /// Besides the default one.
    var names: Set<String> = []
    /// What is set of them, by name.
    var settings: [String: CacheSettings] = [:]
    /// Names that stand for several caches, and the lines where they do.
    var composites: [String: CompositeCache] = [:]
    var compositeLines: [String: Int] = [:]
}

extension KeyTable where Target == CacheSettings {
    /// What is set of the default cache and holds for the others too, or of one of these.
    static let cacheSettings = KeyTable(CacheSetting.allCases.map(row))

    private static func row(_ setting: CacheSetting) -> Row {
        // YAML has more words for yes and no than options have.
        let value =
            setting.isYesOrNo
            ? ValueReader<Bool>.bool.map { $0 ? Int64(1) : 0 }
            : ValueReader<Int64>.scalar(setting.expected) { setting.value(of: $0) }
        return Row(setting.rawValue, value) { settings, value in settings[setting] = value }
    }
}

extension ValueReader where Value == NamedCaches {
    /// Names, or names with what is set of each.
    static let caches = ValueReader { node, name, reading in
        var caches = NamedCaches()
        guard case .map(let entries) = node.content else {
            let names = ValueReader<[String]>.list(of: .cacheName).read(node, name, &reading)
            caches.names = Set(names ?? [])
            return caches
        }
        for entry in entries { caches.read(entry.key, entry.value, entry.line, &reading) }
        caches.checkNesting(&reading)
        if caches.settings.count > NamedCacheSettings.countMax {
            reading.object(
                node.line, "\(name): at most \(NamedCacheSettings.countMax) have settings")
        }
        return caches
    }
}

extension NamedCaches {
    fileprivate mutating func read(
        _ name: String, _ node: YAMLNode, _ line: Int, _ reading: inout Reading
    ) {
        let isDefault = name == Configuration.defaultName
        guard Configuration.isName(name) else {
            return reading.object(line, "caches: '\(name.prefix(64))' is no name")
        }
        if !isDefault { names.insert(name) }
        guard !node.isEmpty else { return }
        if KeyTable.isMeant(by: node) { return readComposite(name, node, line, &reading) }
        var said = CacheSettings()
        KeyTable.cacheSettings.read(node, "caches.\(name)", into: &said, &reading)
        settings[name] = said
    }
}
