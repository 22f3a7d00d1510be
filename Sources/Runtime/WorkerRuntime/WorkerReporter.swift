import EventLoop
public import Linux
public import Messages

/// What an executor tells the bus thread.
public enum WorkerReport: Sendable {
    /// A job ended.
    case outcome(JobOutcome)
    /// Something else that the coordinator should hear: progress, `stored`, `evicted`.
    case message(WorkerMessage)
    /// Everything is written.
    case flushed
    /// The executor wants to be called on the bus thread.
    case attend
}

/// The way from an executor's threads to the bus thread. Any thread.
public final class WorkerReporter: Sendable {
    let mailbox: Mailbox<WorkerReport>

    /// Room for all outcomes of the credit, and for notices.
    public init() throws(Errno) { mailbox = try Mailbox(elementsMax: 65_536) }

    /// The end of a job. A precondition: reports are bounded by credit, so there is room.
    public func finish(_ outcome: JobOutcome) {
        let isPosted = mailbox.post(.outcome(outcome))
        precondition(isPosted, "outcomes are bounded by credit")
    }

    /// A notice; one that finds no room is dropped, which progress allows. Whether it found some.
    @discardableResult
    public func tell(_ message: WorkerMessage) -> Bool { mailbox.post(.message(message)) }

    /// Has `JobExecutor.attend` called on the bus thread.
    public func attend() { _ = mailbox.post(.attend) }

    /// Everything is written.
    public func flushed() { _ = mailbox.post(.flushed) }
}
