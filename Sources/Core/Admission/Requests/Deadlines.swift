import Messages
import Tables

/// When requests end, unless they have ended before.
struct Deadlines: Sendable {
    private var alarms = Heap<Alarm>()
    private var last: UInt64 = 0

    var count: Int { alarms.count }
    /// The first one.
    var first: Alarm? { alarms.first }

    mutating func set(_ deadline: Instant, for request: LiveRequest.ID) {
        last += 1
        alarms.push(Alarm(at: deadline, serial: last, request: request))
    }

    mutating func popFirst() -> Alarm? { alarms.pop() }

    /// Throws out deadlines of requests that have ended: those in front at once, others when they
    /// are the majority.
    mutating func forget(unless isThere: (LiveRequest.ID) -> Bool, ofWhich requests: Int) {
        while let alarm = alarms.first, !isThere(alarm.request) { _ = alarms.pop() }
        guard alarms.count > 2 * requests + 512 else { return }
        alarms.keep { isThere($0.request) }
    }
}
