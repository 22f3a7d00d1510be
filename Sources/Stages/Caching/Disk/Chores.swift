/// What the disk tier does bit by bit between requests.
struct Chores: Sendable {
    /// Buckets whose files have not been compared with the index since the start.
    var bucketsToSweep = Array((0..<BodyFiles.buckets).reversed())
    /// Files of a bucket that have not been looked at yet.
    var filesToSweep: [Int64] = []
    /// Going down to the low-water mark.
    var isTrimming = false
    /// Named caches that go down to their own low-water mark.
    var trimmedCaches: Set<String> = []
    /// When entries over age are looked for next; `nil` is now.
    var expiresAt: UnixTime?
    /// Keys that were removed since the start: what is taken in again does not bring them back.
    private(set) var removed: Set<String> = []
    /// Selections of entries that were removed since the start, likewise.
    private(set) var removedSelections: [DiskSelection] = []
    /// Whether files that the index does not know are taken in; else they are removed.
    var adoptsFiles = true
    /// Files up to this number are not taken in: the index knew all of them.
    var knownUpTo: Int64 = 0
    /// The index is not told yet that it knows all files.
    var owesSwept = true
    /// When dates of the future are looked for next; `nil` is now.
    var correctsDatesAt: UnixTime?
    /// The account of the index is in doubt.
    var isRecounting = false
    /// The trash may hold something.
    var hasTrash = true
    /// The index may have pages to give back.
    var isShrinking = true

    /// How often entries over age and dates of the future are looked for, milliseconds.
    static let expiryPeriod: Int64 = 60_000
    /// Keys in `removed` at most.
    static let removedMax = 16_384
    /// Selections in `removedSelections` at most.
    static let selectionsMax = 64
    /// Entries that one step removes, or files that it looks at, at most: a few milliseconds.
    static let batch = 128
    /// Free pages of the index that one step gives back: a millisecond or two.
    static let pages: Int = 64

    /// Whether what the tier lost sight of is still looked for.
    var isSweeping: Bool { !bucketsToSweep.isEmpty || !filesToSweep.isEmpty }

    /// Notes that a key was removed. Beyond the limit nothing is taken in any more: false then.
    mutating func noteRemoved(_ key: String) -> Bool {
        guard removed.contains(key) || removed.count < Self.removedMax else { return false }
        removed.insert(key)
        return true
    }

    /// The same of a selection; repeated for each step of a removal.
    mutating func noteRemoved(_ selection: DiskSelection) -> Bool {
        let isKnown = removedSelections.contains {
            $0.selection == selection.selection && $0.storedUpTo == selection.storedUpTo
        }
        guard isKnown || removedSelections.count < Self.selectionsMax else { return false }
        if !isKnown { removedSelections.append(selection) }
        return true
    }

    /// Goes on to keep out what was removed before.
    mutating func keepRemovals(of other: Chores) {
        removed = other.removed
        removedSelections = other.removedSelections
        adoptsFiles = other.adoptsFiles
    }

    /// Whether an entry that is found somewhere was removed since the start.
    func wasRemoved(_ key: String, _ stored: UnixTime, tags: [String]) -> Bool {
        removed.contains(key)
            || removedSelections.contains { $0.matches(key, stored, tags: tags) }
    }

    /// Whether it is time for what is done every minute; a clock that was set back delays nothing.
    static func isDue(_ moment: UnixTime?, _ now: UnixTime) -> Bool {
        guard let moment else { return true }
        return now >= moment || moment > now.adding(milliseconds: expiryPeriod)
    }
}
