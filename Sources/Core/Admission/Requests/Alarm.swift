import Messages

/// The deadline of a request, which may have ended before.
struct Alarm: Comparable, Sendable {
    let at: Instant
    let serial: UInt64
    let request: LiveRequest.ID

    static func < (left: Alarm, right: Alarm) -> Bool {
        (left.at, left.serial) < (right.at, right.serial)
    }

    static func == (left: Alarm, right: Alarm) -> Bool { left.serial == right.serial }
}
