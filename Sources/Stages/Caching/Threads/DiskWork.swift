/// Something to do on the disk thread.
struct DiskRequest: Sendable {
    /// Names the answer.
    let ticket: UInt64
    let work: DiskWork
    /// When it was asked.
    let now: UnixTime
}

/// What the disk thread does.
enum DiskWork: Sendable {
    /// Whether a key has an entry, and how long it is.
    case locate(String)
    /// Read a located body into memory that was reserved for it.
    case read(String, IndexRow, Body)
    case write(PendingWrite)
    case remove(String)
    case clear
    /// Note uses of keys.
    case touch([String])
    /// A bit of housekeeping.
    case maintain
    /// Write what is noted in memory only.
    case flush
}

/// What came of it.
struct DiskAnswer: Sendable {
    let ticket: UInt64
    let result: DiskResult
    /// The tier as it was then.
    let status: DiskStatus
}

/// The answer to each `DiskWork`.
enum DiskResult: Sendable {
    case located(IndexRow?)
    /// Whether the body is there and right.
    case read(Bool)
    case written(DiskWriteResult)
    /// Whether it is certain that the entries are gone.
    case removed(Bool)
    case done
    /// Whether there is more to do at once.
    case maintained(Bool)
}

/// How the disk tier is.
public struct DiskStatus: Sendable, Hashable {
    /// Works or not, and why not.
    public var health: DiskHealth
    /// Entries and bytes; `nil` while the index cannot be read.
    public var usage: DiskUsage?
    /// Entries that were found damaged and removed.
    public var damaged: Int
    /// Indexes that were set aside and rebuilt.
    public var rebuilt: Int
}

extension DiskTier {
    /// Does one piece of work.
    func perform(_ request: DiskRequest) -> DiskAnswer {
        let now = request.now
        let result: DiskResult =
            switch request.work {
            case .locate(let key): .located(locate(key, now))
            case .read(let key, let row, let body): .read(read(key, row, into: body.target, now))
            case .write(let write):
                .written(self.write(write.key, write.body.bytes, write.metadata, write.stored))
            case .remove(let key): .removed(remove(key, now))
            case .clear: .removed(clear(now))
            case .touch(let keys): touched(keys, now)
            case .maintain: .maintained(maintain(now))
            case .flush: flushed(now)
            }
        return DiskAnswer(ticket: request.ticket, result: result, status: status(now))
    }

    func status(_ now: UnixTime) -> DiskStatus {
        DiskStatus(health: health, usage: usage(now), damaged: damaged, rebuilt: rebuilt)
    }

    private func touched(_ keys: [String], _ now: UnixTime) -> DiskResult {
        touch(keys, now)
        return .done
    }

    private func flushed(_ now: UnixTime) -> DiskResult {
        flush(now)
        return .done
    }
}
