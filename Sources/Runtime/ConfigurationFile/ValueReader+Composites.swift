import Configuration
import Messages
import YAML

extension KeyTable where Target == CompositeCache {
    /// A name that stands for several caches.
    static let compositeCache = KeyTable(
        [
            Row("of", .cacheList, \.caches)
        ]
            + CompositeOperation.allCases.map { operation in
                Row(operation.rawValue, .policy) { $0.policies[operation] = $1 }
            })

    /// Whether the keys of a cache are those of a composite.
    static func isMeant(by node: YAMLNode) -> Bool {
        guard case .map(let entries) = node.content else { return false }
        return entries.contains { $0.key == "of" }
    }
}

extension ValueReader where Value == CompositePolicy {
    fileprivate static let policy = word(CompositePolicy.allCases.map { ($0.rawValue, $0) })
}

extension ValueReader where Value == [String] {
    /// Caches that are given in another place, each once.
    fileprivate static let cacheList = ValueReader { node, name, reading in
        let names = list(of: .reference(.cache)).read(node, name, &reading) ?? []
        guard case .list(let items) = node.content,
            (1...CompositeCache.countMax).contains(items.count)
        else {
            reading.object(
                node.line,
                "\(name): expected a list of 1 to \(CompositeCache.countMax) caches, the highest "
                    + "one last")
            return nil
        }
        for (index, cache) in names.enumerated() where names[..<index].contains(cache) {
            reading.object(node.line, "\(name): '\(cache)' is named twice")
        }
        return names
    }
}

extension NamedCaches {
    /// Reads a name that stands for several caches.
    mutating func readComposite(
        _ name: String, _ node: YAMLNode, _ line: Int, _ reading: inout Reading
    ) {
        guard name != Configuration.defaultName else {
            return reading.object(
                line, "caches: 'default' is one cache: another name may stand for several")
        }
        var composite = CompositeCache()
        KeyTable.compositeCache.read(node, "caches.\(name)", into: &composite, &reading)
        composites[name] = composite
        compositeLines[name] = line
    }

    /// Objects to composites of composites.
    func checkNesting(_ reading: inout Reading) {
        for (name, composite) in composites.sorted(by: { $0.key < $1.key }) {
            for cache in composite.caches where composites[cache] != nil {
                reading.object(
                    compositeLines[name] ?? 1,
                    "caches.\(name): '\(cache)' stands for several caches itself: name those")
            }
        }
    }
}
