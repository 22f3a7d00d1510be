public import ImageModel
public import Linux
public import Messages

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
