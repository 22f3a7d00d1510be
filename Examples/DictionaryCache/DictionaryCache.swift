import ImagebusWorker
import Synchronization

/// A plug-in cache that keeps the most recently used images in memory, up to a number of bytes.
final class DictionaryCache: Cache {
    private let entries: Mutex<RecentEntries>

    init(bytesMax: Int) { entries = Mutex(RecentEntries(bytesMax: bytesMax)) }

    func get(_ key: String) -> [UInt8]? { entries.withLock { $0.use(key) } }

    func put(_ key: String, _ data: [UInt8], expires: Double?) -> Bool {
        entries.withLock { $0.keep(data, under: key) }
    }

    func remove(_ key: String) { entries.withLock { _ = $0.remove(key) } }

    func contains(_ key: String) -> Bool { entries.withLock { $0.contains(key) } }

    func keys() -> [String]? { entries.withLock { $0.keys } }
}
