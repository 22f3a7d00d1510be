import CMessages
import Messages

extension RequestProgress: WireMessage {
    static var begin: (CPart<Imagebus__V1__Event>?) -> Void { imagebus__v1__event__init }
    static var blank: Self { Self(token: .blank, received: 0, expected: 0) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Event>
    ) throws(WireError) {
        try map.identifier(&value.token, &wire.pointee.token, "Event.token")
        let isThere = try map.part(
            { ReceivedBytes(received: value.received, expected: value.expected) },
            { (value.received, value.expected) = ($0.received, $0.expected) },
            &wire.pointee.progress, if: &wire.pointee.event_case, 2, "Event.progress")
        guard isThere else { throw .field("Event.event", .missing) }
    }
}

/// How much of an image was received.
struct ReceivedBytes: WireMessage {
    var received: UInt64
    var expected: UInt64

    static var begin: (CPart<Imagebus__V1__Event__Progress>?) -> Void {
        imagebus__v1__event__progress__init
    }
    static var blank: Self { Self(received: 0, expected: 0) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Event__Progress>
    ) throws(WireError) {
        try map.number(&value.received, &wire.pointee.received, "Progress.received")
        try map.number(&value.expected, &wire.pointee.expected, "Progress.expected")
    }
}
