/// What the order of leaving may depend on.
package struct EvictionItem: Sendable, Hashable {
    /// Of its key: the same for every entry of one key.
    package let hash: UInt64
    /// What it takes, bytes.
    package let bytes: Int
    /// What it costs to make again, in any unit.
    package let work: Double

    /// Describes an entry.
    package init(hash: UInt64, bytes: Int, work: Double = 1) {
        self.hash = hash
        self.bytes = bytes
        self.work = work
    }
}

/// The order in which the entries of a tier leave it: slots, and nothing of what lies in them.
/// Whoever holds the entries asks for a victim and takes it out.
package protocol EvictionQueue: Sendable {
    /// An empty queue for a tier of so many bytes.
    init(bytesMax: Int)

    /// Entries.
    var count: Int { get }

    /// Takes an entry in, and answers the slot that names it until it is removed. Numbers of slots
    /// are small, and used again.
    mutating func insert(_ item: EvictionItem) -> Int32

    /// The entry was used.
    mutating func use(_ slot: Int32)

    /// The entry leaves, as a victim or for another reason.
    mutating func remove(_ slot: Int32, asVictim: Bool)

    /// The next one to go; `nil` where there is none.
    mutating func victim() -> Int32?
}
