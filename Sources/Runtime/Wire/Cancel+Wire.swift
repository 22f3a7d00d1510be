import CMessages
import Messages

extension ClientMessage {
    /// A request, or a group, is no longer wanted.
    static func cancelling(_ wire: Imagebus__V1__Cancel, _ read: FieldReader)
        throws(WireError) -> ClientMessage
    {
        switch wire.target_case {
        case IMAGEBUS__V1__CANCEL__TARGET_TOKEN:
            .cancel(Token(try read.identifier(wire.token, "Cancel.token")))
        case IMAGEBUS__V1__CANCEL__TARGET_GROUP:
            .cancelGroup(GroupID(try read.identifier(wire.group, "Cancel.group")))
        default: throw .field("Cancel.target", .missing)
        }
    }
}

extension Token {
    func cancel(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Cancel>
    {
        let wire = try write.make(imagebus__v1__cancel__init)
        wire.pointee.target_case = IMAGEBUS__V1__CANCEL__TARGET_TOKEN
        wire.pointee.token = try write.bytes(value)
        return wire
    }
}

extension GroupID {
    func cancel(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Cancel>
    {
        let wire = try write.make(imagebus__v1__cancel__init)
        wire.pointee.target_case = IMAGEBUS__V1__CANCEL__TARGET_GROUP
        wire.pointee.group = try write.bytes(value)
        return wire
    }
}
