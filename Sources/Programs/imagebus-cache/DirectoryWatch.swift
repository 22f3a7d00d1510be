import Caching
import Observability

/// Says in the log when nothing is found any more in a directory that a cache only reads, and when
/// it is there again: once for each change.
struct DirectoryWatch {
    private var reasons: [String: String] = [:]

    /// Looks at the directories as they are now.
    mutating func look(at directories: [CacheStatistics.Directory], _ log: Log) {
        var now: [String: String] = [:]
        for directory in directories { now[directory.path] = directory.reason }
        for (path, reason) in now.sorted(by: { $0.key < $1.key }) where reasons[path] != reason {
            if !reason.isEmpty {
                log.warning(
                    "a directory that is read only cannot be used: caches do without it",
                    ["directory": .string(path), "reason": .string(reason)])
            } else {
                log.info(
                    "a directory that is read only can be used", ["directory": .string(path)])
            }
        }
        reasons = now
    }
}
