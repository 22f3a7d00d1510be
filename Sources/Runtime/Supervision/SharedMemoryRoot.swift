import Linux
import SharedArena

/// Where segments lie: below the runtime directory where that is on tmpfs, else below `/dev/shm`,
/// as the file `segments` in the runtime directory says.
enum SharedMemoryRoot {
    /// Finds or makes it, and writes or removes `segments`.
    static func choose(
        for root: borrowing VerifiedDirectory, sharedMemory: String
    ) throws(RuntimeDirectoryError) -> RuntimePaths {
        if try isTemporary(root) {
            try removeSegmentsFile(in: root)
            return RuntimePaths(root: root.path)
        }
        // Not ours and sticky: only what lies below it is verified.
        guard
            (try? FileDescriptor.openDirectory(sharedMemory).fileSystemStatus())?.isTemporary
                == true
        else { throw .noSharedMemory("\(root.path) (and \(sharedMemory))") }
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

    /// Device and inode in hex: another directory at the same path has another name.
    private static func name(
        of directory: borrowing VerifiedDirectory
    ) throws(RuntimeDirectoryError) -> String {
        do throws(Errno) {
            let status = try directory.descriptor.status()
            return "\(String(status.device, radix: 16))-\(String(status.inode, radix: 16))"
        } catch {
            throw .system(directory.path, error)
        }
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
            // Looked for first: where nothing is to be removed, nobody needs to be allowed to.
            _ = try root.descriptor.status(of: name)
            try root.descriptor.unlink(name)
        } catch .noSuchFile {
        } catch {
            throw .system("\(root.path)/\(name)", error)
        }
    }
}
