import Linux
import Model
import ProcessRuntime

/// A directory of segments, from which unused ones are removed.
///
/// Several supervisors of one kind may share it, such as the containers of a scaled service: each
/// holds a shared lock, and only a supervisor that gets an exclusive one clears it.
final class SegmentDirectory {
    let kind: WorkerKind
    private let path: String
    private let lock: FileDescriptor

    private static let lockName = ".supervisors.lock"

    /// Removes leftovers of earlier incarnations if no other process uses the directory.
    init(
        _ kind: WorkerKind, _ directory: consuming VerifiedDirectory
    ) throws(RuntimeDirectoryError) {
        let path = directory.path
        (self.kind, self.path) = (kind, path)
        do throws(Errno) {
            lock = try directory.descriptor.open(
                Self.lockName, [.readWrite, .create, .noFollow], mode: 0o600)
            if try lock.tryLock(.exclusive) { try Self.removeSegments(in: path) }
            try lock.lock(.shared)
        } catch {
            throw .system(path, error)
        }
    }

    /// Unlinks the segments of one incarnation and returns their number; processes that mapped one
    /// keep its pages.
    @discardableResult
    func removeSegments(of incarnation: Incarnation) throws(Errno) -> Int {
        try Self.removeSegments(in: path) { $0 == incarnation }
    }

    /// Unlinks all segments if no other supervisor uses the directory.
    func clear() throws(Errno) {
        guard try lock.tryLock(.exclusive) else { return }
        try Self.removeSegments(in: path)
        // The lock file stays, so that a process that already opened it still locks the same file
        // as others.
    }

    /// Unlinks all segments of a directory that no supervisor serves any more. A directory that was
    /// never supervised belongs to external workers, which remove their segments themselves
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
        // Reopened, because listing moves a descriptor's offset.
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

/// The location of segments: in the runtime directory if that is on tmpfs, else below `/dev/shm`,
/// as recorded in the file `segments` in the runtime directory.
enum SharedMemoryRoot {
    /// Finds or creates the location, and writes or removes `segments`.
    static func choose(
        for root: borrowing VerifiedDirectory, sharedMemory: String
    ) throws(RuntimeDirectoryError) -> RuntimePaths {
        if try isTemporary(root) {
            try removeSegmentsFile(in: root)
            return RuntimePaths(root: root.path)
        }
        // Sticky and not owned by this user: only the directory below it is verified.
        guard
            (try? FileDescriptor.openDirectory(sharedMemory).fileSystemStatus())?.isTemporary
                == true
        else { throw .noSharedMemory("\(root.path) nor \(sharedMemory)") }
        let mine = try VerifiedDirectory.at(
            path: "\(sharedMemory)/imagebus-\(CurrentProcess.userID)", .own)
        let segments = try mine.directory(name(of: root))
        try writeSegmentsFile(in: root, naming: segments.path)
        return RuntimePaths(root: root.path, segmentsRoot: segments.path)
    }

    private static func isTemporary(
        _ directory: borrowing VerifiedDirectory
    ) throws(RuntimeDirectoryError) -> Bool {
        do throws(Errno) {
            return try directory.descriptor.fileSystemStatus().isTemporary
        } catch {
            throw .system(directory.path, error)
        }
    }

    /// Returns device and inode in hex, so that another directory at the same path gets another
    /// name.
    private static func name(
        of directory: borrowing VerifiedDirectory
    ) throws(RuntimeDirectoryError) -> String {
        let status = try directory.status()
        return "\(String(status.device, radix: 16))-\(String(status.inode, radix: 16))"
    }

    private static func writeSegmentsFile(
        in root: borrowing VerifiedDirectory, naming path: String
    ) throws(RuntimeDirectoryError) {
        let name = RuntimePaths.segmentsFileName
        let temporary = "\(name).new"
        do throws(Errno) {
            try? root.descriptor.unlink(temporary)
            let file = try root.descriptor.open(
                temporary, [.writeOnly, .create, .exclusive, .noFollow], mode: 0o644)
            try file.setMode(0o644)
            try file.writeAll(Array("\(path)\n".utf8))
            try root.descriptor.rename(temporary, to: name)
        } catch {
            throw .system("\(root.path)/\(name)", error)
        }
    }

    private static func removeSegmentsFile(
        in root: borrowing VerifiedDirectory
    ) throws(RuntimeDirectoryError) {
        let name = RuntimePaths.segmentsFileName
        do throws(Errno) {
            // Checks first: if there is nothing to remove, no permission is needed.
            _ = try root.descriptor.status(of: name)
            try root.descriptor.unlink(name)
        } catch .noSuchFile {
        } catch {
            throw .system("\(root.path)/\(name)", error)
        }
    }
}
