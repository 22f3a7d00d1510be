public import Linux
public import Model

/// Reads other processes' blocks by mapping their segments, for sandboxed decoders and transformers
/// (SEMANTICS §14.5). Confined to one thread.
///
/// A bounded LRU cache of read-only mappings. Mappings of unlinked segments, which hold memory that
/// no other process can use, are removed whenever a new mapping is created.
public final class BlockReader {
    private final class Mapping {
        let segment: MappedSegment
        var lastUse: UInt64

        init(_ segment: MappedSegment, lastUse: UInt64) {
            (self.segment, self.lastUse) = (segment, lastUse)
        }
    }

    private let directories: SegmentDirectories
    private static let mappingsMax = 64
    private var mappings: [SegmentKey: Mapping] = [:] {
        didSet { last = nil }
    }
    /// The most recent mapping, which is usually the next one to be requested.
    private var last: (key: SegmentKey, mapping: Mapping)?
    private var uses: UInt64 = 0
    /// The maximum size of mappings kept between jobs, because segments that their producers unlink
    /// meanwhile can't be reclaimed. Determined when the first segment is opened.
    private var idleBytesMax = Int.max

    /// Creates a reader for these directories.
    public init(directories: SegmentDirectories) { self.directories = directories }

    /// Returns the payload, which is preceded by its 64-byte header. It is valid until the next
    /// call and as long as its producer does not free the block.
    ///
    /// Throws `stale` if the segment is gone or does not match the reference.
    public func bytes(of reference: BlockReference) throws(ImageError) -> UnsafeRawBufferPointer {
        guard let bytes = try segment(of: reference).bytes(of: reference) else {
            throw ImageError(.stale, "a reference exceeds its segment")
        }
        return bytes
    }

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
        forgetUnlinked()
        makeRoom()
        do throws(Errno) {
            let count = try file.status().size
            idleBytesMax = Int(clamping: try file.fileSystemStatus().totalBytes / 32)
            let mapped = try MappedSegment(file, count: count)
            mappings[key] = Mapping(mapped, lastUse: uses)
            return mapped
        } catch {
            throw ImageError(.internalError, "a segment cannot be mapped: \(error)")
        }
    }

    /// Unmaps segments that their producers have unlinked, since no other process can use that
    /// memory.
    public func forgetUnlinked() { mappings = mappings.filter { !$0.value.segment.isUnlinked } }

    /// Unmaps the segment of a reference.
    func forget(_ reference: BlockReference) { mappings[SegmentKey(reference)] = nil }

    /// Trims the mappings between jobs to 1/32 of the file system, keeping the newest: what the
    /// next job may need, but little of a small tmpfs.
    public func trim() {
        var bytes = 0
        for (key, mapping) in mappings.sorted(by: { $0.value.lastUse > $1.value.lastUse }) {
            bytes += mapping.segment.memory.count
            if bytes > idleBytesMax { mappings[key] = nil }
        }
    }

    private func makeRoom() {
        while mappings.count >= Self.mappingsMax,
            let oldest = mappings.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            mappings[oldest.key] = nil
        }
    }
}

/// Reads other processes' blocks with `pread` into private memory, for the cache, which trusts no
/// writer (SEMANTICS §14.5). May be used from any thread; keeps no files open.
public struct BlockCopier: Sendable {
    private let directories: SegmentDirectories

    /// Creates a copier for these directories.
    public init(directories: SegmentDirectories) { self.directories = directories }

    /// Checks that the bytes exist. Throws `stale` if they don't.
    public func check(_ reference: BlockReference) throws(ImageError) {
        _ = try SegmentOpening.open(reference, in: directories)
    }

    /// Copies the payload to the start of `target`, which must be large enough.
    ///
    /// Throws `stale` if the segment is gone or shorter than the reference states.
    public func copy(
        _ reference: BlockReference, into target: UnsafeMutableRawBufferPointer
    ) throws(ImageError) {
        let count = Int(reference.length)
        precondition(count <= target.count, "the target must be large enough for the payload")
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

/// Reads delivered results from `results/`: a verified copy below 1 MiB, a private mapping from
/// that size on (SEMANTICS §14.6). Confined to one thread.
public final class ResultReader {
    private let directories: SegmentDirectories
    private let mappings: BlockReader

    /// Creates a reader for this directory.
    public init(resultsDirectory: String) {
        directories = SegmentDirectories(arenas: "", results: resultsDirectory)
        mappings = BlockReader(directories: directories)
    }

    /// Returns whether a result of this size is mapped, and so must be released.
    public static func isLarge(_ reference: BlockReference) -> Bool {
        reference.length >= UInt64(ArenaLimits.largePayload)
    }

    /// Returns the segment of a result, which stays mapped until it is evicted by others or until
    /// `forget`.
    ///
    /// Throws `stale` if it is gone.
    public func segment(of reference: BlockReference) throws(ImageError) -> MappedSegment {
        try mappings.segment(of: reference)
    }

    /// Returns a copy of `count` bytes of the payload starting at `offset`, or `nil` if the block
    /// was reused meanwhile or exceeds its segment (*stale*). The segment stays mapped until
    /// `forget`.
    ///
    /// Throws `stale` if the segment is gone.
    public func copy(
        _ reference: BlockReference, at offset: UInt64, count: Int
    ) throws(ImageError) -> [UInt8]? {
        precondition(
            offset <= reference.length && UInt64(count) <= reference.length - offset,
            "a part must lie within its payload")
        var copied: [UInt8] = []
        let isCurrent = try segment(of: reference).read(reference) { source in
            copied = [UInt8](source[Int(offset)..<(Int(offset) + count)])
        }
        return isCurrent ? copied : nil
    }

    /// Unmaps a large result that is no longer read. Its segment holds no other block, so it isn't
    /// needed again.
    public func forget(_ reference: BlockReference) {
        if Self.isLarge(reference) { mappings.forget(reference) }
    }

    /// Maps the whole segment of a large result; the payload begins at the reference's offset.
    /// Returns `nil` if the segment holds another block by now (*stale*).
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

/// A read-only mapping of another process's segment. May be used from any thread.
public final class MappedSegment: Sendable {
    let memory: MappedMemory
    private let file: FileDescriptor

    init(_ file: consuming FileDescriptor, count: Int) throws(Errno) {
        memory = try MappedMemory(file, count: count, access: .readOnly)
        self.file = file
    }

    /// Whether its producer has unlinked it, so that it holds memory that no other process can use.
    public var isUnlinked: Bool { (try? file.status().links) ?? 0 == 0 }

    /// Returns the payload of a reference, preceded by its 64-byte header; `nil` if it exceeds the
    /// segment.
    func bytes(of reference: BlockReference) -> UnsafeRawBufferPointer? {
        guard SegmentOpening.contains(memory.count, reference) else { return nil }
        let start = Int(reference.offset)
        return UnsafeRawBufferPointer(
            rebasing: memory.bytes[start..<(start + Int(reference.length))])
    }

    /// Passes the payload to `copy`. Returns `false` if the block was reused meanwhile (*stale*),
    /// so that the copy must be discarded, or if the reference exceeds the segment, in which case
    /// `copy` is not called.
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

/// Identifies one segment of one producer.
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

/// Opens the segment of a reference for reading.
enum SegmentOpening {
    private static let othersMayWrite: UInt32 = 0o022

    /// Derives the name from the producer and the number, and checks type, owner and size
    /// (PROTOCOL §10).
    ///
    /// Only the owner of a directory can write to it, so a segment with the same owner was written
    /// by the producer. Throws `stale` if the bytes don't exist: the segment is gone, shorter than
    /// the reference states, or not the producer's; `internalError` for everything else.
    static func open(
        _ reference: BlockReference, in directories: SegmentDirectories
    ) throws(ImageError) -> FileDescriptor {
        guard let producer = reference.producer else {
            throw ImageError(.internalError, "a reference has no producer")
        }
        let name = SegmentName(incarnation: producer.incarnation, number: reference.segment)
        let path = directories.path(of: reference.arena, producer: producer.pool)
        do throws(Errno) {
            let directory = try FileDescriptor.openDirectory(path)
            let place = try directory.status()
            guard place.mode & othersMayWrite == 0 else { throw Errno.notPermitted }
            // Nonblocking, in case the file is a pipe.
            let file = try directory.open(name.fileName, [.noFollow, .nonBlocking])
            let status = try file.status()
            guard status.type == .regular, status.userID == place.userID,
                contains(status.size, reference)
            else { throw Errno.invalidArgument }
            return file
        } catch .notPermitted {
            throw ImageError(
                .internalError,
                "\(path) is writable by users other than its owner: remove that permission")
        } catch .noSuchFile {
            throw ImageError(.stale, "segment \(name.fileName) is gone")
        } catch .invalidArgument {
            throw ImageError(
                .stale, "segment \(name.fileName) does not match the reference")
        } catch {
            throw ImageError(.internalError, "segment \(name.fileName) cannot be read: \(error)")
        }
    }

    /// Returns whether header and payload lie within `size` bytes, without overflow.
    static func contains(_ size: Int, _ reference: BlockReference) -> Bool {
        let (end, overflow) = reference.offset.addingReportingOverflow(reference.length)
        return !overflow && end <= UInt64(max(0, size))
            && reference.offset >= UInt64(BlockHeader.byteCount)
    }
}
