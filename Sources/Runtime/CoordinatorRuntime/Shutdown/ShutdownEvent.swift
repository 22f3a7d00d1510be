/// What happens to a coordinator that is to end.
enum ShutdownEvent: Hashable {
    /// SIGTERM or SIGINT: the first begins the end, the next one ends at once. Whether another
    /// coordinator follows.
    case stopRequested(isReplaced: Bool)
    /// An operator wants another coordinator in the place of this one.
    case replacementRequested
    /// All admitted requests have their replies.
    case requestsEnded
    /// A worker was welcomed.
    case workerJoined
    /// What is left at the moment; asked for where the state `wantsCensus`.
    case counted(ShutdownCensus)
    /// Time passed.
    case tick
}

/// Who and what an ending coordinator waits for.
struct ShutdownCensus: Hashable {
    /// Sessions of clients at the front listener, and those of operators who asked for the end
    /// until they are heard again: libzmq drops what a receiver has not read when its connection
    /// ends.
    var clients: Int
    /// Jobs that workers have, or that wait for them.
    var jobs: Int
    /// Sessions of workers.
    var workers: Int
}

/// What an ending coordinator is to do, in order.
enum ShutdownAction: Hashable {
    /// Refuse new requests; `requestsEnded` follows when all admitted ones have ended.
    case admitNothing
    /// Have the workers that are there write what is unwritten, and end.
    case dismissWorkers
    /// Say how the end goes on.
    case report(Note)
    /// End the process. Once, last.
    case exit

    /// What is said of the end.
    enum Note: Hashable {
        /// It begins.
        case begun
        /// Requests took too long, and are sent again to the next coordinator, as after a death.
        case requestsLeft
        /// Workers took too long.
        case workersLeft
    }
}
