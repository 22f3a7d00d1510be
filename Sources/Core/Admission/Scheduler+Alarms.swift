import Derivation
import Dispatching
import ImageModel
public import Messages
import Tables

// Time passes only in events; this is what it does.
extension Scheduler {
    /// When `tick` is due at the latest; `nil` while nothing waits for time.
    public var nextDeadline: Instant? {
        let touched = hits.touchedSince?.adding(milliseconds: limits.touchedMilliseconds)
        let work = wantsToPrefetch || isUnfinished ? now : nil
        return (deadlines.first?.at).orEarlier(deriver.nextDeadline)
            .orEarlier(touched).orEarlier(work)
    }

    /// Rings the alarms that are due, in the order of their times. Those that are too many for one
    /// event ring in the next one.
    mutating func ringAlarms() {
        var left = limits.bulkStepsMax
        while left > 0, let moment = nextAlarm, moment <= now {
            let counts = deadlines.first?.at == moment ? ringFirstDeadline() : ringFirstJob()
            if counts { left -= 1 }
        }
        deriver.retryParked()
        if let since = hits.touchedSince,
            since.adding(milliseconds: limits.touchedMilliseconds) <= now
        {
            tellTouched(atLeast: 1)
        }
        // Only what still counts is overdue.
        forgetAlarms()
    }

    /// Whether there were too many for one event.
    var hasOverdueAlarms: Bool { nextAlarm.map { $0 <= now } ?? false }

    private var nextAlarm: Instant? {
        (deadlines.first?.at).orEarlier(deriver.nextAlarm)
    }

    /// `false` where the request has ended before.
    private mutating func ringFirstDeadline() -> Bool {
        guard let alarm = deadlines.popFirst(), requests.contains(alarm.request) else {
            return false
        }
        expire(alarm.request)
        return true
    }

    /// `false` where the alarm did not count any more.
    private mutating func ringFirstJob() -> Bool {
        guard deriver.ringFirstAlarm() else { return false }
        conclude()
        return true
    }

    /// Throws out alarms that no longer count: those in front at once, others when they are the
    /// majority.
    mutating func forgetAlarms() {
        deriver.forgetAlarms()
        deadlines.forget(unless: { [requests] in requests.contains($0) }, ofWhich: requests.count)
    }
}
