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
    mutating func link<Kind: Node>(
        _ id: SlotID<Kind>, to provider: SlotID<Kind.Provider>,
        as consumer: Kind.Provider.Consumer
    ) {
        let seat = self[provider].consumers.join(consumer, self[id].consumers.urgency)
        self[id].need = Need(node: provider, seat: seat)
    }

    /// A consumer no longer needs the node. A node without consumers may be over.
    mutating func detach<Kind: Node>(from need: Need<Kind>) {
        self[need.node].consumers.leave(need.seat)
        if !self[need.node].isInUse {
            retire(need.node)
        } else if !self[need.node].consumers.isEmpty {
            propagate(need.node)
        }
    }

    /// A node no longer needs what it is made of.
    mutating func leaveProvider<Kind: Node>(of id: SlotID<Kind>) {
        guard let need = self[id].need else { return }
        self[id].need = nil
        detach(from: need)
    }

    /// A consumer wants the node more or less urgently than before.
    mutating func update<Kind: Node>(_ need: Need<Kind>, _ urgency: Urgency) {
        self[need.node].consumers.update(need.seat, urgency)
        propagate(need.node)
    }

    /// Consumers want the node more or less urgently than before. Its job takes over their urgency,
    /// and so does what it is made of.
    mutating func propagate<Kind: Node>(_ id: SlotID<Kind>) {
        let urgency = self[id].consumers.urgency
        if let job = self[id].job { hurry(job, urgency) }
        if let need = self[id].need { update(need, urgency) }
    }

    // MARK: - Waiters

    /// All waiters of what is made of the bytes.
    func waiters(of node: SourceNode.ID) -> [Waiter] {
        sources[node].consumers.members.flatMap { waiters(of: $0) }
    }

    /// All waiters of what is made of the pixels.
    func waiters(of node: DecodeNode.ID) -> [Waiter] {
        decodes[node].results.flatMap { results[$0].consumers.members }
    }

    // MARK: - The end

    /// A node is over: its job is of no use, and what it kept is free.
    mutating func retire<Kind: Node>(_ id: SlotID<Kind>) {
        leaveProvider(of: id)
        guard let node = self[keyPath: Kind.table].remove(id) else { return }
        if let job = node.job { abandon(job) }
        letGo(of: node.remains)
    }

    /// What a node kept is free. It may have been the last reason for another node to stay.
    private mutating func letGo(of remains: Remains) {
        switch remains {
        case .nothing: break
        case .pixels(let pixels, let holder):
            if let holder { overlayBytes.release(pixels.byteCount, of: holder) }
            dispatcher.drop(pixels.blocks)
        case .file(let block): dispatcher.drop(block)
        case .result(let overlays, let product, let original, let partial):
            if let partial { endPartial(partial) }
            for need in overlays { leaveOverlay(need) }
            if let product { dispatcher.drop(product) }
            guard let original, sources.contains(original) else { break }
            sources[original].storing.endedDelivery()
            tidy(original)
        case .source(let body, let staged, let storing):
            if let storing { tellStored(storing) }
            if let body { dispatcher.drop(body) }
            if let staged { dispatcher.drop(staged) }
        }
    }

    /// Answers waiters of the original's stores, and lets go of bytes that nobody uses.
    mutating func tidy(_ node: SourceNode.ID) {
        guard sources.contains(node) else { return }
        if !sources[node].storing.isUnderWay {
            tellStored(sources[node].storing)
            sources[node].storing.watchers = WatcherList()
        }
        if !sources[node].isInUse { retire(node) }
    }
}
