import Linux
import Messages
import SharedArena

/// A directory of segments, and which of them nobody needs any more.
///
/// Several supervisors of one kind may share it, such as the containers of a scaled service: each
/// holds a shared lock, and only who is alone clears it.
final class SegmentDirectory {
    let path: String
    private let lock: FileDescriptor

    private static let lockName = ".supervisors.lock"

    /// Removes what was left by lives that ended, where nobody else uses the directory.
    init(_ directory: consuming VerifiedDirectory) throws(RuntimeDirectoryError) {
        let path = directory.path
        self.path = path
        do throws(Errno) {
            lock = try directory.descriptor.open(
                Self.lockName, [.readWrite, .create, .noFollow], mode: 0o600)
            if try lock.tryLock(.exclusive) { try Self.removeSegments(in: path) }
            try lock.lock(.shared)
        } catch {
            throw .system(path, error)
        }
    }

    /// Unlinks the segments of one life; readers that mapped one keep its pages. Returns how many.
    @discardableResult
    func removeSegments(of incarnation: Incarnation) throws(Errno) -> Int {
        try Self.removeSegments(in: path) { $0 == incarnation }
    }

    /// Unlinks all segments where no other supervisor uses the directory.
    func clear() throws(Errno) {
        guard try lock.tryLock(.exclusive) else { return }
        try Self.removeSegments(in: path)
        // The lock's file stays: whoever has opened it already must meet the others at it.
    }

    /// Unlinks all segments of a directory that supervisors no longer serve, where none does. One
    /// that none ever served is of foreign workers, who remove their segments themselves
    /// (PROTOCOL §10).
    static func clearLeftover(_ directory: consuming VerifiedDirectory) throws(Errno) {
        let path = directory.path
        let lock = try directory.descriptor.open(lockName, [.readWrite, .noFollow])
        guard try lock.tryLock(.exclusive) else { return }
        try removeSegments(in: path)
    }

    @discardableResult
    private static func removeSegments(
        in path: String, where isMeant: (Incarnation) -> Bool = { _ in true }
    ) throws(Errno) -> Int {
        // Opened anew, since listing moves a descriptor's offset.
        let directory = try FileDescriptor.openDirectory(path)
        var removed = 0
        for entry in try directory.entries() {
            guard let name = SegmentName(fileName: entry), isMeant(name.incarnation) else {
                continue
            }
            do throws(Errno) {
                try directory.unlink(entry)
                removed += 1
            } catch .noSuchFile {}
        }
        return removed
    }
}
