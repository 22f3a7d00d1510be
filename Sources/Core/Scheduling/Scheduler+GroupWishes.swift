import ImageModel
import Messages

// What is wanted of all members of a group, which may be thousands.
extension Scheduler {
    /// The members are to end. That takes the place of whatever was wished of them before.
    mutating func cancelMembers(
        _ members: [LiveRequest.ID], of group: GroupID, by client: ClientID?
    ) {
        wishes.removeAll { $0.group == group && $0.client == client }
        guard !members.isEmpty else { return }
        wishes.append(GroupWish(client, group, .cancel, members))
    }

    /// Goes on with what was wished in this event and in earlier ones; wishes take turns, and no
    /// event does too much.
    mutating func grantWishes() {
        var left = limits.groupMembersMax
        while left > 0, !wishes.isEmpty {
            var wish = wishes.removeFirst()
            while left > 0, let id = wish.popNext() {
                if grant(wish.change, to: id) { left -= 1 }
            }
            if !wish.isGranted { wishes.append(wish) }
        }
    }

    /// `false` where the member has ended.
    private mutating func grant(_ change: GroupWish.Change, to id: LiveRequest.ID) -> Bool {
        guard requests.contains(id) else { return false }
        switch change {
        case .priority(let priority): reprioritise(id, priority)
        case .cancel: end(id, Self.cancelled)
        }
        return true
    }
}
