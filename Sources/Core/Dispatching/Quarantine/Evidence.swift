/// What is held against content (SEMANTICS §7.5).
package enum Evidence: Hashable, Sendable {
    /// It ended a worker, kept its loop from turning, or used more of the processors than any image
    /// takes; or the image was not what the worker said.
    case crash
    /// Its worker vanished without a record, as one does that the kernel kills for its memory.
    case loss
    /// A decoder used up the time that it was given, or had to be ended with its process. An honest
    /// image may do so on a busy machine, so it takes more of these.
    case overrun

    /// What it counts.
    var weight: Int {
        switch self {
        case .crash, .loss: 2
        case .overrun: 1
        }
    }
}
