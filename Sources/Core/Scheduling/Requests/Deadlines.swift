import Messages
import Tables

/// When requests end that are still there then.
struct Deadlines: Sendable {
    var alarms = Heap<Alarm>()
    private var last: UInt64 = 0

    mutating func set(_ deadline: Instant, for request: LiveRequest.ID) {
        last += 1
        alarms.push(Alarm(at: deadline, serial: last, request: request))
    }
}
