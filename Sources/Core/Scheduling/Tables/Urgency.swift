import ImageModel
import Messages

/// How badly a piece of work is wanted: its class, and the moment after which nobody wants it.
struct Urgency: Hashable, Sendable {
    var priority: Priority
    var deadline: Instant

    /// Of what nobody wants.
    static let none = Urgency(priority: .low, deadline: Instant(nanoseconds: 0))

    /// Of what is to be finished whoever still waits.
    static func unbounded(_ priority: Priority) -> Urgency {
        Urgency(priority: priority, deadline: Instant(nanoseconds: .max))
    }
}
