internal import Linux
package import Model
internal import SQLite
internal import XXHash

struct ReadOnlyState: Sendable, Hashable {
    /// Why it can't be used, and what to do.
    var reason: String?
    /// The number of entries that disagree with their index.
    var damaged: UInt64 = 0
}

struct ReadOnlyEntry: Sendable {
    /// The directory.
    let path: String
    /// The key under which it is stored there.
    let text: String
    let row: IndexRow
}

/// A request to the thread for read-only directories.
struct ReadOnlyRequest: Sendable {
    /// Identifies the answer.
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

enum ReadOnlyWork: Sendable {
    /// Find the first of these keys in the first of these directories that has one, and read it
    /// immediately if it is small and memory is available.
    case look([String], in: [String], bytesMax: Int, Body.Home)
    /// Read a located body into memory reserved for it.
    case read(ReadOnlyEntry, Body)
    /// Check these directories and close all others.
    case check([String])
}

struct ReadOnlyAnswer: Sendable {
    let ticket: UInt64
    let result: ReadOnlyResult
    /// The states of the directories after the request, by path.
    let states: [String: ReadOnlyState]
}

/// The result for each `ReadOnlyWork`.
enum ReadOnlyResult: Sendable {
    case nothing
    /// An entry that is still to be read.
    case located(ReadOnlyEntry)
    /// The entry and its verified body.
    case fetched(ReadOnlyEntry, Body)
    /// Whether the body exists and is correct.
    case read(Bool)
    case checked
}

/// All read-only directories, on a thread of their own, so that a slow or remote file system delays
/// only queries that need it.
final class ReadOnlyFolders {
    private var folders: [String: ReadOnlyFolder] = [:]

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

/// A read-only cache directory of another stack: entries are looked up, and nothing is changed.
///
/// Its writers control what is served, but nothing else: file names are derived from numbers in the
/// index, links aren't followed, only regular files are read, and length, header and checksum of a
/// body are verified like those of the stack's own bodies. Owned by the thread that reads it.
final class ReadOnlyFolder {
    /// The path as given; links to the directory itself are followed.
    let path: String
    private(set) var state = ReadOnlyState()
    private var opened: Opened?
    /// Identifies an unreadable index, which isn't retried until it is replaced.
    private var broken: Mark?

    /// Identifies the opened directory, to detect a replacement.
    private struct Mark: Hashable {
        let root: FileStatus
        let index: FileStatus

        static func == (left: Self, right: Self) -> Bool {
            left.root.inode == right.root.inode && left.root.device == right.root.device
                && left.index == right.index
        }
    }

    /// The directory as it was when opened.
    private final class Opened {
        let root: FileDescriptor
        let index: ReadOnlyIndex
        let mark: Mark

        init(_ root: consuming FileDescriptor, _ mark: Mark) throws(SQLiteError) {
            index = try ReadOnlyIndex(in: root)
            self.root = root
            self.mark = mark
        }
    }

    private struct UnusableFolder: Error {
        let reason: String
    }

    init(path: String) { self.path = path }

    // MARK: - Availability

    /// Checks whether the directory exists and is unchanged, and opens it if it is new.
    func check() {
        do throws(UnusableFolder) {
            let root = try openRoot()
            let mark = try mark(of: root)
            guard mark != opened?.mark, mark != broken else { return }
            (opened, broken) = (nil, nil)
            try open(root, mark)
            state.reason = nil
        } catch {
            opened = nil
            state.reason = error.reason
        }
    }

    private func openRoot() throws(UnusableFolder) -> FileDescriptor {
        guard path.hasPrefix("/") else { throw UnusableFolder(reason: "not an absolute path") }
        do throws(Errno) {
            return try FileDescriptor.open(path, [.place, .directory])
        } catch {
            throw UnusableFolder(reason: Self.reason(error))
        }
    }

    private static func reason(_ error: Errno) -> String {
        switch error {
        case .noSuchFile: "the directory does not exist: create or mount it"
        case .notDirectory: "the path is not a directory: put a cache directory there"
        case .accessDenied, .notPermitted:
            "permission denied for user \(CurrentProcess.userID): grant the cache's user access"
        default: "the directory cannot be opened: \(error)"
        }
    }

    private func mark(of root: borrowing FileDescriptor) throws(UnusableFolder) -> Mark {
        let own: FileStatus
        let index: FileStatus
        do throws(Errno) {
            own = try root.status()
            // Opened with O_PATH: closing it doesn't release the locks of its users.
            index = try root.openBeneath(
                DiskTier.indexName, [.place, .noFollow], followsLinks: false
            ).status()
        } catch {
            throw UnusableFolder(reason: error == .noSuchFile ? Self.noIndex : Self.reason(error))
        }
        guard index.type == .regular else {
            throw UnusableFolder(
                reason: "its \(DiskTier.indexName) is not a regular file: copy it again")
        }
        // A stack that has shut down leaves it empty.
        let log = DiskTier.indexName + "-wal"
        if let bytes = try? root.status(of: log).size, bytes > 0 {
            throw UnusableFolder(reason: Self.inUse(log))
        }
        return Mark(root: own, index: index)
    }

    private static let noIndex =
        "the directory has no \(DiskTier.indexName): copy the whole cache directory of a stopped "
        + "stack there"

    private static func inUse(_ name: String) -> String {
        "the directory has \(name), so it is in use or was when it was copied: stop the stack "
            + "that uses it, then copy it"
    }

    private func open(_ root: consuming FileDescriptor, _ mark: Mark) throws(UnusableFolder) {
        do throws(SQLiteError) {
            opened = try Opened(root, mark)
        } catch {
            broken = mark
            throw UnusableFolder(reason: Self.unreadable(error))
        }
    }

    private static func unreadable(_ error: SQLiteError) -> String {
        "its \(DiskTier.indexName) cannot be read (\(error)): copy it again"
    }

    // MARK: - Reading

    /// Returns the first of these keys that has an entry of at most `bytesMax` bytes.
    func find(_ texts: [String], bytesMax: Int) -> ReadOnlyEntry? {
        guard let opened else { return nil }
        for text in texts {
            do throws(SQLiteError) {
                switch try opened.index.finding(text) {
                case .nothing: continue
                case .damaged: state.damaged += 1
                case .entry(let row):
                    let entry = ReadOnlyEntry(path: path, text: text, row: row)
                    if (1...max(1, bytesMax)).contains(row.bodyLength), isThere(entry, opened) {
                        return entry
                    }
                    state.damaged += 1
                }
            } catch {
                giveUp(error)
                return nil
            }
        }
        return nil
    }

    /// Reads a located body into `buffer`, which must have its length; returns false if it doesn't
    /// match the index.
    func read(_ entry: ReadOnlyEntry, into buffer: UnsafeMutableRawBufferPointer) -> Bool {
        guard let opened else { return false }
        do throws(SQLiteError) {
            let isRead =
                if let offset = entry.row.fileOffset {
                    Self.read(entry, from: offset, into: buffer, opened)
                } else {
                    try opened.index.copyBody(entry.row.number, into: buffer)
                }
            if isRead, XXH3.hash64(UnsafeRawBufferPointer(buffer)) == entry.row.checksum {
                return true
            }
            state.damaged += 1
        } catch {
            giveUp(error)
        }
        return false
    }

    /// Stops using an unreadable index until it is replaced.
    private func giveUp(_ error: SQLiteError) {
        broken = opened?.mark
        opened = nil
        state.reason = Self.unreadable(error)
    }

    // MARK: - Files

    /// Returns whether the file of an entry has its header and length; bodies in the index always
    /// exist.
    private func isThere(_ entry: ReadOnlyEntry, _ opened: Opened) -> Bool {
        guard let offset = entry.row.fileOffset else { return true }
        do throws(Errno) {
            let file = try Self.file(entry, opened)
            guard try file.status().size == offset + entry.row.bodyLength,
                let header = BodyHeader(try file.bytes(count: offset))
            else { return false }
            return header.key == entry.text && header.bodyLength == entry.row.bodyLength
                && header.checksum == entry.row.checksum
        } catch {
            return false
        }
    }

    private static func read(
        _ entry: ReadOnlyEntry, from offset: Int, into buffer: UnsafeMutableRawBufferPointer,
        _ opened: Opened
    ) -> Bool {
        do throws(Errno) {
            let file = try file(entry, opened)
            return try file.readFully(into: buffer, at: offset) == buffer.count
        } catch {
            return false
        }
    }

    /// Opens the file of an entry. Nonblocking, because opening a pipe would wait for its writer.
    private static func file(
        _ entry: ReadOnlyEntry, _ opened: Opened
    ) throws(Errno) -> FileDescriptor {
        let file = try opened.root.openBeneath(
            BodyFiles.path(entry.row.number), [.readOnly, .nonBlocking, .noFollow],
            followsLinks: false)
        guard try file.status().type == .regular else { throw .notPermitted }
        return file
    }
}

/// The index of a read-only cache directory, read without changing it.
///
/// It may be damaged, of another version, or malicious: its contents are validated, and the cost of
/// statements is limited.
final class ReadOnlyIndex {
    private let connection: Connection
    private let select: String

    /// Opens the index of a directory without creating any files.
    ///
    /// - Throws: As `Connection`, and `.error` if it has no entries.
    init(in root: borrowing FileDescriptor) throws(SQLiteError) {
        connection = try Connection(
            path: "/proc/self/fd/\(root.number)/\(DiskTier.indexName)",
            configuration: Connection.Configuration(creates: false, isImmutable: true))
        let columns = try QuarantinedIndex.columns(connection)
        let tables = try QuarantinedIndex.tables(connection)
        select = "SELECT \(columns), entries.number FROM \(tables) WHERE entries.key = ?"
        _ = try connection.prepare(select)
    }

    /// Looks a key up. Prepares a new statement each time, since its steps are counted over its
    /// lifetime.
    func finding(_ key: String) throws(SQLiteError) -> IndexFinding {
        var find = try connection.prepare(select)
        return try find.finding(key)
    }

    /// Copies a body stored in the index; returns false if there is none of that length.
    func copyBody(
        _ number: Int64, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SQLiteError) -> Bool {
        var read = try connection.prepare("SELECT body FROM entries WHERE number = ?")
        return try read.copyBody(number, into: buffer)
    }
}

// Directories that are searched after a miss of a cache (SEMANTICS §5.18).
extension CacheStage {
    /// Sets the directories to search, by cache name; the empty name is the default cache.
    func follow(_ directories: [String: [String]]) {
        readOnlyPaths = directories.filter { !$0.value.isEmpty }
        checkDirectories()
    }

    /// Checks the directories: one that appears is used without a restart.
    func checkDirectories() {
        guard !isChecking, !readOnlyPaths.isEmpty || readOnly != nil else { return }
        if readOnly == nil { readOnly = try? Self.readOnlyThread(inbox) }
        let paths = Set(readOnlyPaths.values.joined()).sorted()
        isChecking = ask(.check(paths), .checking)
    }

    private static func readOnlyThread(
        _ inbox: Inbox
    ) throws(Errno) -> WorkThread<ReadOnlyRequest, ReadOnlyAnswer> {
        try WorkThread(name: "cache-further", requestsMax: requestsMax) {
            let folders = ReadOnlyFolders()
            return { folders.perform($0) }
        } deliver: {
            inbox.put(.readOnly($0))
        }
    }

    // MARK: - Queries

    /// Searches the directories of a key's cache after both tiers missed.
    func lookFurther(_ job: CacheJob, _ work: QueryWork, _ now: UnixTime) {
        let name = CacheKey.cache(inStored: work.key)
        guard work.tiers.contains(.disk), let paths = readOnlyPaths[name], readOnly != nil,
            !readOnlyStall.isStalled
        else {
            return miss(job, work)
        }
        // An entry of a stack without named caches matches any cache name.
        let texts = name.isEmpty ? [work.key] : [work.key, CacheKey.moved(work.key, to: "")]
        let request = ReadOnlyWork.look(
            texts, in: paths, bytesMax: policy.memoryBytesMax, home(work))
        if !ask(request, .query(job, work, .lookingFurther)) {
            answer(job, .failed(Self.tooMuchWaits))
        }
    }

    /// Handles an answer of the thread.
    func answered(_ answer: ReadOnlyAnswer, _ now: UnixTime) {
        readOnlyStates = answer.states
        switch (pending.removeValue(forKey: answer.ticket), answer.result) {
        case (.checking, _): isChecking = false
        // Another query may have loaded it into memory meanwhile (SEMANTICS §5.2).
        case (.query(let job, let work, .lookingFurther), _)
        where work.tiers.contains(.memory) && answerFromMemory(job, work, now): break
        case (.query(let job, let work, .lookingFurther), .fetched(let entry, let body))
        where !entry.row.metadata.isOutdated(under: entry.text):
            foundFurther(entry, body, job, work, now)
        case (.query(let job, let work, .lookingFurther), .located(let entry))
        where !entry.row.metadata.isOutdated(under: entry.text):
            locatedFurther(entry, job, work, now)
        case (.query(let job, let work, .readingFurther(let entry, let body)), .read(true)):
            foundFurther(entry, body, job, work, now)
        case (.query(let job, let work, _), _): miss(job, work)
        default: break
        }
    }

    private func locatedFurther(
        _ entry: ReadOnlyEntry, _ job: CacheJob, _ work: QueryWork, _ now: UnixTime
    ) {
        do throws(ImageError) {
            let body = try reserve(work, length: entry.row.bodyLength)
            let why = PendingWork.query(job, work, .readingFurther(entry, body))
            if !ask(.read(entry, body), why) { throw Self.tooMuchWaits }
        } catch  where error.code == .limitExceeded {
            // Larger than memory: treated as a miss, since the origin may have a smaller image by
            // now.
            miss(job, work)
        } catch {
            answer(job, .failed(error))
        }
    }

    /// Answers a query with an entry of a directory. It enters memory like a disk hit, but not the
    /// disk, since the directory will still have it next time.
    private func foundFurther(
        _ entry: ReadOnlyEntry, _ body: Body, _ job: CacheJob, _ work: QueryWork, _ now: UnixTime
    ) {
        var work = work
        // Stored since the lookup: these bytes must not replace the newer ones.
        if memory.contains(work.key, now: now) || writeBehind.write(of: work.key) != nil {
            work.promotes = false
        }
        readOnlyHits[entry.path, default: 0] += 1
        let finding = Finding(
            tier: .disk, metadata: entry.row.metadata, expires: nil, stored: entry.row.stored)
        found(body, job, work, finding, now)
    }

    // MARK: - Metrics

    /// Why none of the directories can be read.
    private var whyNoDirectories: String? {
        guard readOnly != nil else {
            return "no thread can be started: raise the process limit of the cache"
        }
        guard readOnlyStall.isStalled else { return nil }
        return "a read-only directory does not respond: check its file system"
    }

    /// The directories, by cache in search order.
    package var directoryStatuses: [ReadOnlyDirectory] {
        readOnlyPaths.sorted { $0.key < $1.key }.flatMap { name, paths in
            paths.map { path in
                let state = readOnlyStates[path]
                let reason =
                    whyNoDirectories ?? state.map { $0.reason ?? "" } ?? "not checked yet"
                var directory = ReadOnlyDirectory(cache: name, path: path)
                directory.reason = CacheStatus.limited(reason)
                directory.hits = readOnlyHits[path] ?? 0
                directory.damaged = state?.damaged ?? 0
                return directory
            }
        }
    }
}
