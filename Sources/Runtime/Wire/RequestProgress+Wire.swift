import CMessages
import Messages

extension RequestProgress {
    init(_ wire: Imagebus__V1__Event, _ read: FieldReader) throws(WireError) {
        guard wire.event_case == IMAGEBUS__V1__EVENT__EVENT_PROGRESS else {
            throw .field("Event.event", .missing)
        }
        let part = try read.required(wire.progress, "Event.progress")
        self.init(
            token: Token(try read.identifier(wire.token, "Event.token")), received: part.received,
            expected: part.expected)
    }

    func wire(_ write: FieldWriter) throws(WireError) -> UnsafeMutablePointer<Imagebus__V1__Event> {
        let part = try write.make(imagebus__v1__event__progress__init)
        part.pointee.received = received
        part.pointee.expected = expected
        let wire = try write.make(imagebus__v1__event__init)
        wire.pointee.token = try write.bytes(token.value)
        wire.pointee.event_case = IMAGEBUS__V1__EVENT__EVENT_PROGRESS
        wire.pointee.progress = part
        return wire
    }
}
