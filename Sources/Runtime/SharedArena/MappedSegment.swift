import Linux
public import Messages

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
