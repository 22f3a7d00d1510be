internal import ImageModel
internal import Messages

/// A job of the cache that is not answered yet.
struct CacheJob: Sendable {
    let id: JobID
    let attempt: UInt32
}

/// What goes on when a thread answers.
enum PendingWork {
    /// A query whose key is looked up on the disk, and read where it is short.
    case looking(CacheJob, QueryWork)
    /// A query whose body is being read from the disk into memory that was made for it.
    case reading(CacheJob, QueryWork, IndexRow, Body)
    /// A query that the directories of its cache are asked, in which nothing is changed.
    case lookingFurther(CacheJob, QueryWork)
    /// A query whose body is being read from one of them.
    case readingFurther(CacheJob, QueryWork, ReadOnlyEntry, Body)
    /// It is looked whether these directories are there.
    case checking
    /// A body that is being copied.
    case copying(Filling, Body)
    /// The writes under way.
    case writing([PendingWrite])
    /// The older value of a key, which is removed.
    case removing(String)
    /// Everything, since too many older values are there.
    case clearing
    /// A command that the disk carries out.
    case commanding(CacheCommandID)
    /// An entry that the disk looks for or removes, for its tiers in memory.
    case attending(CacheJob, EntryWork, inMemory: CacheTypes)
    /// A walk over the entries of the disk, with what was found so far.
    case scanning(CacheJob, EntryWork, EntryPage, DiskScan)
    /// The disk goes down to its low-water mark for a job.
    case trimming(CacheJob, EntryPage, before: DiskCounts)
    /// Housekeeping.
    case maintaining
    /// The last thing before the end.
    case flushing
    /// Nothing waits for it.
    case noting
}

extension PendingWork {
    /// The job that it answers.
    var job: CacheJob? {
        switch self {
        case .looking(let job, _), .reading(let job, _, _, _), .attending(let job, _, _): job
        case .lookingFurther(let job, _), .readingFurther(let job, _, _, _): job
        case .scanning(let job, _, _, _), .trimming(let job, _, _): job
        case .copying(.query(let job, _, _), _): job
        case .copying(.store(let job, _, _), _): job
        case .copying(.comparison(let job, _), _): job
        case .writing, .removing, .clearing, .commanding, .maintaining, .flushing, .noting: nil
        case .checking: nil
        }
    }

    /// Whether the process must not end before it: somebody waits, or something is to be kept.
    var isWork: Bool {
        switch self {
        case .looking, .reading, .copying, .writing, .removing, .clearing, .commanding: true
        case .attending: true
        case .scanning, .trimming, .lookingFurther, .readingFurther: true
        case .maintaining, .flushing, .noting, .checking: false
        }
    }
}

extension PendingWork {
    /// Whether the disk does it.
    var isOnDisk: Bool {
        switch self {
        case .looking, .reading, .writing, .removing, .clearing, .commanding, .attending: true
        case .scanning, .trimming, .maintaining, .flushing, .noting: true
        case .lookingFurther, .readingFurther, .checking, .copying: false
        }
    }
}

/// What a body is for, once it is filled.
enum Filling {
    /// The answer of a query.
    case query(CacheJob, QueryWork, Finding)
    /// What a store keeps; `nil` where its job was cancelled and only the store goes on.
    case store(CacheJob?, StoreWork, StorePlan)
    /// Nothing but to be held against a staged body.
    case comparison(CacheJob, Body)

    /// Whether the digest of the body is to be known: it is kept, or somebody gets it, and nobody
    /// has computed it before.
    var wantsDigest: Bool {
        switch self {
        case .store: true
        case .query(_, _, let finding): finding.metadata.digest == nil
        case .comparison: false
        }
    }

    /// What the filled body is held against.
    var comparand: Body? {
        if case .comparison(_, let body) = self { return body }
        return nil
    }
}

/// Where a query found its body.
struct Finding: Sendable {
    let tier: CacheTypes
    var metadata: StoredMetadata
    let expires: UnixTime?
    let stored: UnixTime?
}

/// What a store will do with its body.
struct StorePlan: Sendable {
    /// `nil` where it is kept nowhere.
    var key: String?
    var toMemory: Bool
    var toDisk: Bool
    /// It is asked for the first time, and the disk gets it when it is asked for again.
    var isWithheld = false
    /// In `results/`, and not in private memory.
    var isResult: Bool
    /// Why a tier that was asked for does not get it.
    var skipped: [String] = []
}
