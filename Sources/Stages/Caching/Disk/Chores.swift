/// What the disk tier does bit by bit between requests.
struct Chores: Sendable {
    /// Buckets whose files have not been compared with the index since the start.
    var bucketsToSweep = Array((0..<BodyFiles.buckets).reversed())
    /// Files of a bucket that have not been looked at yet.
    var filesToSweep: [Int64] = []
    /// Going down to the low-water mark.
    var isTrimming = false
    /// When entries over age are looked for next; `nil` is now.
    var expiresAt: UnixTime?
    /// The trash may hold something.
    var hasTrash = true
    /// The index may have pages to give back.
    var isShrinking = true

    /// How often entries over age are looked for, milliseconds.
    static let expiryPeriod: Int64 = 60_000
    /// Entries that one step removes, or files that it looks at, at most: a few milliseconds.
    static let batch = 128
}
