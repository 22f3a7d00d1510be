/// Values by key, within a cost and a count; the one that was used longest ago makes room.
struct CostedEntries<Key: Hashable, Value> {
    private struct Node {
        let key: Key
        var value: Value
        var cost: Int
        /// Towards those used later and earlier.
        var later: Int?
        var earlier: Int?
    }

    private var places: [Key: Int] = [:]
    private var nodes: [Node?] = []
    private var free: [Int] = []
    private var newest: Int?
    private var oldest: Int?
    private(set) var cost = 0
    let costMax: Int
    let countMax: Int

    var count: Int { places.count }

    init(costMax: Int, countMax: Int) { (self.costMax, self.countMax) = (costMax, countMax) }

    /// The value of a key, which is the newest then.
    mutating func use(_ key: Key) -> Value? {
        guard let place = places[key], let value = nodes[place]?.value else { return nil }
        if newest != place {
            unlink(place)
            link(place)
        }
        return value
    }

    /// Puts a value in the place of the one of the key. Returns how many others made room; `nil`
    /// where the value costs more than there may be, and is not kept.
    mutating func put(_ value: Value, under key: Key, cost: Int) -> Int? {
        remove(key)
        guard cost >= 0, cost <= costMax, countMax > 0 else { return nil }
        var gone = 0
        while let oldest, self.cost > costMax - cost || count >= countMax {
            take(oldest)
            gone += 1
        }
        let place = free.popLast() ?? nodes.count
        if place == nodes.count { nodes.append(nil) }
        nodes[place] = Node(key: key, value: value, cost: cost)
        places[key] = place
        self.cost += cost
        link(place)
        return gone
    }

    /// The value that is gone; `nil` where there was none.
    @discardableResult
    mutating func remove(_ key: Key) -> Value? { places[key].flatMap { take($0) } }

    /// Removes what a caller does not want any more; says how many.
    @discardableResult
    mutating func remove(where isUnwanted: (Key, Value) -> Bool) -> Int {
        var gone = 0
        for (key, place) in places {
            guard let node = nodes[place], isUnwanted(key, node.value) else { continue }
            take(place)
            gone += 1
        }
        return gone
    }

    mutating func removeAll() { self = Self(costMax: costMax, countMax: countMax) }

    @discardableResult
    private mutating func take(_ place: Int) -> Value? {
        unlink(place)
        guard let node = nodes[place] else { return nil }
        nodes[place] = nil
        places[node.key] = nil
        cost -= node.cost
        free.append(place)
        return node.value
    }

    private mutating func link(_ place: Int) {
        nodes[place]?.earlier = newest
        nodes[place]?.later = nil
        if let newest { nodes[newest]?.later = place } else { oldest = place }
        newest = place
    }

    private mutating func unlink(_ place: Int) {
        guard let node = nodes[place] else { return }
        if let later = node.later {
            nodes[later]?.earlier = node.earlier
        } else {
            newest = node.earlier
        }
        if let earlier = node.earlier {
            nodes[earlier]?.later = node.later
        } else {
            oldest = node.later
        }
    }
}
