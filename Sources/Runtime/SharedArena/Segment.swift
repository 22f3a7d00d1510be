import ImageModel
import Linux
import Messages

/// A segment from its producer's side: mapped for writing, unlinked at the end of its use.
final class Segment {
    let number: UInt32
    let byteCount: Int
    private let memory: MappedMemory
    /// Whose lock says that the producer lives, where there is one.
    private let lockedFile: FileDescriptor?

    /// Creates the file (`O_EXCL`), reserves all of it, maps it and touches every page once.
    ///
    /// With `isLocked` the file is locked as long as the segment and its process live: so others
    /// know what a process left that was killed (`OrphanSegments.removeForsaken`).
    init(
        in directory: borrowing FileDescriptor, name: SegmentName, byteCount: Int, mode: UInt32,
        isLocked: Bool = false
    ) throws(Errno) {
        let fileName = name.fileName
        let file: FileDescriptor
        if isLocked {
            file = try Self.createLocked(fileName, in: directory, mode: mode)
        } else {
            file = try Self.create(fileName, in: directory, mode: mode)
        }
        do {
            // Whatever the umask says: readers are in the group.
            try file.setMode(mode)
            try file.reserve(byteCount: byteCount)
            memory = try MappedMemory(file, count: byteCount, access: .readWrite)
            try memory.populate()
        } catch {
            try? directory.unlink(fileName)
            throw error
        }
        number = name.number
        self.byteCount = byteCount
        if isLocked { lockedFile = consume file } else { lockedFile = nil }
    }

    private static func create(
        _ name: String, in directory: borrowing FileDescriptor, mode: UInt32
    ) throws(Errno) -> FileDescriptor {
        try directory.open(name, [.readWrite, .create, .exclusive, .noFollow], mode: mode)
    }

    /// Who removes what is not locked holds the directory alone meanwhile.
    private static func createLocked(
        _ name: String, in directory: borrowing FileDescriptor, mode: UInt32
    ) throws(Errno) -> FileDescriptor {
        try directory.lock(.shared)
        defer { try? directory.unlock() }
        let file = try create(name, in: directory, mode: mode)
        _ = try file.tryLock(.exclusive)
        return file
    }

    /// Valid while the segment lives.
    var bytes: UnsafeMutableRawBufferPointer { memory.mutableBytes }
}
