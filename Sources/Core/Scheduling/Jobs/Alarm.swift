import Messages

/// A moment at which something is looked after, if it is still there.
struct Alarm: Comparable, Sendable {
    enum Subject: Sendable {
        /// The deadline of a request.
        case request(LiveRequest.ID)
        /// A job that should have been answered; current while the job has this very alarm.
        case job(JobID)
    }

    let at: Instant
    let serial: UInt64
    let subject: Subject

    static func < (left: Alarm, right: Alarm) -> Bool {
        (left.at, left.serial) < (right.at, right.serial)
    }

    static func == (left: Alarm, right: Alarm) -> Bool { left.serial == right.serial }
}
