import Linux
public import Messages
public import ZeroMQ

/// The one wait of a thread: sockets and descriptors by `zmq_poll`, timers as its timeout.
///
/// The owner keeps the sources and the state; the loop only says which of them are ready. A turn
/// is: do what is due, `wait(until:)` the next deadline, then drain each ready source *up to a
/// budget*, so that one noisy peer starves neither timers nor others. What is left is found by the
/// next wait, which is level-triggered.
public struct EventLoop: ~Copyable {
    /// What one wait found.
    public struct Turn: Hashable, Sendable {
        /// When it ended: the clock reading for everything that the turn does.
        public let wokenAt: Instant
        /// What to drain.
        public let ready: ReadySources
    }

    /// The most sources that a loop may have; each costs about 100 ns a turn.
    public static let sourcesMax = 63

    private var polls: PollSet
    /// Ends a wait at its deadline. nil where the system gives none: the waits themselves end then.
    private var alarm: LoopAlarm?

    /// Makes a loop for at most so many sources (1...`sourcesMax`).
    public init(sourcesMax: Int) {
        precondition((1...Self.sourcesMax).contains(sourcesMax), "a loop has 1 to 63 sources")
        polls = PollSet(capacity: sourcesMax + 1)
        guard let timer = try? TimerDescriptor() else { return }
        alarm = LoopAlarm(index: polls.add(descriptor: timer.descriptor.number), timer)
    }

    /// Watches a socket for messages; it must live until it is removed or the loop ends.
    public mutating func add(_ socket: borrowing Socket) -> EventSource {
        EventSource(index: polls.add(socket))
    }

    /// Watches a descriptor for input; it must stay open until it is removed or the loop ends.
    public mutating func add(descriptor number: Int32) -> EventSource {
        EventSource(index: polls.add(descriptor: number))
    }

    /// Watches it no longer; a source that is added later may take its place.
    public mutating func remove(_ source: EventSource) {
        polls.remove(at: source.index)
    }

    /// Stops or resumes watching, for example while there is no room for what would be read.
    public mutating func setWatching(_ source: EventSource, _ isWatching: Bool) {
        polls.setInterest(at: source.index, readable: isWatching, writable: false)
    }

    /// Waits for a source or for the deadline; nil waits without limit.
    ///
    /// Ends up to a millisecond after the deadline, never before it unless a source is ready or a
    /// signal came in between (no source is ready then). Throws `terminated` after a shutdown of
    /// the context.
    public mutating func wait(until deadline: Instant?) throws(ZMQError) -> Turn {
        while true {
            let outcome = try polls.wait(milliseconds: milliseconds(until: deadline))
            let now = Instant.now()
            var ready = ReadySources()
            if case .ready = outcome {
                for index in 0..<polls.capacity where polls.isReadable(at: index) {
                    ready.insert(index)
                }
            }
            guard let index = alarm?.index, ready.remove(index) else {
                return Turn(wokenAt: now, ready: ready)
            }
            alarm?.stop()
            // It may have been set for an earlier deadline that was given up since.
            if !ready.isEmpty || deadline.map({ $0 <= now }) == true {
                return Turn(wokenAt: now, ready: ready)
            }
        }
    }

    /// How long the wait itself may last: for ever where the alarm ends it.
    private mutating func milliseconds(until deadline: Instant?) -> Int? {
        guard let deadline else { return nil }
        if alarm?.isSet(by: deadline) == true { return nil }
        let left = Self.milliseconds(until: deadline)
        return left > 0 && alarm?.set(deadline) == true ? nil : left
    }

    /// The time since the last turn's reading has been spent on work: read the clock again.
    private static func milliseconds(until deadline: Instant) -> Int {
        min(deadline.milliseconds(since: .now()), 3_600_000)
    }
}
