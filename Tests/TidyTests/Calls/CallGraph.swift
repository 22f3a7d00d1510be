/// The calls between the files of one target.
struct CallGraph {
    let paths: [String]
    let edges: [[Int]]

    init(_ files: [FileCalls]) {
        paths = files.map(\.path)
        var declaring: [FileCalls.Function: [Int]] = [:]
        for (index, file) in files.enumerated() {
            for function in file.declared { declaring[function, default: []].append(index) }
        }
        edges = files.enumerated().map { index, file in
            var called = Set(file.called.flatMap { declaring[$0] ?? [] })
            called.remove(index)
            return called.sorted()
        }
    }

    /// The largest set of files each of which calls, directly or indirectly, all others, sorted.
    /// (Kosaraju: in the order in which a first search leaves them, against the edges.)
    var largestKnot: [String] {
        var left: [Int] = []
        var seen = Array(repeating: false, count: paths.count)
        for start in paths.indices { Self.visit(start, edges, &seen) { left.append($0) } }
        var reversed = Array(repeating: [Int](), count: paths.count)
        for (from, tos) in edges.enumerated() { for to in tos { reversed[to].append(from) } }
        seen = Array(repeating: false, count: paths.count)
        var largest: [Int] = []
        for start in left.reversed() {
            var members: [Int] = []
            Self.visit(start, reversed, &seen) { members.append($0) }
            if members.count > largest.count { largest = members }
        }
        return largest.map { paths[$0] }.sorted()
    }

    private static func visit(
        _ start: Int, _ edges: [[Int]], _ seen: inout [Bool], _ leave: (Int) -> Void
    ) {
        guard !seen[start] else { return }
        seen[start] = true
        for next in edges[start] { visit(next, edges, &seen, leave) }
        leave(start)
    }
}
