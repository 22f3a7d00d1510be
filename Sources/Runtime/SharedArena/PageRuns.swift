/// Which pages of one segment are free: sorted, disjoint, never adjacent runs.
///
/// Best fit over runs instead of size classes: a block wastes less than one page, and neighbours
/// grow together again when they are freed.
struct PageRuns: Hashable, Sendable {
    private struct Run: Hashable, Sendable {
        var start: Int
        var count: Int
    }

    private var free: [Run]
    /// Pages of the segment.
    let pageCount: Int

    init(pageCount: Int) {
        self.pageCount = pageCount
        free = [Run(start: 0, count: pageCount)]
    }

    var isUnused: Bool { free.count == 1 && free[0].count == pageCount }

    /// The first page of `count` free ones; `nil` where no run is long enough.
    mutating func take(_ count: Int) -> Int? {
        let fitting = free.indices.filter { free[$0].count >= count }
        guard let best = fitting.min(by: { free[$0].count < free[$1].count }) else { return nil }
        let start = free[best].start
        if free[best].count == count {
            free.remove(at: best)
        } else {
            free[best].start += count
            free[best].count -= count
        }
        return start
    }

    /// Gives pages back. A precondition: they were taken.
    mutating func give(_ start: Int, _ count: Int) {
        let next = free.firstIndex { $0.start > start } ?? free.endIndex
        precondition(next == free.endIndex || start + count <= free[next].start, "freed twice")
        free.insert(Run(start: start, count: count), at: next)
        join(next)
        if next > 0 { join(next - 1) }
    }

    private mutating func join(_ index: Int) {
        guard index + 1 < free.count else { return }
        let end = free[index].start + free[index].count
        precondition(end <= free[index + 1].start, "freed twice")
        guard end == free[index + 1].start else { return }
        free[index].count += free[index + 1].count
        free.remove(at: index + 1)
    }
}
