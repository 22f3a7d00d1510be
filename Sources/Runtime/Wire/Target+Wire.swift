import CMessages
import ImageModel
import Messages

/// What a client's message is about: a request, or a group of them.
enum Target: Hashable {
    case token(Token)
    case group(GroupID)
}

/// Requests are no longer wanted.
struct Cancellation: WireMessage {
    var target: Target

    typealias Form = Imagebus__V1__Cancel
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__cancel__init }
    static var blank: Self { Self(target: .token(.blank)) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        if try map.identifier(
            { if case .token(let token) = target { token } else { nil } }, { target = .token($0) },
            &wire.pointee.token,
            if: &wire.pointee.target_case, 1, "Cancel.token")
        {
            return
        }
        if try map.identifier(
            { if case .group(let group) = target { group } else { nil } }, { target = .group($0) },
            &wire.pointee.group,
            if: &wire.pointee.target_case, 2, "Cancel.group")
        {
            return
        }
        throw .field("Cancel.target", .missing)
    }
}

/// Requests are wanted more or less than before.
struct Reprioritisation: WireMessage {
    var target: Target
    var priority: Priority

    typealias Form = Imagebus__V1__Reprioritise
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__reprioritise__init }
    static var blank: Self { Self(target: .token(.blank), priority: .normal) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.word(&priority, &wire.pointee.priority, "Reprioritise.priority")
        if try map.identifier(
            { if case .token(let token) = target { token } else { nil } }, { target = .token($0) },
            &wire.pointee.token,
            if: &wire.pointee.target_case, 1, "Reprioritise.token")
        {
            return
        }
        if try map.identifier(
            { if case .group(let group) = target { group } else { nil } }, { target = .group($0) },
            &wire.pointee.group,
            if: &wire.pointee.target_case, 2, "Reprioritise.group")
        {
            return
        }
        throw .field("Reprioritise.target", .missing)
    }
}
