import BusConnection
import EventLoop
import ImageModel
import Linux
import Messages
import Synchronization
import ZeroMQ

// A turn of the line: wait, take what came, send what is to go.
extension ClientLine {
    /// How the line ended.
    struct End {
        /// nil where it was closed.
        let error: (any Error)?
    }

    /// Whether nobody waits for anything and nothing is to be sent: the line can be left alone.
    var isIdle: Bool {
        end == nil && !isPending && outbox.isEmpty && releases.isEmpty && isWelcome
            && !executor.isBusy
    }

    /// Whether anybody waits for anything.
    private var isPending: Bool {
        !pending.isEmpty || !prefetches.isEmpty || !inquiries.isEmpty
    }

    /// One turn; how the line ended, where it did.
    mutating func turn() -> End? {
        if let end { return end }
        do {
            commands.isTurning.store(false, ordering: .sequentiallyConsistent)
            let isBusy = !commands.orders.isEmpty || executor.isBusy
            let turn = try loop.wait(until: isBusy ? Instant(nanoseconds: 0) : nextDeadline)
            commands.isTurning.store(true, ordering: .sequentiallyConsistent)
            let now = turn.wokenAt
            let isChanged = turn.ready.contains(sources.monitor)
            // What a coordinator said before it ended counts: its end comes after.
            if isChanged || turn.ready.contains(sources.bus) { try drainBus(at: now) }
            if isChanged { try drainMonitor(at: now) }
            executor.runWaiting()
            if turn.ready.contains(sources.mailbox) { commands.orders.quiet() }
            drainOrders(at: now)
            perform(pending.expire(at: now), at: now)
            perform(prefetches.expire(at: now))
            inquiries.expire(at: now)
            lookAfterAnswers(at: now)
            if endsWhenIdle, !isClosed, !isPending { close(at: now) }
            try sendOutbox()
            if isClosed { end = End(error: nil) }
        } catch {
            fail(.lineEnded(error))
            end = End(error: error)
        }
        return end
    }

    /// The line cannot go on: whoever waits is told why.
    private mutating func fail(_ error: ImageError) {
        let now = Instant.now()
        perform(pending.closed(with: error), at: now)
        perform(prefetches.closed(with: error))
        inquiries.close(with: error)
    }

    /// Makes a load of the thread that runs the line, until it has ended.
    mutating func run(_ load: PendingLoad, uploading bytes: [UInt8]) {
        let task = load.task
        let now = Instant.now()
        submit(load, uploading: bytes, at: now)
        do {
            try sendOutbox()
        } catch {
            end = End(error: error)
        }
        while !task.hasEnded {
            guard turn() == nil else { break }
        }
        // Of a line that cannot go on.
        if !task.hasEnded { task.finish(.failure(.lineEnded(end?.error))) }
    }

    mutating func submit(_ load: PendingLoad, at now: Instant) {
        perform(pending.submitted(load, at: now), at: now)
    }

    private var nextDeadline: Instant? {
        var next = pending.nextDeadline
        func expect(_ moment: Instant) { next = next.map { min($0, moment) } ?? moment }
        if isWelcome, !outbox.isEmpty || uploads.next != nil || prefetches.hasNext {
            expect(Instant.now().adding(milliseconds: Self.retryMilliseconds))
        }
        if let deadline = inquiries.nextDeadline { expect(deadline) }
        if let usedDue { expect(usedDue) }
        if let nextLook { expect(nextLook) }
        if let deadline = prefetches.nextDeadline { expect(deadline) }
        return next
    }
}

extension ImageError {
    static func lineEnded(_ error: (any Error)?) -> ImageError {
        guard let error else { return .clientClosed }
        if let error = error as? ImageError { return error }
        return ImageError(.internalError, "the client cannot go on: \(error)")
    }
}
