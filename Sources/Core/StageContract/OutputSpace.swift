public import ImageModel
public import Messages
import Synchronization

/// Where a stage puts what it makes: the worker's shared memory. Thread-safe.
///
/// Allocation never waits: failure ends the job with `arenaFull` (SEMANTICS §9.5).
public protocol OutputSpace: AnyObject, Sendable {
    /// Reserves at least `bytes` (1 or more), contiguous, 64-byte aligned, uninitialised.
    /// Throws `arenaFull`. The block is the caller's until it is handed over in an outcome, or
    /// discarded.
    func reserve(_ bytes: Int) throws(ImageError) -> OutputBlock
    /// A block of at least `bytes` that begins with the first `keeping` bytes of `block`, which is
    /// discarded unless it is large enough itself. On a throw `block` is still the caller's.
    func resize(_ block: OutputBlock, to bytes: Int, keeping: Int) throws(ImageError)
        -> OutputBlock
    /// Gives a block back that no outcome names.
    func discard(_ block: OutputBlock)
}

extension OutputSpace {
    /// For spaces whose blocks do not grow where they are: the bytes are copied into another one.
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

/// An output space in which bytes can be handed over while more are written behind them.
public protocol SharingSpace: OutputSpace {
    /// Another block of the same bytes, under an id of its own: each of the two is given back by
    /// itself, and the bytes are free with the last of them. `nil` for a block that is not there.
    func share(_ block: OutputBlock) -> OutputBlock?
    /// Whether a block was not given back yet.
    func isInUse(_ id: BlockID) -> Bool
}

// Unchecked: a value that only names memory; its one owner alone touches the bytes.
/// Writable bytes of shared memory.
public struct OutputBlock: @unchecked Sendable {
    /// What a reference names it by.
    public let id: BlockID
    /// The directory of its segment.
    public let arena: ArenaName
    /// The segment's number.
    public let segment: UInt32
    /// Bytes from the start of the segment to the first writable byte.
    public let offset: UInt64
    /// The writable bytes; at least as many as were asked for.
    public let bytes: UnsafeMutableRawBufferPointer

    /// Made by an `OutputSpace` only.
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

    /// What the first `length` bytes look like, by their signature; `nil`: nothing that is known.
    public func format(length: Int) -> ImageFormat? {
        let filled = UnsafeRawBufferPointer(rebasing: bytes.prefix(length))
        let format = ImageFormat(file: filled.bindMemory(to: UInt8.self).span)
        return format == .undefined ? nil : format
    }

    /// A reference to the first `length` bytes, as it goes into an outcome.
    public func reference(length: Int) -> BlockReference {
        precondition(length >= 0 && length <= bytes.count, "a reference lies within its block")
        return BlockReference(
            arena: arena, segment: segment, offset: offset, length: UInt64(length), block: id)
    }
}

/// Set once by the bus thread, read by the work thread wherever it can stop.
public final class CancellationFlag: Sendable {
    private let state = Atomic<Bool>(false)

    /// Not cancelled.
    public init() {}

    /// Asks the work to stop. Idempotent; any thread.
    public func cancel() { state.store(true, ordering: .releasing) }

    /// Whether the work should stop. Any thread.
    public var isCancelled: Bool { state.load(ordering: .acquiring) }
}

extension ImageError {
    /// What a library says of its failure, for the detail `reason`: one line, of 200 characters at
    /// most.
    public static func reason(_ error: some Error) -> String {
        String("\(error)".prefix(200).map { $0.isNewline ? " " : $0 })
    }
}
