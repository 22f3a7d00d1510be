import ImageModel
import Messages

/// What is wanted of all members that a group had at a moment. It is done to a few at a time, in
/// one event after another.
struct GroupWish: Sendable {
    enum Change: Sendable {
        case priority(Priority)
        case cancel

        var isCancel: Bool { if case .cancel = self { true } else { false } }
    }

    /// Whose wish it is; `nil` for an operator, who means the members of whomever.
    let client: ClientID?
    let group: GroupID
    let change: Change
    /// Some may have ended, or wish otherwise by now.
    private var members: [LiveRequest.ID]
    private var next = 0

    init(
        _ client: ClientID?, _ group: GroupID, _ change: Change, _ members: [LiveRequest.ID]
    ) {
        self.client = client
        self.group = group
        self.change = change
        self.members = members
    }

    /// Whether no member is left.
    var isGranted: Bool { next == members.count }

    /// The next member.
    mutating func popNext() -> LiveRequest.ID? {
        guard next < members.count else { return nil }
        next += 1
        return members[next - 1]
    }

    /// A member was told something else since.
    mutating func forget(_ member: LiveRequest.ID) {
        guard let place = members[next...].firstIndex(of: member) else { return }
        members.remove(at: place)
    }
}
