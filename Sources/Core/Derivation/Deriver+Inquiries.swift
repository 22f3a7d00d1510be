import Dispatching
package import ImageModel
package import Messages

// What somebody wants to know of entries of the cache, or to have done to them.
extension Deriver {
    /// A job of the cache, in class high: somebody waits at a terminal. What is on its way to an
    /// entry that is removed begins anew. Its answer is an event.
    package mutating func inquire(_ work: EntryWork) throws(ImageError) -> JobID {
        guard dispatcher.hasRoom(.cache) else { throw .busy("the cache is busy") }
        let work = layout.expanded(work)
        let job = submit(.entry(work), for: .inquiry(work), reading: nil, .unbounded(.high))
        if work.action.removes { beginAfresh(after: work) }
        return job
    }

    /// Nobody waits for the answer any more; what is queued is dropped.
    package mutating func dropInquiry(_ job: JobID) { abandon(job) }
}
