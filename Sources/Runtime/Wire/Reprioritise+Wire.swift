import CMessages
import ImageModel
import Messages

extension ClientMessage {
    /// A request or a group is wanted more or less than before.
    static func reprioritising(_ wire: Imagebus__V1__Reprioritise, _ read: FieldReader)
        throws(WireError) -> ClientMessage
    {
        let priority: Priority = try read.known(wire.priority.rawValue, "Reprioritise.priority")
        switch wire.target_case {
        case IMAGEBUS__V1__REPRIORITISE__TARGET_TOKEN:
            return .reprioritise(
                Token(try read.identifier(wire.token, "Reprioritise.token")), priority)
        case IMAGEBUS__V1__REPRIORITISE__TARGET_GROUP:
            return .reprioritiseGroup(
                GroupID(try read.identifier(wire.group, "Reprioritise.group")), priority)
        default: throw .field("Reprioritise.target", .missing)
        }
    }
}

extension Priority {
    /// Names the request that it is the new class of.
    func wire(of token: Token, _ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Reprioritise>
    {
        let wire = try wire(write)
        wire.pointee.target_case = IMAGEBUS__V1__REPRIORITISE__TARGET_TOKEN
        wire.pointee.token = try write.bytes(token.value)
        return wire
    }

    /// Names the group that it is the new class of.
    func wire(of group: GroupID, _ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Reprioritise>
    {
        let wire = try wire(write)
        wire.pointee.target_case = IMAGEBUS__V1__REPRIORITISE__TARGET_GROUP
        wire.pointee.group = try write.bytes(group.value)
        return wire
    }

    private func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Reprioritise>
    {
        let wire = try write.make(imagebus__v1__reprioritise__init)
        wire.pointee.priority = .init(rawValue: .init(rawValue))
        return wire
    }
}
