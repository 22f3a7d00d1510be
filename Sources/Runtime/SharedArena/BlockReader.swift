public import ImageModel
public import Messages

/// Reads other processes' blocks by mapping them: for decoders and transformers, which are
/// sandboxed (DESIGN §4). One thread.
public final class BlockReader {
    private let mappings: SegmentMappings

    /// Reads below these directories; segments must belong to `owner`, where one is named.
    public init(directories: SegmentDirectories, owner: UInt32?) {
        mappings = SegmentMappings(directories: directories, owner: owner)
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
