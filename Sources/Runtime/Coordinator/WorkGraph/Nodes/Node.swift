import Model

/// A unit of work shared by all of its consumers.
///
/// All kinds of nodes share the mechanics of joining, leaving, priorities and retirement; their
/// work differs.
protocol Node: SlotMapElement where Named == Self {
    typealias ID = SlotID<Self>
    associatedtype Key: Hashable & Sendable
    associatedtype Consumer: Sendable
    associatedtype Provider: Node

    /// The table of all nodes of this kind.
    static func table(of graph: WorkGraph) -> NodeTable<Self>

    /// The key of the work; nodes with equal keys may differ in other properties.
    var key: Key { get }
    /// The consumers of its outcome.
    var consumers: SubscriberList<Consumer> { get set }
    /// The node that provides its input, while it is needed.
    var need: Need<Provider>? { get set }
    /// The job that it waits for.
    var job: JobID? { get }
    /// Whether the node must be kept.
    var isInUse: Bool { get }

    /// Releases the blocks and other nodes that the ended node held.
    func releaseResources(in graph: WorkGraph)
}

/// A node that can stay for its consumers while being hidden from further ones.
protocol ClosableNode: Node {
    /// Whether no further consumer may join.
    var isClosed: Bool { get set }
}

/// A consumer's seat at a node.
struct Need<Provider: Node>: Sendable {
    let node: Provider.ID
    let seat: SubscriberList<Provider.Consumer>.Seat
}

extension Node {
    var isInUse: Bool { !consumers.isEmpty }

    func releaseResources(in graph: WorkGraph) {}
}

/// A node without a provider.
extension Node where Provider == Self {
    var need: Need<Self>? {
        get { nil }
        set {}
    }
}

// Operations common to all nodes: joining, leaving, priority, retirement.
extension WorkGraph {
    /// An existing node.
    subscript<Kind: Node>(_ id: SlotID<Kind>) -> Kind {
        _read { yield Kind.table(of: self)[id] }
        _modify { yield &Kind.table(of: self)[id] }
    }

    func link<Kind: Node>(
        _ id: SlotID<Kind>, to provider: SlotID<Kind.Provider>,
        as consumer: Kind.Provider.Consumer
    ) {
        let seat = self[provider].consumers.join(consumer, self[id].consumers.urgency)
        self[id].need = Need(node: provider, seat: seat)
    }

    /// Removes a consumer from a node. A node without consumers may end.
    func detach<Kind: Node>(from need: Need<Kind>) {
        self[need.node].consumers.leave(need.seat)
        if !self[need.node].isInUse {
            retire(need.node)
        } else if !self[need.node].consumers.isEmpty {
            propagate(need.node)
        }
    }

    /// Removes a node from its provider.
    func leaveProvider<Kind: Node>(of id: SlotID<Kind>) {
        guard let need = self[id].need else { return }
        self[id].need = nil
        detach(from: need)
    }

    func update<Kind: Node>(_ need: Need<Kind>, _ urgency: Urgency) {
        self[need.node].consumers.update(need.seat, urgency)
        propagate(need.node)
    }

    /// Propagates the consumers' combined urgency to the node's job and its provider.
    func propagate<Kind: Node>(_ id: SlotID<Kind>) {
        let urgency = self[id].consumers.urgency
        if let job = self[id].job { updatePriority(job, urgency) }
        if let need = self[id].need { update(need, urgency) }
    }

    // MARK: - Subscribers

    /// All subscribers of products of the bytes.
    func subscribers(of node: SourceNode.ID) -> [Subscriber] {
        sources[node].consumers.members.flatMap { subscribers(of: $0) }
    }

    /// All subscribers of products of the pixels.
    func subscribers(of node: DecodeNode.ID) -> [Subscriber] {
        decodes[node].results.flatMap { results[$0].consumers.members }
    }

    // MARK: - Retirement

    /// Ends a node: abandons its job and releases its resources.
    func retire<Kind: Node>(_ id: SlotID<Kind>) {
        leaveProvider(of: id)
        guard let node = Kind.table(of: self).remove(id) else { return }
        if let job = node.job { abandon(job) }
        node.releaseResources(in: self)
    }

    /// Answers subscribers of finished original stores, and releases unused bytes.
    func tidy(_ node: SourceNode.ID) {
        guard sources.contains(node) else { return }
        if !sources[node].storing.isUnderWay {
            notifyStored(sources[node].storing)
            sources[node].storing.watchers = WatcherList()
        }
        if !sources[node].isInUse { retire(node) }
    }
}

// The consumers of overlay pixels: subscribers and results.
extension WorkGraph {
    /// Adds a result as a consumer of the overlays gathered by the subscriber that starts it.
    func joinOverlays(_ node: ResultNode.ID, from id: Subscriber.ID, _ urgency: Urgency) {
        guard !gatherings.isEmpty else { return }
        let gathered = (gatherings[id]?.layers ?? []).compactMap(\.decode)
        results[node].overlays = gathered.map { need in
            let own = decodes[need.node].consumers.join(.overlaid(node), urgency)
            return Need(node: need.node, seat: own)
        }
    }

    /// The overlay pixels of a result, in the order of its steps.
    func overlays(of node: ResultNode.ID) -> [DecodeNode.Pixels] {
        let needs = results[node].overlays
        return needs.isEmpty ? [] : needs.compactMap { decodes[$0.node].pixels }
    }

    /// Returns the provenance of a result. It must not be stored if an overlay depends on request
    /// headers, because no key includes those.
    func provenance(of node: ResultNode.ID, _ image: Provenance) -> Provenance {
        var provenance = image
        for overlay in results[node].overlays where decodes[overlay.node].isVaried {
            provenance.keeping = .nowhere
        }
        return provenance
    }

    /// Updates the urgency of a subscriber's overlays.
    func reprioritizeOverlays(of id: Subscriber.ID, _ urgency: Urgency) {
        gatherings[id]?.urgency = urgency
        for layer in gatherings[id]?.layers ?? [] {
            if let need = layer.decode { update(need, urgency) }
        }
    }

    // MARK: - Leaving

    /// Removes a subscriber from its overlays.
    func leaveOverlays(_ id: Subscriber.ID) {
        guard !gatherings.isEmpty, let gathering = gatherings.removeValue(forKey: id) else {
            return
        }
        for layer in gathering.layers {
            if let need = layer.decode { leaveOverlay(need) }
        }
    }

    /// Removes a result from its overlays.
    func leaveOverlays(of node: ResultNode.ID) {
        let seats = results[node].overlays
        results[node].overlays = []
        for need in seats { leaveOverlay(need) }
    }

    /// Removes one consumer from an overlay.
    func leaveOverlay(_ need: Need<DecodeNode>) {
        detach(from: need)
        if decodes.contains(need.node) { passOn(need.node) }
    }

    /// Charges the pixels to another consumer after the one charged so far has left.
    private func passOn(_ node: DecodeNode.ID) {
        let flows = decodes[node].consumers.urgency.flows
        guard let holder = decodes[node].holder, let pixels = decodes[node].pixels,
            !flows.contains(holder)
        else { return }
        overlayBytes.giveBack(pixels.byteCount, of: holder.owner)
        overlayBytes.take(pixels.byteCount, for: flows.first.owner)
        decodes[node].holder = flows.first
    }
}

/// All nodes of a kind, by ID and by key. A reference type, so that code for all kinds of nodes
/// neither copies the table nor a node that it reads.
final class NodeTable<Kind: Node> {
    typealias ID = SlotID<Kind>

    private var nodes = SlotMap<Kind>()
    private var index = Multimap<Kind.Key, ID>()

    var count: Int { nodes.count }
    var ids: [ID] { nodes.ids }
    /// The number of nodes that can be found by key.
    var listed: Int { index.count }
    /// Whether there are no nodes and no index entries.
    var isEmpty: Bool { nodes.count == 0 && index.isEmpty }

    /// An existing node.
    subscript(id: ID) -> Kind {
        _read { yield nodes[id] }
        _modify { yield &nodes[id] }
    }

    func contains(_ id: ID) -> Bool { nodes.contains(id) }

    /// The nodes under a key, oldest first.
    func all(under key: Kind.Key) -> [ID] { index[key] }

    func first(under key: Kind.Key) -> ID? { index.first(under: key) { _ in true } }

    /// The first node under a key that matches the predicate.
    func first(under key: Kind.Key, where isMeant: (Kind) -> Bool) -> ID? {
        index.first(under: key) { isMeant(nodes[$0]) }
    }

    func insert(_ node: Kind) -> ID {
        let key = node.key
        let id = nodes.insert(node)
        index.insert(id, under: key)
        return id
    }

    /// Applies a change after which the node has another key.
    func rename(_ id: ID, _ change: (inout Kind) -> Void) {
        index.remove(id, under: nodes[id].key)
        change(&nodes[id])
        index.insert(id, under: nodes[id].key)
    }

    /// Removes a node; returns `nil` if it was already removed.
    func remove(_ id: ID) -> Kind? {
        guard let node = nodes.remove(id) else { return nil }
        index.remove(id, under: node.key)
        return node
    }
}

extension NodeTable where Kind: ClosableNode {
    /// Closes a node: it stays, but can no longer be found by key.
    func close(_ id: ID) {
        guard !nodes[id].isClosed else { return }
        nodes[id].isClosed = true
        index.remove(id, under: nodes[id].key)
    }
}

extension NodeTable<SourceNode> {
    /// Returns an existing source of these bytes, finished or in progress. The body of a refresh is
    /// as good as that of a new transfer, but doesn't answer a later refresh.
    func serving(_ key: SourceKey, _ origin: ByteSource) -> ID? {
        let known = all(under: key).filter {
            self[$0].origin.terms == origin.terms && !self[$0].freshness.isClosed
        }
        let isPlain = origin.isNetwork
        if isPlain, let newest = known.first(where: { self[$0].isReplacing }) { return newest }
        let same = known.first {
            self[$0].origin == origin && !(origin.isRevalidation && self[$0].kept != nil)
        }
        if let same { return same }
        guard origin.isUnconditional else { return nil }
        return known.first {
            self[$0].origin.isUnconditional && (isPlain || self[$0].kept == nil)
        }
    }
}

/// A multimap for few values per key, all found with a single lookup. A single value, the usual
/// case, needs no array.
struct Multimap<Key: Hashable & Sendable, Value: Equatable & Sendable>: Sendable {
    private struct Values: Sendable {
        var first: Value
        var others: [Value] = []
    }

    private var values: [Key: Values] = [:]

    var isEmpty: Bool { values.isEmpty }
    /// The number of values under all keys.
    var count: Int { values.values.reduce(0) { $0 + 1 + $1.others.count } }

    /// The values under a key, in insertion order.
    subscript(key: Key) -> [Value] { values[key].map { [$0.first] + $0.others } ?? [] }

    /// The first value under a key that matches the predicate.
    func first(under key: Key, where isMeant: (Value) -> Bool) -> Value? {
        guard let known = values[key] else { return nil }
        return isMeant(known.first) ? known.first : known.others.first(where: isMeant)
    }

    mutating func insert(_ value: Value, under key: Key) {
        guard var known = values.updateValue(Values(first: value), forKey: key) else { return }
        known.others.append(value)
        values[key] = known
    }

    mutating func remove(_ value: Value, under key: Key) {
        guard var known = values.removeValue(forKey: key) else { return }
        if known.first != value {
            known.others.removeAll { $0 == value }
        } else if known.others.isEmpty {
            return
        } else {
            known.first = known.others.removeFirst()
        }
        values[key] = known
    }
}

/// The members that wait for one piece of shared work, and their combined urgency: the highest
/// class, the latest deadline, and their flows (SEMANTICS §3.4).
struct SubscriberList<Member: Sendable>: Sendable {
    typealias Seat = StableArray<Entry>.Seat

    struct Entry: Sendable {
        let subscriber: Member
        var urgency: Urgency
    }

    private var seats = StableArray<Entry>()
    private var countByClass: InlineArray<3, Int> = [0, 0, 0]
    private var deadline = Urgency.none.deadline
    private var flows = Urgency.none.flows
    private var isExact = true
    private var leavesSinceScan = 0

    var count: Int { seats.count }
    var isEmpty: Bool { seats.isEmpty }
    var members: [Member] { seats.map(\.subscriber) }

    /// Whether any member matches the predicate.
    func contains(where isMeant: (Member) -> Bool) -> Bool {
        seats.contains { isMeant($0.subscriber) }
    }

    /// The combined urgency. The class is exact. The deadline and flows are exact for up to 16
    /// members; with more, they may temporarily include a member that has left.
    var urgency: Urgency {
        let priority: Priority =
            countByClass[2] > 0 ? .high : countByClass[1] > 0 ? .normal : .low
        return Urgency(priority: priority, deadline: deadline, flows: flows)
    }

    mutating func join(_ subscriber: Member, _ urgency: Urgency) -> Seat {
        unite(urgency)
        return seats.join(Entry(subscriber: subscriber, urgency: urgency))
    }

    mutating func leave(_ seat: Seat) {
        forget(seats.leave(seat).urgency)
    }

    /// Removes and returns all members that match the predicate.
    mutating func removeAll(where isMeant: (Member) -> Bool) -> [Member] {
        let leaving = seats.seats { isMeant($0.subscriber) }
        let taken = leaving.map { seats[$0].subscriber }
        // If all members leave, the list is reset without individual updates.
        if taken.count == count { self = SubscriberList() } else { leaving.forEach { leave($0) } }
        return taken
    }

    mutating func update(_ seat: Seat, _ urgency: Urgency) {
        let old = seats[seat].urgency
        guard old != urgency else { return }
        seats[seat].urgency = urgency
        unite(urgency)
        forget(old)
    }

    private mutating func unite(_ urgency: Urgency) {
        count(urgency, by: 1)
        deadline = max(deadline, urgency.deadline)
        if isEmpty { flows = urgency.flows } else { flows.unite(urgency.flows) }
    }

    private mutating func count(_ urgency: Urgency, by step: Int) {
        countByClass[Int(urgency.priority.rawValue)] += step
    }

    /// Rescans the members only after a sixteenth of them has left, so that the total cost of many
    /// members leaving one by one stays linear.
    private mutating func forget(_ urgency: Urgency) {
        count(urgency, by: -1)
        if urgency.deadline >= deadline || !flows.isSingle { isExact = false }
        guard !isExact else { return }
        leavesSinceScan += 1
        guard leavesSinceScan * 16 >= count else { return }
        leavesSinceScan = 0
        isExact = true
        scan()
    }

    private mutating func scan() {
        guard let first = seats.first?.urgency else {
            (deadline, flows) = (Urgency.none.deadline, Urgency.none.flows)
            return
        }
        (deadline, flows) = (first.deadline, first.flows)
        for urgency in seats.map(\.urgency) {
            deadline = max(deadline, urgency.deadline)
            flows.unite(urgency.flows)
        }
    }
}
