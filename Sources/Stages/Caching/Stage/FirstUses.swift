internal import Messages
internal import XXHash

/// What is kept from the disk until it is asked for again (SEMANTICS §5.12, `disk-first-use`):
/// which keys were asked for lately, and what memory has that the disk has not.
struct FirstUses {
    /// What the disk gets once it is used.
    struct Withheld {
        let key: String
        let body: Body
        var metadata: StoredMetadata
        let stored: UnixTime
    }

    /// Keys that are remembered at least: they take 2 MiB.
    static let keysMax = 1 << 20

    // Made when it is first asked: most caches need none.
    private var asked: RecentKeys?
    private var withheld: [BlockID: Withheld] = [:]

    /// Notes that a key is asked for; whether it was before.
    mutating func note(_ key: String) -> Bool {
        var asked = asked.take() ?? RecentKeys(capacity: Self.keysMax)
        defer { self.asked = asked }
        return asked.note(XXH3.hash64(Array(key.utf8).span.bytes))
    }

    /// Memory has an entry that the disk has not.
    mutating func withhold(
        _ key: String, _ body: Body, _ metadata: StoredMetadata, _ now: UnixTime
    ) {
        withheld[body.reference.block] = Withheld(
            key: key, body: body, metadata: metadata, stored: now)
    }

    /// Hands out what a block has that the disk has not.
    mutating func take(_ block: BlockID) -> Withheld? {
        withheld.isEmpty ? nil : withheld.removeValue(forKey: block)
    }

    /// What the origin says of caching holds for what is withheld of a key, if that is of the same
    /// bytes.
    mutating func renew(_ key: String, _ renewal: Validity) {
        for (block, entry) in withheld where entry.key == key {
            withheld[block]?.metadata.renew(renewal)
        }
    }

    /// The block left memory.
    mutating func forget(_ block: BlockID) {
        if !withheld.isEmpty { withheld[block] = nil }
    }

    /// These keys are not to come to the disk.
    mutating func forget(_ matches: (String, _ tags: [String]?) -> Bool) {
        withheld = withheld.filter { !matches($0.value.key, $0.value.metadata.tags) }
    }
}
