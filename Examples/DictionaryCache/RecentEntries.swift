/// An LRU list of bytes by key; the least recently used entry is evicted first.
struct RecentEntries {
    private struct Entry {
        let key: String
        let data: [UInt8]
        /// Indices of the neighbors in the list.
        var older: Int?
        var newer: Int?
    }

    private var entries: [Entry?] = []
    private var free: [Int] = []
    private var places: [String: Int] = [:]
    private var oldest: Int?
    private var newest: Int?
    private let bytesMax: Int
    private(set) var bytes = 0

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    var keys: [String] { Array(places.keys) }

    func contains(_ key: String) -> Bool { places[key] != nil }

    mutating func use(_ key: String) -> [UInt8]? {
        guard let data = remove(key) else { return nil }
        add(key, data)
        return data
    }

    /// Stores `data` in place of any previous value. Returns `false`, and keeps neither, if `data`
    /// exceeds the limit.
    mutating func keep(_ data: [UInt8], under key: String) -> Bool {
        remove(key)
        guard data.count <= bytesMax else { return false }
        add(key, data)
        while bytes > bytesMax, let oldest, let entry = entries[oldest] { remove(entry.key) }
        return true
    }

    @discardableResult
    mutating func remove(_ key: String) -> [UInt8]? {
        guard let place = places.removeValue(forKey: key), let entry = entries[place] else {
            return nil
        }
        if let older = entry.older {
            entries[older]?.newer = entry.newer
        } else {
            oldest = entry.newer
        }
        if let newer = entry.newer {
            entries[newer]?.older = entry.older
        } else {
            newest = entry.older
        }
        entries[place] = nil
        free.append(place)
        bytes -= entry.data.count
        return entry.data
    }

    private mutating func add(_ key: String, _ data: [UInt8]) {
        let entry = Entry(key: key, data: data, older: newest)
        let place = free.popLast() ?? entries.count
        if place == entries.count { entries.append(entry) } else { entries[place] = entry }
        if let newest { entries[newest]?.newer = place } else { oldest = place }
        newest = place
        places[key] = place
        bytes += data.count
    }
}
