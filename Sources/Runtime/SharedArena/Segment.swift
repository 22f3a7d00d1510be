import ImageModel
import Linux
import Messages

/// A segment from its producer's side: mapped for writing, unlinked at the end of its use.
final class Segment {
    let number: UInt32
    let byteCount: Int
    private let memory: MappedMemory

    /// Creates the file (`O_EXCL`), reserves all of it, maps it and touches every page once.
    init(
        in directory: borrowing FileDescriptor, name: SegmentName, byteCount: Int, mode: UInt32
    ) throws(Errno) {
        let fileName = name.fileName
        let file = try directory.open(
            fileName, [.readWrite, .create, .exclusive, .noFollow], mode: mode)
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
    }

    /// Valid while the segment lives.
    var bytes: UnsafeMutableRawBufferPointer { memory.mutableBytes }
}
