import CMessages
import Messages

extension RequestProgress: WireMessage {
    typealias Form = Imagebus__V1__Event
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__event__init }
    static var blank: Self { Self(token: .blank, received: 0, expected: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.identifier(&token, &wire.pointee.token, "Event.token")
        let isThere = try map.part(
            { ReceivedBytes(received: received, expected: expected) },
            { (received, expected) = ($0.received, $0.expected) },
            &wire.pointee.progress, if: &wire.pointee.event_case, 2, "Event.progress")
        guard isThere else { throw .field("Event.event", .missing) }
        try map.maybe(&info, &wire.pointee.info, "Event.info")
    }
}

/// How much of an image was received.
struct ReceivedBytes: WireMessage {
    var received: UInt64
    var expected: UInt64

    typealias Form = Imagebus__V1__Event__Progress
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__event__progress__init }
    static var blank: Self { Self(received: 0, expected: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(&received, &wire.pointee.received, "Progress.received")
        try map.number(&expected, &wire.pointee.expected, "Progress.expected")
    }
}
