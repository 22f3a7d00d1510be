import ImageModel
import Messages

/// A hit of an external cache that enters our own (SEMANTICS §5.26).
struct Promotion: Sendable {
    /// Under which text our own cache keeps it.
    let text: String
    /// The tiers that it may enter.
    var tiers: CacheTypes
    /// Under which text it was found.
    let source: String
    /// The pool that had it.
    let pool: String
    /// What was stored with it.
    let metadata: StoredMetadata
    /// The changes that had ended as its query began.
    let since: UInt64

    /// Whether a store or a removal of entries makes it worthless. Of what age the bytes are is
    /// not known.
    func isVoided(by work: JobWork) -> Bool {
        switch work {
        case .store(let store):
            store.key.map { CacheKey.moved($0, to: "") } == CacheKey.moved(text, to: "")
        case .entry(let entry): entry.action.removes && isVoided(by: entry)
        case .query, .fetch, .decode, .transform, .paint: false
        }
    }

    /// The same of a removal.
    func isVoided(by work: EntryWork) -> Bool {
        [text, source].contains { work.means($0, tags: metadata.tags, ofAnyAge: true) }
    }
}
