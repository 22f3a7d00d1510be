public import ImageModel
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
