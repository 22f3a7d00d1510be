import Linux
import Messages

/// The bytes of an image: a copy below 1 MiB, a mapping of shared memory from there on, which the
/// stack may use again once this object has gone; memory of its own, however large, where they came
/// in pieces. Any thread; read-only.
public final class ImageBytes: Sendable {
    /// A class, because a noncopyable value cannot be an optional property that is borrowed.
    private final class Mapping: Sendable {
        let memory: MappedMemory
        let offset: Int

        init(_ memory: consuming MappedMemory, offset: Int) {
            self.memory = memory
            self.offset = offset
        }
    }

    private let copy: CopyBuffer
    private let mapping: Mapping?
    private let release: (@Sendable () -> Void)?
    /// How many.
    public let count: Int

    init(_ copy: consuming CopyBuffer) {
        (mapping, release) = (nil, nil)
        count = copy.count
        self.copy = copy
    }

    /// What came in pieces.
    convenience init(_ pieces: [UInt8]) { self.init(CopyBuffer(of: pieces)) }

    init(
        mapped memory: consuming MappedMemory, offset: Int, count: Int,
        release: @escaping @Sendable () -> Void
    ) {
        copy = CopyBuffer()
        mapping = Mapping(memory, offset: offset)
        self.release = release
        self.count = count
    }

    deinit { release?() }

    /// Lends the bytes; they are valid within the call only.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(lastingBytes)
    }

    /// The bytes where they lie, valid and unchanged for as long as this object lives.
    public var lastingBytes: UnsafeRawBufferPointer {
        guard let mapping else { return copy.bytes }
        let payload = mapping.memory.bytes[mapping.offset..<(mapping.offset + count)]
        return UnsafeRawBufferPointer(rebasing: payload)
    }

    /// Whether they are a mapping of shared memory, which cannot be written.
    package var isMapped: Bool { mapping != nil }

    /// Bytes of memory that it holds.
    var heldBytes: Int { mapping == nil ? copy.heldBytes : count }

    /// The same bytes in memory of this process, so that nothing of the stack is held.
    var ofThisProcess: ImageBytes { mapping == nil ? self : ImageBytes(array) }

    /// A copy.
    public var array: [UInt8] { withUnsafeBytes { Array($0) } }
}
