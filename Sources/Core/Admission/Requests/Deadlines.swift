import Messages
import Tables

/// When requests end that are still there then.
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

    /// Throws out deadlines of requests that are not there: in front at once, others when they are
    /// the most.
    mutating func forget(unless isThere: (LiveRequest.ID) -> Bool, ofWhich requests: Int) {
        while let alarm = alarms.first, !isThere(alarm.request) { _ = alarms.pop() }
        guard alarms.count > 2 * requests + 512 else { return }
        alarms.keep { isThere($0.request) }
    }
}
