/// The shared memory directory that contains a segment (PROTOCOL §10).
public enum ArenaName: UInt8, Hashable, Sendable, CaseIterable {
    /// `arena/<pool of the producer>/`, opened by the stages that read it.
    case stage = 0
    /// `results/`, written by the cache and read by clients.
    case results = 1
}

/// The location of bytes in shared memory, without their meaning. The coordinator sets the producer
/// from the connection; any claim by the worker is ignored.
public struct BlockReference: Hashable, Sendable {
    /// The pool and incarnation of the process that wrote the segment. `nil` in messages from a
    /// worker.
    public var producer: Producer?
    /// The directory.
    public var arena: ArenaName
    /// The number of the segment among those of the producer.
    public var segment: UInt32
    /// The offset of the payload within the segment, in bytes.
    public var offset: UInt64
    /// The length of the payload in bytes.
    public var length: UInt64
    /// The block that contains the payload.
    public var block: BlockID

    /// A process that writes segments.
    public struct Producer: Hashable, Sendable {
        /// The kind of process, from the directory in which it connected.
        public var kind: WorkerKind
        /// The incarnation, from its `Hello`.
        public var incarnation: Incarnation
        /// The pool, from the same directory; part of the names of its segments.
        public var pool: PoolName

        /// Creates a producer; by default in the built-in pool of its kind.
        public init(kind: WorkerKind, incarnation: Incarnation, pool: PoolName? = nil) {
            self.kind = kind
            self.incarnation = incarnation
            self.pool = pool ?? PoolName(kind)
        }
    }

    /// Creates a reference.
    public init(
        producer: Producer? = nil, arena: ArenaName = .stage, segment: UInt32, offset: UInt64,
        length: UInt64, block: BlockID
    ) {
        self.producer = producer
        self.arena = arena
        self.segment = segment
        self.offset = offset
        self.length = length
        self.block = block
    }
}

/// A segment created by a producer; references to unannounced segments are rejected.
public struct SegmentAnnouncement: Hashable, Sendable {
    /// The directory.
    public var arena: ArenaName
    /// The number, never reused by the producer.
    public var number: UInt32
    /// The size in bytes, which never changes.
    public var size: UInt64

    /// Creates an announcement.
    public init(arena: ArenaName, number: UInt32, size: UInt64) {
        self.arena = arena
        self.number = number
        self.size = size
    }
}

/// An ordered list optimized for one element: the first is stored inline, so that a list of one
/// allocates no memory.
public struct ShortList<Element> {
    @usableFromInline var head: Element?
    @usableFromInline var tail: [Element] = []

    /// Creates a list of one element or none.
    @inlinable public init(_ element: Element? = nil) { head = element }

    /// Creates a list of all elements.
    @inlinable public init(contentsOf elements: some Sequence<Element>) {
        for element in elements { append(element) }
    }

    /// Appends an element.
    @inlinable public mutating func append(_ element: Element) {
        if head == nil { head = element } else { tail.append(element) }
    }
}

extension ShortList: Sendable where Element: Sendable {}

extension ShortList: RandomAccessCollection {
    /// The index of the first element.
    @inlinable public var startIndex: Int { 0 }

    /// The index after the last element.
    @inlinable public var endIndex: Int { head == nil ? 0 : 1 + tail.count }

    /// The element at a valid index.
    @inlinable public subscript(index: Int) -> Element {
        guard index == 0 else { return tail[index - 1] }
        guard let head else { preconditionFailure("an empty list has no first element") }
        return head
    }
}
