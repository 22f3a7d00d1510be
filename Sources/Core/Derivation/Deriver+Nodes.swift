import Dispatching
import Messages
import Tables

// What is the same for all nodes: joining, leaving, priority, the end.
extension Deriver {
    /// A node that is known to be there.
    subscript<Kind: Node>(_ id: SlotID<Kind>) -> Kind {
        get { self[keyPath: Kind.table][id] }
        _modify { yield &self[keyPath: Kind.table][id] }
    }

    /// A node is made of another one from now on.
    mutating func join<Kind: Node>(
        _ provider: SlotID<Kind.Provider>, _ consumer: Kind.Provider.Consumer,
        for id: SlotID<Kind>
    ) {
        let seat = self[provider].consumers.join(consumer, self[id].consumers.urgency)
        self[id].need = Need(node: provider, seat: seat)
    }

    /// A consumer needs the node no more; without the last one it may be over.
    mutating func leave<Kind: Node>(_ need: Need<Kind>) {
        self[need.node].consumers.leave(need.seat)
        if !self[need.node].isInUse {
            retire(need.node)
        } else if !self[need.node].consumers.isEmpty {
            propagate(need.node)
        }
    }

    /// A node needs no more what it is made of.
    mutating func leaveProvider<Kind: Node>(of id: SlotID<Kind>) {
        guard let need = self[id].need else { return }
        self[id].need = nil
        leave(need)
    }

    /// A consumer wants it more or less than before.
    mutating func update<Kind: Node>(_ need: Need<Kind>, _ urgency: Urgency) {
        self[need.node].consumers.update(need.seat, urgency)
        propagate(need.node)
    }

    /// Consumers want it more or less than before: so is its job wanted, and what it is made of.
    mutating func propagate<Kind: Node>(_ id: SlotID<Kind>) {
        let urgency = self[id].consumers.urgency
        if let job = self[id].job { dispatcher.reprioritise(job, urgency) }
        if let need = self[id].need { update(need, urgency) }
    }

    /// A node is over: its job is of no use, and what it kept is free.
    mutating func retire<Kind: Node>(_ id: SlotID<Kind>) {
        leaveProvider(of: id)
        guard let node = self[keyPath: Kind.table].remove(id) else { return }
        if let job = node.job { abandon(job) }
        Kind.ended(node, in: &self)
    }
}
