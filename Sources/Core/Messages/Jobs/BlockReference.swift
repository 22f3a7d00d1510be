/// Which shared-memory directory a segment lies in (PROTOCOL §10).
public enum ArenaName: UInt8, Hashable, Sendable, CaseIterable {
    /// `arena/<pool of the producer>/`: opened by the stages that read it.
    case stage = 0
    /// `results/`: written by the cache, read by clients.
    case results = 1
}

/// Bytes in shared memory: where they are, not what they are. The producer is added by the
/// coordinator from the connection; what a worker claims of it is not read.
public struct BlockReference: Hashable, Sendable {
    /// Whose segments: pool and life of the process that wrote it. `nil` on the way from a worker.
    public var producer: Producer?
    /// The directory.
    public var arena: ArenaName
    /// Number of the segment among those of the producer.
    public var segment: UInt32
    /// Bytes from the start of the segment to the first byte of the payload.
    public var offset: UInt64
    /// Bytes of the payload.
    public var length: UInt64
    /// The block that holds it.
    public var block: BlockID

    /// A process that wrote segments.
    public struct Producer: Hashable, Sendable {
        /// Its kind, from the directory in which it connected.
        public var kind: WorkerKind
        /// Its life, from its `Hello`.
        public var incarnation: Incarnation
        /// Its pool, from the same directory; names that of its segments.
        public var pool: PoolName

        /// Names a producer; of the pool that every stack has of its kind, where none is named.
        public init(kind: WorkerKind, incarnation: Incarnation, pool: PoolName? = nil) {
            self.kind = kind
            self.incarnation = incarnation
            self.pool = pool ?? PoolName(kind)
        }
    }

    /// Names bytes of a segment.
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

/// A segment that a producer made; only announced segments may be referred to.
public struct SegmentAnnouncement: Hashable, Sendable {
    /// The directory.
    public var arena: ArenaName
    /// Its number, never reused by the producer.
    public var number: UInt32
    /// Its size in bytes, fixed for its life.
    public var size: UInt64

    /// Announces a segment.
    public init(arena: ArenaName, number: UInt32, size: UInt64) {
        self.arena = arena
        self.number = number
        self.size = size
    }
}

/// Elements in order where one is the rule: the first lies in place, so that a list of one takes no
/// memory of its own.
public struct ShortList<Element> {
    @usableFromInline var head: Element?
    @usableFromInline var tail: [Element] = []

    /// A list of one, or of none.
    @inlinable public init(_ element: Element? = nil) { head = element }

    /// A list of all of them.
    @inlinable public init(contentsOf elements: some Sequence<Element>) {
        for element in elements { append(element) }
    }

    /// Puts one behind all others.
    @inlinable public mutating func append(_ element: Element) {
        if head == nil { head = element } else { tail.append(element) }
    }
}

extension ShortList: Sendable where Element: Sendable {}

extension ShortList: RandomAccessCollection {
    /// The place of the first one.
    @inlinable public var startIndex: Int { 0 }

    /// The place behind the last one.
    @inlinable public var endIndex: Int { head == nil ? 0 : 1 + tail.count }

    /// The element at a place that there is.
    @inlinable public subscript(index: Int) -> Element {
        guard index == 0 else { return tail[index - 1] }
        guard let head else { preconditionFailure("an empty list has no first element") }
        return head
    }
}
