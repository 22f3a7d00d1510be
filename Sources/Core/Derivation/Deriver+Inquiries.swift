import Dispatching
package import ImageModel
package import Messages

// What somebody wants to know of an entry of the cache, or to have done to it.
extension Deriver {
    /// A job of the cache, in class high: somebody waits at a terminal. What is on its way to an
    /// entry that is removed is not kept. Its answer is an event.
    package mutating func inquire(_ work: EntryWork) throws(ImageError) -> JobID {
        guard dispatcher.hasRoom(.cache) else { throw .busy("the cache is busy") }
        switch work.action {
        case .contains: break
        case .remove: endTranscodes(of: work.key, for: work.tiers)
        case .clear: endTranscodes { !$0.entry.tiers.isDisjoint(with: work.tiers) }
        }
        return submit(.entry(work), for: .inquiry, reading: nil, .unbounded(.high))
    }

    /// Nobody waits for the answer any more; what is queued is dropped.
    package mutating func dropInquiry(_ job: JobID) { abandon(job) }
}
