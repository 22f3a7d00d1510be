import ImageModel
import Messages

/// What is wanted of a store. The policies of waiters that share a result are united.
struct StorePolicy: Hashable, Sendable {
    var tiers: CacheTypes
    var waitsForDisk: Bool
    /// That of the first waiter that wants the disk. Those of later ones do not count.
    var serializer = Serializer.asIs
    /// Tags of what is stored, besides those of the bytes that it is made of.
    var tags: [String] = []

    mutating func unite(_ other: StorePolicy) {
        if !tiers.contains(.disk) { serializer = other.serializer }
        tiers.formUnion(other.tiers)
        waitsForDisk = waitsForDisk || other.waitsForDisk
        CacheTag.unite(&tags, with: other.tags)
    }

    /// How what goes to the disk is encoded; `nil` where it goes as it is, or not at all.
    var output: OutputOptions? { tiers.contains(.disk) ? serializer.output : nil }

    /// The tiers that take the bytes as they are.
    var plainTiers: CacheTypes { output == nil ? tiers : tiers.subtracting(.disk) }

    /// Whether a store with this policy does for the other one. The serializers and tags may
    /// differ, as they may for an entry that is there.
    func covers(_ other: StorePolicy) -> Bool {
        other.tiers.isSubset(of: tiers) && (waitsForDisk || !other.waitsForDisk)
    }
}
