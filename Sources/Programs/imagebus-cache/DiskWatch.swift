import Caching
import Messages
import Observability

/// Says in the log when the disk fails, when it works again, and what was lost: once for each
/// change, however often that is looked for.
struct DiskWatch {
    private var reason: String?
    private var damaged = 0
    private var rebuilt = 0
    private var upgradedFrom: Int64?

    /// Looks at the disk as it is now.
    mutating func look(at disk: DiskStatus, _ log: Log) {
        let reason = disk.health.reason?.description
        // Bytes and names in the reason change from try to try.
        if self.reason == nil, let reason {
            log.warning(
                "the disk cache fails and is tried again: memory serves on",
                ["reason": .string(reason)])
        } else if self.reason != nil, reason == nil {
            log.info("the disk cache works again", [:])
        }
        self.reason = reason
        if disk.rebuilt > rebuilt {
            log.warning(
                "the index of the disk cache was set aside and is made anew",
                ["reason": .string(disk.setAsideReason?.description ?? "")])
        }
        if let version = disk.upgradedFrom, version != upgradedFrom {
            log.info(
                "the index of the disk cache was upgraded",
                ["from": LogValue(UInt64(clamping: version))])
        }
        if disk.damaged > damaged {
            log.warning(
                "damaged entries of the disk cache were removed",
                ["count": LogValue(UInt64(disk.damaged - damaged))])
        }
        (damaged, rebuilt, upgradedFrom) = (disk.damaged, disk.rebuilt, disk.upgradedFrom)
    }
}
