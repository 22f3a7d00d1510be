/// Allocates the output of a stage in the worker's shared memory. Thread-safe.
///
/// Allocation never blocks: failure ends the job with `arenaFull` (SEMANTICS §9.5).
public protocol OutputSpace: AnyObject, Sendable {
    /// Allocates at least `bytes` (1 or more) that are contiguous, 64-byte aligned and
    /// uninitialized. Throws `arenaFull`. The caller owns the block until it is transferred by an
    /// outcome or discarded.
    func reserve(_ bytes: Int) throws(ImageError) -> OutputBlock
    /// Returns a block of at least `bytes` that begins with the first `keeping` bytes of `block`,
    /// which is discarded unless it is large enough itself. If this throws, the caller still owns
    /// `block`.
    func resize(_ block: OutputBlock, to bytes: Int, keeping: Int) throws(ImageError)
        -> OutputBlock
    /// Frees a block that no outcome refers to.
    func discard(_ block: OutputBlock)
}

extension OutputSpace {
    /// The default for spaces whose blocks can't grow in place: copies the bytes to a new block.
    public func resize(_ block: OutputBlock, to bytes: Int, keeping: Int) throws(ImageError)
        -> OutputBlock
    {
        guard bytes > block.bytes.count else { return block }
        let larger = try reserve(bytes)
        larger.bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: block.bytes[..<keeping]))
        discard(block)
        return larger
    }
}

/// An output space in which bytes can be shared while more are written after them.
public protocol SharingSpace: OutputSpace {
    /// Returns another block for the same bytes under a separate ID. Both blocks are released
    /// independently, and the memory is freed with the last one. Returns `nil` if the block doesn't
    /// exist.
    func share(_ block: OutputBlock) -> OutputBlock?
    /// Returns whether a block has not been released yet.
    func isInUse(_ id: BlockID) -> Bool
}

// Unchecked: the value only refers to memory, and only its single owner accesses the bytes.
/// Writable bytes of shared memory.
public struct OutputBlock: @unchecked Sendable {
    /// The ID used in references.
    public let id: BlockID
    /// The directory that contains its segment.
    public let arena: ArenaName
    /// The number of the segment.
    public let segment: UInt32
    /// The offset of the first writable byte in the segment, in bytes.
    public let offset: UInt64
    /// The writable bytes; at least as many as requested.
    public let bytes: UnsafeMutableRawBufferPointer

    /// Creates a block; for implementations of `OutputSpace` only.
    public init(
        id: BlockID, arena: ArenaName, segment: UInt32, offset: UInt64,
        bytes: UnsafeMutableRawBufferPointer
    ) {
        self.id = id
        self.arena = arena
        self.segment = segment
        self.offset = offset
        self.bytes = bytes
    }

    /// Returns the format of the first `length` bytes, by their signature; `nil` if unrecognized.
    public func format(length: Int) -> ImageFormat? {
        let filled = UnsafeRawBufferPointer(rebasing: bytes.prefix(length))
        let format = ImageFormat(file: filled.bindMemory(to: UInt8.self).span)
        return format == .undefined ? nil : format
    }

    /// Returns a reference to the first `length` bytes for an outcome.
    public func reference(length: Int) -> BlockReference {
        precondition(length >= 0 && length <= bytes.count, "a reference must lie within its block")
        return BlockReference(
            arena: arena, segment: segment, offset: offset, length: UInt64(length), block: id)
    }
}

extension ImageError {
    /// Returns the description of a library error for the detail `reason`: one line of at most 200
    /// characters.
    public static func reason(_ error: some Error) -> String {
        String("\(error)".prefix(200).map { $0.isNewline ? " " : $0 })
    }
}
