/// How a directory is in which nothing is changed.
struct ReadOnlyState: Sendable, Hashable {
    /// Why nothing is found there, and what helps.
    var reason: String?
    /// Entries that were not what their index says.
    var damaged: UInt64 = 0
}

/// An entry of such a directory.
struct ReadOnlyEntry: Sendable {
    /// The directory.
    let path: String
    /// Under which it lies there.
    let text: String
    let row: IndexRow
}

/// Something to do on the thread that reads there.
struct ReadOnlyRequest: Sendable {
    /// Names the answer.
    let ticket: UInt64
    let work: ReadOnlyWork

    /// Whether a query waits for it.
    var isQuestion: Bool {
        switch work {
        case .look, .read: true
        case .check: false
        }
    }
}

/// What that thread does.
enum ReadOnlyWork: Sendable {
    /// Find the first of these texts in the first of these directories that has one, and read it at
    /// once where it is short and there is room for it.
    case look([String], in: [String], bytesMax: Int, Body.Home)
    /// Read a located body into memory that was reserved for it.
    case read(ReadOnlyEntry, Body)
    /// Look whether these directories are there; others are let go of.
    case check([String])
}

/// What came of it.
struct ReadOnlyAnswer: Sendable {
    let ticket: UInt64
    let result: ReadOnlyResult
    /// How the directories were then, by path.
    let states: [String: ReadOnlyState]
}

/// The answer to each `ReadOnlyWork`.
enum ReadOnlyResult: Sendable {
    case nothing
    /// There is an entry, which is still to be read.
    case located(ReadOnlyEntry)
    /// The entry and its body, which is whole.
    case fetched(ReadOnlyEntry, Body)
    /// Whether the body is there and right.
    case read(Bool)
    case checked
}

/// All directories in which nothing is changed, on their thread: one on a slow or distant file
/// system keeps nobody waiting who does not ask for it.
final class ReadOnlyFolders {
    private var folders: [String: ReadOnlyFolder] = [:]

    /// Does one piece of work.
    func perform(_ request: ReadOnlyRequest) -> ReadOnlyAnswer {
        let result: ReadOnlyResult =
            switch request.work {
            case .look(let texts, let paths, let bytesMax, let home):
                look(texts, paths, bytesMax, home)
            case .read(let entry, let body):
                .read(folders[entry.path]?.read(entry, into: body.target) ?? false)
            case .check(let paths): check(paths)
            }
        return ReadOnlyAnswer(
            ticket: request.ticket, result: result, states: folders.mapValues(\.state))
    }

    private func check(_ paths: [String]) -> ReadOnlyResult {
        folders = folders.filter { paths.contains($0.key) }
        for path in paths {
            let folder = folders[path] ?? ReadOnlyFolder(path: path)
            folders[path] = folder
            folder.check()
        }
        return .checked
    }

    private func look(
        _ texts: [String], _ paths: [String], _ bytesMax: Int, _ home: Body.Home
    ) -> ReadOnlyResult {
        for folder in paths.compactMap({ folders[$0] }) {
            guard let entry = folder.find(texts, bytesMax: bytesMax) else { continue }
            guard entry.row.bodyLength < CacheStage.largeBytes,
                let body = try? Body(in: home, length: entry.row.bodyLength)
            else { return .located(entry) }
            if folder.read(entry, into: body.target) { return .fetched(entry, body) }
        }
        return .nothing
    }
}
