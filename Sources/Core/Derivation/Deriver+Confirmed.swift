import Dispatching
package import ImageModel
import Messages

// What origins say of caching as they confirm what is kept (SEMANTICS §6.7).
extension Deriver {
    /// The origin has nothing new. What is kept with the marks of the source's waiters lives anew.
    mutating func tellConfirmed(_ node: SourceNode.ID, _ answer: ImageError) {
        guard let caching = answer.confirmedCaching else { return }
        let said = Confirmation(caching: caching, isWhole: false)
        let marks = sources[node].consumers.members.compactMap { decodes[$0].name.origin.mark }
        for mark in Set(marks) { tell(said, of: mark, at: node) }
    }

    /// The origin sent the bytes with that mark once more.
    mutating func tellSame(_ node: SourceNode.ID, as mark: BodyMark) {
        guard let caching = sources[node].kept?.fetched?.caching else { return }
        tell(Confirmation(caching: caching, isWhole: true), of: mark, at: node)
    }

    /// Has the cache keep what the origin says now with the entries of these texts, as far as they
    /// are of the same bytes, so that nobody asks again after a restart. Nobody waits for it; where
    /// the cache has no room for another job, a later question costs as much. `fromOrigin`: whether
    /// the origin has just said so; then external caches are told as well.
    package mutating func renew(
        _ texts: Set<String>, _ mark: BodyMark, _ caching: OriginCaching, fromOrigin: Bool
    ) {
        guard mark != .none else { return }
        for text in texts.subtracting(renewing).sorted() where dispatcher.hasRoom(.cache) {
            var work = EntryWork(action: .renew, key: text, tiers: .all)
            work.renewal = Validity(
                expiry: caching.leavesLifetimeOpen ? nil : caching.expiry(.shared),
                caching: caching, etag: mark.etag, lastModified: mark.lastModified)
            work.staysOwn = !fromOrigin
            guard fromOrigin || layout.hasOwn(text) else { continue }
            renewing.insert(text)
            _ = submit(.entry(work), for: .renewal(text), reading: nil, .unbounded(.low))
        }
    }

    private mutating func tell(
        _ said: Confirmation, of mark: BodyMark, at node: SourceNode.ID
    ) {
        guard mark != .none else { return }
        for text in sources[node].storing.originals.texts { tell(.confirmed(text, mark, said)) }
    }
}
