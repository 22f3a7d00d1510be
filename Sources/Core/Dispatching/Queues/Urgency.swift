package import ImageModel
package import Messages

/// How badly a piece of work is wanted: its class, the moment after which nobody wants it, and
/// who wants it.
package struct Urgency: Hashable, Sendable {
    package var priority: Priority
    package var deadline: Instant
    package var flows: Flows

    package init(priority: Priority, deadline: Instant, flows: Flows = Flows(.house)) {
        self.priority = priority
        self.deadline = deadline
        self.flows = flows
    }

    /// Of what nobody wants.
    package static let none = Urgency(priority: .low, deadline: Instant(nanoseconds: 0))

    /// Of what is to be finished whoever still waits.
    package var unbounded: Urgency {
        Urgency(priority: priority, deadline: Instant(nanoseconds: .max), flows: flows)
    }

    /// Milliseconds until nobody wants it, as workers are told.
    func millisecondsLeft(at now: Instant) -> UInt32 {
        UInt32(clamping: deadline.milliseconds(since: now))
    }

    /// The same in the coordinator's own name.
    package static func unbounded(_ priority: Priority) -> Urgency {
        Urgency(priority: priority, deadline: Instant(nanoseconds: .max))
    }
}
