import ImageModel
import Messages

/// How badly a piece of work is wanted: its class, the moment after which nobody wants it, and
/// who wants it.
struct Urgency: Hashable, Sendable {
    var priority: Priority
    var deadline: Instant
    var flows = Flows(.house)

    /// Of what nobody wants.
    static let none = Urgency(priority: .low, deadline: Instant(nanoseconds: 0))

    /// Of what is to be finished whoever still waits.
    var unbounded: Urgency {
        Urgency(priority: priority, deadline: Instant(nanoseconds: .max), flows: flows)
    }

    /// The same in the coordinator's own name.
    static func unbounded(_ priority: Priority) -> Urgency {
        Urgency(priority: priority, deadline: Instant(nanoseconds: .max))
    }
}
