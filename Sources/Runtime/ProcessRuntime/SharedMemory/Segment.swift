public import Linux
public import Model

/// A segment from its producer's side: mapped for writing, and unlinked when it is no longer used.
final class Segment {
    let number: UInt32
    let byteCount: Int
    private let memory: MappedMemory
    /// The file whose lock shows that the producer is alive, if segments are locked.
    private let lockedFile: FileDescriptor?

    /// Creates the file (`O_EXCL`), reserves it in full, maps it and touches every page once.
    ///
    /// With `isLocked` the file stays locked as long as the segment and its process exist, so that
    /// leftovers of a killed process can be recognized (`OrphanSegments.removeOrphans`).
    init(
        in directory: borrowing FileDescriptor, name: SegmentName, byteCount: Int, isLocked: Bool
    ) throws(Errno) {
        let fileName = name.fileName
        let file: FileDescriptor
        do {
            // A process that removes unlocked files holds an exclusive lock meanwhile.
            if isLocked { try directory.lock(.shared) }
            defer { if isLocked { try? directory.unlock() } }
            file = try directory.open(
                fileName, [.readWrite, .create, .exclusive, .noFollow], mode: Self.mode)
            if isLocked { _ = try file.tryLock(.exclusive) }
        }
        memory = try .reserved(
            file, fileName, in: directory, mode: Self.mode, byteCount: byteCount)
        do throws(Errno) { try memory.populate() } catch {
            try? directory.unlink(fileName)
            throw error
        }
        number = name.number
        self.byteCount = byteCount
        if isLocked { lockedFile = consume file } else { lockedFile = nil }
    }

    /// Readable by the directory's group.
    private static let mode: UInt32 = 0o640

    /// Valid while the segment lives.
    var bytes: UnsafeMutableRawBufferPointer { memory.mutableBytes }
}

extension MappedMemory {
    /// Reserves a new file in full and maps it for writing; without space for it, removes it.
    /// The mode overrides the umask, since readers may be other users or have access through their
    /// group.
    static func reserved(
        _ file: borrowing FileDescriptor, _ name: String, in directory: borrowing FileDescriptor,
        mode: UInt32, byteCount: Int
    ) throws(Errno) -> MappedMemory {
        do throws(Errno) {
            try file.setMode(mode)
            try file.reserve(byteCount: byteCount)
            return try MappedMemory(file, count: byteCount, access: .readWrite)
        } catch {
            try? directory.unlink(name)
            throw error
        }
    }
}

/// A file of 64-bit little-endian numbers in shared memory, which only this process writes. They
/// are stored atomically, so readers see either the old or the new number.
struct NumberFile: ~Copyable {
    private let memory: MappedMemory
    private let directory: String
    private let name: String
    let base: UnsafeMutableRawPointer

    /// Creates the file, filled with zeros. Throws ENOSPC if the file system is full.
    init(_ name: String, in directory: String, mode: UInt32, byteCount: Int) throws(Errno) {
        let folder = try FileDescriptor.openDirectory(directory)
        let file = try folder.open(
            name, [.readWrite, .create, .exclusive, .noFollow], mode: mode)
        let memory = try MappedMemory.reserved(
            file, name, in: folder, mode: mode, byteCount: byteCount)
        guard let base = memory.mutableBytes.baseAddress else { throw .invalidArgument }
        (self.directory, self.name, self.base) = (directory, name, base)
        self.memory = memory
    }

    borrowing func store(_ value: UInt64, at offset: Int) {
        SharedAtomic.storeRelease(value.littleEndian, to: base + offset)
    }

    /// Removes the file, unless the supervisor has cleared the directory.
    borrowing func unlink() { try? FileDescriptor.openDirectory(directory).unlink(name) }
}

/// The file name of a segment: the producer's incarnation in hex, a dot, and the segment's number.
public struct SegmentName: Hashable, Sendable {
    /// The producer.
    public let incarnation: Incarnation
    /// The number of the segment, starting at 1; never reused by a producer.
    public let number: UInt32

    /// Creates the name of a segment.
    public init(incarnation: Incarnation, number: UInt32) {
        self.incarnation = incarnation
        self.number = number
    }

    /// Parses a file name; `nil` if it isn't the name of a segment.
    public init?(fileName: String) {
        let parts = fileName.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let bits = Identifier128(hex: String(parts[0])),
            let number = UInt32(parts[1]), String(number) == parts[1]
        else { return nil }
        self.init(incarnation: Incarnation(bits), number: number)
    }

    /// `0123456789abcdef0123456789abcdef.7`
    public var fileName: String { "\(incarnation.value.hex).\(number)" }
}

/// The 64 bytes before every payload: the block's ID, little-endian, followed by zeros.
///
/// A header is never authoritative (SEMANTICS §14.5); it only allows a reader of `results/` to
/// detect that a block was reused while it was copied.
enum BlockHeader {
    /// The size in bytes; keeps payloads aligned for vector code.
    static let byteCount = 64

    /// Call before the bytes change: readers that copy from now on find no ID.
    static func invalidate(_ header: UnsafeMutableRawPointer) {
        SharedAtomic.storeRelaxed(0, to: header)
        SharedAtomic.fenceRelease()
    }

    /// Call after the bytes are complete.
    static func publish(_ id: UInt64, at header: UnsafeMutableRawPointer) {
        SharedAtomic.storeRelease(id, to: header)
    }

    /// Call after a copy: returns whether the copied bytes belong to the block.
    static func isStill(_ id: UInt64, at header: UnsafeRawPointer) -> Bool {
        SharedAtomic.fenceAcquire()
        return SharedAtomic.loadRelaxed(header) == id
    }
}

/// Segments that outlived their producer.
public enum OrphanSegments {
    /// Unlinks every segment in `directory` that isn't locked, and returns their number; for
    /// directories in which all producers lock their segments. Waits while another process creates
    /// a segment.
    ///
    /// Throws `Errno.fileTooLarge` if there are more than 65,536 entries.
    public static func removeOrphans(in directory: String) throws(Errno) -> Int {
        let descriptor = try FileDescriptor.openDirectory(directory)
        try descriptor.lock(.exclusive)
        var removed = 0
        for entry in try descriptor.entries(entriesMax: 65_536)
        where SegmentName(fileName: entry) != nil {
            if isOrphaned(entry, in: descriptor), (try? descriptor.unlink(entry)) != nil {
                removed += 1
            }
        }
        return removed
    }

    /// Returns whether no process has locked the file. A file that is gone or can't be opened
    /// counts as in use.
    private static func isOrphaned(
        _ name: String, in directory: borrowing FileDescriptor
    ) -> Bool {
        guard let file = try? directory.open(name, [.noFollow, .nonBlocking]) else { return false }
        return (try? file.tryLock(.exclusive)) == true
    }
}
