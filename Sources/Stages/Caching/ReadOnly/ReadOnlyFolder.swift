internal import Linux
internal import SQLite
internal import XXHash

/// One cache directory that somebody else made: entries are found there, and nothing is changed.
///
/// Who writes there chooses what is served, but nothing else: every name is made of a number of the
/// index, no link is followed, only regular files are read, and length, header and checksum of a
/// body are checked as those of bodies of our own. Owned by the one thread that reads there.
final class ReadOnlyFolder {
    /// As it was given; links to the directory itself are followed.
    let path: String
    private(set) var state = ReadOnlyState()
    private var opened: Opened?
    /// An index that could not be read is not tried again until it is another one.
    private var broken: Mark?

    /// By what it is known whether the directory is still the one that was opened.
    private struct Mark: Hashable {
        let root: FileStatus
        let index: FileStatus

        static func == (left: Self, right: Self) -> Bool {
            left.root.inode == right.root.inode && left.root.device == right.root.device
                && left.index == right.index
        }
    }

    /// The directory as it was when it was opened.
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

    private struct Fault: Error {
        let reason: String
    }

    init(path: String) { self.path = path }

    // MARK: - Whether it is there

    /// Looks whether the directory is there and still the same, and opens it where that is new.
    func check() {
        do throws(Fault) {
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

    private func openRoot() throws(Fault) -> FileDescriptor {
        guard path.hasPrefix("/") else { throw Fault(reason: "not an absolute path") }
        do throws(Errno) {
            return try FileDescriptor.open(path, [.place, .directory])
        } catch {
            throw Fault(reason: Self.reason(error))
        }
    }

    private static func reason(_ error: Errno) -> String {
        switch error {
        case .noSuchFile: "there is no such directory: make it, or mount it there"
        case .notDirectory: "it is no directory: put a cache directory there"
        case .accessDenied, .notPermitted:
            "user \(CurrentProcess.userID) may not look into it: give the cache's user the right"
        default: "it cannot be opened: \(error)"
        }
    }

    private func mark(of root: borrowing FileDescriptor) throws(Fault) -> Mark {
        let own: FileStatus
        let index: FileStatus
        do throws(Errno) {
            own = try root.status()
            // Opened as a place: closing it takes no locks away from who uses it.
            index = try root.openBeneath(
                DiskTier.indexName, [.place, .noFollow], followsLinks: false
            ).status()
        } catch {
            throw Fault(reason: error == .noSuchFile ? Self.noIndex : Self.reason(error))
        }
        guard index.type == .regular else {
            throw Fault(reason: "its \(DiskTier.indexName) is no regular file: copy it anew")
        }
        // A stack that has ended leaves it empty.
        let log = DiskTier.indexName + "-wal"
        if let bytes = try? root.status(of: log).size, bytes > 0 {
            throw Fault(reason: Self.inUse(log))
        }
        return Mark(root: own, index: index)
    }

    private static let noIndex =
        "it has no \(DiskTier.indexName): copy a whole cache directory there, of a stack that has "
        + "ended"

    private static func inUse(_ name: String) -> String {
        "it has \(name), so it is in use, or was when it was copied: end the stack that uses it, "
            + "then copy it"
    }

    private func open(_ root: consuming FileDescriptor, _ mark: Mark) throws(Fault) {
        do throws(SQLiteError) {
            opened = try Opened(root, mark)
        } catch {
            broken = mark
            throw Fault(reason: Self.unreadable(error))
        }
    }

    private static func unreadable(_ error: SQLiteError) -> String {
        "its \(DiskTier.indexName) cannot be read (\(error)): copy it anew"
    }

    // MARK: - Reading

    /// The first of these texts that has an entry of at most so many bytes.
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

    /// Reads a body that was found into `buffer`, which has its length; false where it is not what
    /// the index says.
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

    /// The index cannot be read: it is left alone until there is another one.
    private func giveUp(_ error: SQLiteError) {
        broken = opened?.mark
        opened = nil
        state.reason = Self.unreadable(error)
    }

    // MARK: - Files

    /// Whether the file of an entry has its header and its length; what lies in the index is there.
    private func isThere(_ entry: ReadOnlyEntry, _ opened: Opened) -> Bool {
        guard let offset = entry.row.fileOffset else { return true }
        do throws(Errno) {
            let file = try Self.file(entry, opened)
            guard try file.status().size == offset + entry.row.bodyLength,
                let header = BodyHeader(try BodyFiles.bytes(of: file, count: offset))
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

    /// Not blocking: a pipe would wait for its writer.
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
