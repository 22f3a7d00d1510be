import Testing

/// Files that call each other in a cycle can only be understood together.
@Suite struct CallGraphTests {
    /// The maximum number of files in a cycle in a folder of a core module.
    private static let filesMax = 8
    private static let coreModules = ["Sources/Model", "Sources/Scheduling"]

    @Test func noCircleOfCallsInCoreIsLarge() throws {
        let files = RepositoryFiles()
        let folders = Self.coreModules.flatMap { module in
            files.folders(in: module).map { "\(module)/\($0)" }
        }
        #expect(folders.count > 6)
        for folder in folders {
            let paths = files.paths(below: folder).filter { $0.hasSuffix(".swift") }
            let sources = paths.compactMap { path in
                files.text(of: path).map { SourceText(path: path, text: $0) }
            }
            let knot = CallGraph(sources.map(FileCalls.init)).largestKnot
            print("\(folder): the largest cycle of calls has \(knot.count) of \(paths.count) files")
            #expect(knot.count <= Self.filesMax, "\(folder): \(knot.joined(separator: "\n"))")
        }
    }

    private func graph(_ texts: String...) -> CallGraph {
        CallGraph(
            texts.enumerated().map {
                FileCalls(SourceText(path: "\($0.offset).swift", text: $0.element))
            })
    }

    @Test func aCircleIsFoundThroughOtherFiles() {
        let found = graph(
            "extension A { mutating func one(_ id: Int) { two(of: id) } }",
            "extension A { func two<T>(of id: T) { if id { return self.three() } } }",
            "extension A { func three() { one(1) } }",
            "extension A { func four() { a.one(2) } }")
        #expect(found.largestKnot == ["0.swift", "1.swift", "2.swift"])
        #expect(found.edges == [[1], [2], [0], []])
    }

    @Test(arguments: [
        // Another label, another type, another value, a case of an enumeration, a comment.
        "extension A { func back() { one(by: 1) } }",
        "struct B { func back() { one(1) } }",
        "extension A { func back() { b.one(1) } }",
        "extension A { func back() { take(.one(1)); take(x, .one(1)) } }",
        "extension A { func back() { /* one(1) */ } }",
    ])
    func whatIsNoCallBackIsNone(text: String) {
        let found = graph("extension A { func one(_ id: Int) { back() } }", text)
        #expect(found.largestKnot.count == 1)
    }
}
