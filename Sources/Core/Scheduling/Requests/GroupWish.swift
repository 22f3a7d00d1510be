import ImageModel
import Messages

/// A client wants all members that a group had at a moment more or less badly than before. They are
/// told of it a few at a time, in one event after another.
struct GroupWish: Sendable {
    let client: ClientID
    let group: GroupID
    let priority: Priority
    /// Those who are to be told; some may have ended, or wish otherwise by now.
    private var members: [LiveRequest.ID]
    private var next = 0

    init(
        _ client: ClientID, _ group: GroupID, _ priority: Priority, _ members: [LiveRequest.ID]
    ) {
        self.client = client
        self.group = group
        self.priority = priority
        self.members = members
    }

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
