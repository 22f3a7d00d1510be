import Dispatching
package import ImageModel
import Messages

// Until when bytes may be used (SEMANTICS §6.5).
extension Deriver {
    /// Of what a worker brought; `nil` where it does not say how old that is.
    func expiry(of body: FetchedBody, at node: SourceNode.ID) -> HTTPExpiry? {
        guard let age = body.age, let terms = sources[node].name.origin.terms else { return nil }
        return HTTPExpiry(CacheControl(body.cacheControl), age, terms.role, staleLimits(terms))
    }

    private func staleLimits(_ terms: FetchTerms) -> HTTPExpiry.Limits {
        limits.expiry.replaced(by: terms.staleLimits).assuming(terms.assumedLifetime)
    }

    /// The origin has nothing new. What is kept with the marks of the source's waiters lives anew.
    mutating func tellConfirmed(_ node: SourceNode.ID, _ answer: ImageError) {
        guard let age = answer.confirmedAge, let terms = sources[node].name.origin.terms else {
            return
        }
        let said = Confirmation(
            control: answer.confirmedControl, age: age, role: terms.role, isWhole: false,
            limits: staleLimits(terms))
        let marks = sources[node].consumers.members.compactMap { decodes[$0].name.origin.mark }
        for mark in Set(marks) { tell(said, of: mark, at: node) }
    }

    /// The origin sent the bytes with that mark once more.
    mutating func tellSame(_ node: SourceNode.ID, as mark: BodyMark) {
        guard let body = sources[node].kept?.fetched, let age = body.age,
            let terms = sources[node].name.origin.terms
        else { return }
        let said = Confirmation(
            control: CacheControl(body.cacheControl), age: age, role: terms.role, isWhole: true,
            limits: staleLimits(terms))
        tell(said, of: mark, at: node)
    }

    /// Has the cache keep a new expiry with the entries of these texts, as far as they are of the
    /// same bytes, so that nobody asks again after a restart. Nobody waits for it; where the cache
    /// has no room for another job, a later question costs as much.
    package mutating func renew(_ texts: Set<String>, _ mark: BodyMark, _ expiry: HTTPExpiry) {
        guard mark != .none else { return }
        for text in texts.subtracting(renewing).sorted() where dispatcher.hasRoom(.cache) {
            var work = EntryWork(action: .renew, key: text, tiers: .all)
            work.renewal = Validity(
                expiry: expiry, etag: mark.etag, lastModified: mark.lastModified)
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
