public import ImageModel
public import Linux
public import Messages

/// Reads other processes' blocks by mapping them: for decoders and transformers, which are
/// sandboxed (SEMANTICS §14.5). One thread.
public final class BlockReader {
    private let mappings: SegmentMappings

    /// Reads below these directories.
    public init(directories: SegmentDirectories) {
        mappings = SegmentMappings(directories: directories)
    }

    /// The payload. Valid until the next call, and as long as its producer does not free the block.
    ///
    /// Throws `stale` where the segment is gone, or not what the reference says.
    public func bytes(of reference: BlockReference) throws(ImageError) -> UnsafeRawBufferPointer {
        try mappings.bytes(of: reference)
    }

    /// Between two jobs: keeps mapped what the next one may need, but not much of a small tmpfs.
    public func trim() { mappings.trim() }

    /// Lets go of segments that their producers have unlinked: nobody else can use that memory.
    public func forgetUnlinked() { mappings.dropUnlinked() }
}

/// Reads other processes' blocks with `pread` into memory of our own: for the cache, which trusts
/// no writer (SEMANTICS §14.5). Any thread; keeps nothing open.
public struct BlockCopier: Sendable {
    private let directories: SegmentDirectories

    /// Reads below these directories.
    public init(directories: SegmentDirectories) { self.directories = directories }

    /// Looks whether the bytes are there. Throws `stale` where they are not.
    public func check(_ reference: BlockReference) throws(ImageError) {
        _ = try SegmentOpening.open(reference, in: directories)
    }

    /// Copies the payload to the start of `target`, which must be large enough.
    ///
    /// Throws `stale` where the segment is gone, or shorter than the reference says.
    public func copy(
        _ reference: BlockReference, into target: UnsafeMutableRawBufferPointer
    ) throws(ImageError) {
        let count = Int(reference.length)
        precondition(count <= target.count, "the target holds the payload")
        let file = try SegmentOpening.open(reference, in: directories)
        let payload = UnsafeMutableRawBufferPointer(rebasing: target[..<count])
        let read: Int
        do throws(Errno) {
            read = try file.readFully(into: payload, at: Int(reference.offset))
        } catch {
            throw ImageError(.internalError, "a segment cannot be read: \(error)")
        }
        guard read == count else {
            throw ImageError(.stale, "a segment ended \(count - read) bytes early")
        }
    }
}

/// Takes delivered results out of `results/`: a checked copy below 1 MiB, a mapping of its own from
/// there on (SEMANTICS §14.6). One thread.
public final class ResultReader {
    private let directories: SegmentDirectories
    private let mappings: SegmentMappings

    /// Reads in this directory.
    public init(resultsDirectory: String) {
        directories = SegmentDirectories(arenas: "", results: resultsDirectory)
        mappings = SegmentMappings(directories: directories)
    }

    /// Whether a result of this size is mapped, and so has to be released.
    public static func isLarge(_ reference: BlockReference) -> Bool {
        reference.length >= UInt64(ArenaLimits.largePayload)
    }

    /// A copy of the payload, or `nil` where the block was reused meanwhile, or leaves its segment
    /// (*stale*).
    ///
    /// Throws `stale` where the segment is gone.
    public func copy(_ reference: BlockReference) throws(ImageError) -> [UInt8]? {
        defer { forget(reference) }
        var copied: [UInt8] = []
        let isCurrent = try segment(of: reference).read(reference) { copied = [UInt8]($0) }
        return isCurrent ? copied : nil
    }

    /// The segment of a result, which stays mapped until others are needed, or until `forget`.
    ///
    /// Throws `stale` where it is gone.
    public func segment(of reference: BlockReference) throws(ImageError) -> MappedSegment {
        try mappings.segment(of: reference)
    }

    /// A copy of `count` bytes of the payload from `offset` on, or `nil` where the block was reused
    /// meanwhile, or leaves its segment (*stale*). The segment stays mapped until `forget`.
    ///
    /// Throws `stale` where the segment is gone.
    public func copy(
        _ reference: BlockReference, at offset: UInt64, count: Int
    ) throws(ImageError) -> [UInt8]? {
        precondition(
            offset <= reference.length && UInt64(count) <= reference.length - offset,
            "a part lies within its payload")
        var copied: [UInt8] = []
        let isCurrent = try segment(of: reference).read(reference) { source in
            copied = [UInt8](source[Int(offset)..<(Int(offset) + count)])
        }
        return isCurrent ? copied : nil
    }

    /// A result is not read any more. A large one has a segment of its own, which nobody asks for
    /// again.
    public func forget(_ reference: BlockReference) {
        if Self.isLarge(reference) { mappings.forget(reference) }
    }

    /// A mapping of the whole segment of a large result; the payload begins at the reference's
    /// offset. `nil` where the segment holds another block by now (*stale*).
    public func map(_ reference: BlockReference) throws(ImageError) -> MappedMemory? {
        let file = try SegmentOpening.open(reference, in: directories)
        do throws(Errno) {
            let memory = try MappedMemory(file, count: try file.status().size, access: .readOnly)
            guard let base = memory.bytes.baseAddress,
                BlockHeader.isStill(
                    reference.block.value,
                    at: base + Int(reference.offset) - BlockHeader.byteCount)
            else { return nil }
            return memory
        } catch {
            throw ImageError(.internalError, "a result cannot be mapped: \(error)")
        }
    }
}

/// Read-only mappings of other processes' segments, kept warm. One thread.
///
/// Bounded: the least recently used mapping goes first, and mappings of unlinked segments, which
/// hold memory that nobody else can use, go whenever a new one is made.
final class SegmentMappings {
    private final class Mapping {
        let segment: MappedSegment
        var lastUse: UInt64

        init(_ segment: MappedSegment, lastUse: UInt64) {
            (self.segment, self.lastUse) = (segment, lastUse)
        }
    }

    private let directories: SegmentDirectories
    private let mappingsMax: Int
    private var mappings: [SegmentKey: Mapping] = [:] {
        didSet { last = nil }
    }
    /// What was asked for last, which is what is mostly asked for next.
    private var last: (key: SegmentKey, mapping: Mapping)?
    private var uses: UInt64 = 0
    /// Bytes that stay mapped between two jobs: what is unlinked by its producer meanwhile is
    /// nobody's to use. Known once a segment was opened.
    private var idleBytesMax = Int.max

    init(directories: SegmentDirectories, mappingsMax: Int = 64) {
        self.directories = directories
        self.mappingsMax = mappingsMax
    }

    /// The payload and, 64 bytes before it, its header. Valid until the next call.
    func bytes(of reference: BlockReference) throws(ImageError) -> UnsafeRawBufferPointer {
        guard let bytes = try segment(of: reference).bytes(of: reference) else {
            throw ImageError(.stale, "a reference leaves its segment")
        }
        return bytes
    }

    /// The segment that a reference names.
    func segment(of reference: BlockReference) throws(ImageError) -> MappedSegment {
        let key = SegmentKey(reference)
        uses += 1
        if let last, last.key == key {
            last.mapping.lastUse = uses
            return last.mapping.segment
        }
        if let known = mappings[key] {
            known.lastUse = uses
            last = (key, known)
            return known.segment
        }
        let file = try SegmentOpening.open(reference, in: directories)
        dropUnlinked()
        makeRoom()
        do throws(Errno) {
            let count = try file.status().size
            idleBytesMax = Int(clamping: try file.fileSystemStatus().totalBytes / 32)
            let made = try MappedSegment(file, count: count)
            mappings[key] = Mapping(made, lastUse: uses)
            return made
        } catch {
            throw ImageError(.internalError, "a segment cannot be mapped: \(error)")
        }
    }

    /// Lets go of mappings that hold memory which nobody else can use.
    func dropUnlinked() { mappings = mappings.filter { !$0.value.segment.isUnlinked } }

    /// Unmaps the segment of a reference.
    func forget(_ reference: BlockReference) { mappings[SegmentKey(reference)] = nil }

    /// Between two jobs: keeps no more than a 32nd of the file system, the newest first.
    func trim() {
        var bytes = 0
        for (key, mapping) in mappings.sorted(by: { $0.value.lastUse > $1.value.lastUse }) {
            bytes += mapping.segment.memory.count
            if bytes > idleBytesMax { mappings[key] = nil }
        }
    }

    private func makeRoom() {
        while mappings.count >= mappingsMax,
            let oldest = mappings.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            mappings[oldest.key] = nil
        }
    }
}

/// A read-only mapping of another process's segment. Any thread.
public final class MappedSegment: Sendable {
    let memory: MappedMemory
    private let file: FileDescriptor

    init(_ file: consuming FileDescriptor, count: Int) throws(Errno) {
        memory = try MappedMemory(file, count: count, access: .readOnly)
        self.file = file
    }

    /// Whether its producer has given it up: it holds memory then that nobody else can use.
    public var isUnlinked: Bool { (try? file.status().links) ?? 0 == 0 }

    /// The payload of a reference and, 64 bytes before it, its header; `nil` where it leaves the
    /// segment.
    func bytes(of reference: BlockReference) -> UnsafeRawBufferPointer? {
        guard SegmentOpening.contains(memory.count, reference) else { return nil }
        let start = Int(reference.offset)
        return UnsafeRawBufferPointer(
            rebasing: memory.bytes[start..<(start + Int(reference.length))])
    }

    /// Lends the payload to whoever copies it. `false` where the block was reused meanwhile
    /// (*stale*), and what was copied is worth nothing; and where the reference leaves the segment,
    /// which lends nothing.
    public func read(
        _ reference: BlockReference, _ copy: (UnsafeRawBufferPointer) -> Void
    ) -> Bool {
        guard let source = bytes(of: reference), let start = source.baseAddress else {
            return false
        }
        copy(source)
        return BlockHeader.isStill(reference.block.value, at: start - BlockHeader.byteCount)
    }
}

/// One segment of one producer.
struct SegmentKey: Hashable, Sendable {
    let producer: BlockReference.Producer?
    let arena: ArenaName
    let number: UInt32

    init(_ reference: BlockReference) {
        producer = reference.producer
        arena = reference.arena
        number = reference.segment
    }
}

/// Opens a segment that a reference names, for reading.
enum SegmentOpening {
    private static let othersMayWrite: UInt32 = 0o022

    /// Builds the name from producer and number, and checks type, owner and size (PROTOCOL §10).
    ///
    /// Who writes into a directory is its owner, and nobody else may: so a segment is the
    /// producer's where it is the directory's owner's. Throws `stale` where the bytes are not
    /// there: the segment is gone, shorter than the reference says, or not the producer's;
    /// `internalError` for all else.
    static func open(
        _ reference: BlockReference, in directories: SegmentDirectories
    ) throws(ImageError) -> FileDescriptor {
        guard let producer = reference.producer else {
            throw ImageError(.internalError, "a reference names no producer")
        }
        let name = SegmentName(incarnation: producer.incarnation, number: reference.segment)
        let path = directories.path(of: reference.arena, producer: producer.pool)
        do throws(Errno) {
            let directory = try FileDescriptor.openDirectory(path)
            let place = try directory.status()
            guard place.mode & othersMayWrite == 0 else { throw Errno.notPermitted }
            // Does not wait where somebody put a pipe.
            let file = try directory.open(name.fileName, [.noFollow, .nonBlocking])
            let status = try file.status()
            guard status.type == .regular, status.userID == place.userID,
                contains(status.size, reference)
            else { throw Errno.invalidArgument }
            return file
        } catch .notPermitted {
            throw ImageError(
                .internalError, "\(path) lets others than its owner write: take that away")
        } catch .noSuchFile {
            throw ImageError(.stale, "segment \(name.fileName) is gone")
        } catch .invalidArgument {
            throw ImageError(
                .stale, "segment \(name.fileName) is not what the reference says")
        } catch {
            throw ImageError(.internalError, "segment \(name.fileName) cannot be read: \(error)")
        }
    }

    /// Whether header and payload lie within `size` bytes, without overflow.
    static func contains(_ size: Int, _ reference: BlockReference) -> Bool {
        let (end, overflow) = reference.offset.addingReportingOverflow(reference.length)
        return !overflow && end <= UInt64(max(0, size))
            && reference.offset >= UInt64(BlockHeader.byteCount)
    }
}
