import Dispatching
import ImageModel
import Messages
import Tables

/// One piece of work that all its consumers share.
///
/// All kinds are joined, left, hurried and ended in the same way (in `Deriver`); what they do is
/// their own.
protocol Node: Tabled where Named == Self {
    typealias ID = SlotID<Self>
    associatedtype Key: Hashable & Sendable
    associatedtype Consumer: Sendable
    associatedtype Provider: Node

    /// Where nodes of the kind are.
    static var table: WritableKeyPath<Deriver, NodeTable<Self>> { get }

    /// What it does; those of one key may differ in what is not part of it.
    var key: Key { get }
    /// Its consumers: what needs its outcome.
    var consumers: WaiterList<Consumer> { get set }
    /// What it is made of, as long as it needs that.
    var need: Need<Provider>? { get set }
    /// The job that it waits for.
    var job: JobID? { get }
    /// Whether it has a reason to stay.
    var isInUse: Bool { get }

    /// What it keeps, for when it is over.
    var remains: Remains { get }
}

/// A node that may stay for its consumers without being found by others.
protocol ClosableNode: Node {
    /// Whether nobody joins it any more.
    var isClosed: Bool { get set }
}

/// A place among the consumers of a node.
struct Need<Provider: Node>: Sendable {
    let node: Provider.ID
    let seat: WaiterList<Provider.Consumer>.Seat
}

extension Node {
    var isInUse: Bool { !consumers.isEmpty }
}

/// It is made of nothing that another node makes.
extension Node where Provider == Self {
    var need: Need<Self>? {
        get { nil }
        set {}
    }
}

/// What a node that is over has kept, and what has to be let go of now.
enum Remains: Sendable {
    case nothing
    /// Pixels, and the flow that they count for where they are an overlay's.
    case pixels(DecodeNode.Pixels, for: FlowID?)
    /// A file that is the result.
    case file(BlockHandle)
    /// The overlays of a result, and its bytes, or the source whose bytes it delivered; and the
    /// partial image that is made for its waiters.
    case result(
        overlays: [Need<DecodeNode>], product: BlockHandle?, original: SourceNode.ID?,
        partial: PartialNode.ID?)
    /// Bytes of a source, the stored bytes that they were compared with, and stores that watchers
    /// wait for.
    case source(body: BlockHandle?, staged: BlockHandle?, storing: OriginalStores?)
}

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

// The consumers of an overlay's pixels: waiters and results.
extension Deriver {
    /// A result is made with what was gathered for the waiter that begins it.
    mutating func takeOverlays(_ node: ResultNode.ID, from id: Waiter.ID, _ urgency: Urgency) {
        guard !gatherings.isEmpty else { return }
        let gathered = (gatherings[id]?.layers ?? []).compactMap(\.decode)
        results[node].overlays = gathered.map { need in
            let own = decodes[need.node].consumers.join(.overlay(.result(node)), urgency)
            return Need(node: need.node, seat: own)
        }
    }

    /// The pixels that are laid over a result, in the order of its steps.
    func overlays(of node: ResultNode.ID) -> [DecodeNode.Pixels] {
        let needs = results[node].overlays
        return needs.isEmpty ? [] : needs.compactMap { decodes[$0.node].pixels }
    }

    /// Where a result may be kept that is made of an image with that provenance: nowhere, where
    /// an overlay depends on what was said to its origin, since that is in no key.
    func provenance(of node: ResultNode.ID, _ image: Provenance) -> Provenance {
        var provenance = image
        for overlay in results[node].overlays where decodes[overlay.node].isVaried {
            provenance.keeping = .nowhere
        }
        return provenance
    }

    /// A waiter wants its overlays more or less urgently than before.
    mutating func reprioritiseOverlays(of id: Waiter.ID, _ urgency: Urgency) {
        gatherings[id]?.urgency = urgency
        for layer in gatherings[id]?.layers ?? [] {
            if let need = layer.decode { update(need, urgency) }
        }
    }

    // MARK: - Leaving

    /// A waiter no longer needs its overlays, or these of them.
    package mutating func leaveOverlays(_ id: Waiter.ID) {
        guard !gatherings.isEmpty, let gathering = gatherings.removeValue(forKey: id) else {
            return
        }
        for layer in gathering.layers {
            if let need = layer.decode { leaveOverlay(need) }
        }
    }

    /// A result no longer needs what is laid over its pixels.
    mutating func leaveOverlays(of node: ResultNode.ID) {
        let seats = results[node].overlays
        results[node].overlays = []
        for need in seats { leaveOverlay(need) }
    }

    /// One consumer no longer needs an overlay.
    mutating func leaveOverlay(_ need: Need<DecodeNode>) {
        detach(from: need)
        if decodes.contains(need.node) { passOn(need.node) }
    }

    /// Pixels count for one consumer. When it no longer needs them, they count for another one.
    private mutating func passOn(_ node: DecodeNode.ID) {
        let flows = decodes[node].consumers.urgency.flows
        guard let holder = decodes[node].holder, let pixels = decodes[node].pixels,
            !flows.contains(holder)
        else { return }
        overlayBytes.release(pixels.byteCount, of: holder)
        overlayBytes.keep(pixels.byteCount, for: flows.first)
        decodes[node].holder = flows.first
    }
}

/// All nodes of a kind, by id and by key.
struct NodeTable<Kind: Node>: Sendable {
    typealias ID = SlotID<Kind>

    private var nodes = SlotTable<Kind>()
    private var index = Multimap<Kind.Key, ID>()

    var count: Int { nodes.count }
    var ids: [ID] { nodes.ids }
    /// Nodes that are found by their key.
    var listed: Int { index.count }
    /// Whether there is no node, and none is listed.
    var isEmpty: Bool { nodes.count == 0 && index.isEmpty }

    /// A node that is known to be there.
    subscript(id: ID) -> Kind {
        _read { yield nodes[id] }
        _modify { yield &nodes[id] }
    }

    func contains(_ id: ID) -> Bool { nodes.contains(id) }

    /// The nodes that are found under a key, the oldest first.
    func all(under key: Kind.Key) -> [ID] { index[key] }

    /// The first node that is found under a key.
    func first(under key: Kind.Key) -> ID? { index.first(under: key) { _ in true } }

    /// The first of them that is meant.
    func first(under key: Kind.Key, where isMeant: (Kind) -> Bool) -> ID? {
        index.first(under: key) { isMeant(nodes[$0]) }
    }

    mutating func insert(_ node: Kind) -> ID {
        let key = node.key
        let id = nodes.insert(node)
        index.insert(id, under: key)
        return id
    }

    /// A change after which a node is found under another key.
    mutating func rename(_ id: ID, _ change: (inout Kind) -> Void) {
        index.remove(id, under: nodes[id].key)
        change(&nodes[id])
        index.insert(id, under: nodes[id].key)
    }

    /// Takes a node out; `nil` where it left before.
    mutating func remove(_ id: ID) -> Kind? {
        guard let node = nodes.remove(id) else { return nil }
        index.remove(id, under: node.key)
        return node
    }
}

extension NodeTable where Kind: ClosableNode {
    /// Closes a node: it stays, and nobody finds it any more.
    mutating func close(_ id: ID) {
        guard !nodes[id].isClosed else { return }
        nodes[id].isClosed = true
        index.remove(id, under: nodes[id].key)
    }
}

extension NodeTable<SourceNode> {
    /// The source of those bytes that is there, or on its way. The body of a refresh serves as well
    /// as a new transfer. It does not answer a refresh that begins later.
    func serving(_ name: Sourced<SourceKey>) -> ID? {
        let known = all(under: name.key).filter {
            self[$0].name.origin.terms == name.origin.terms && !self[$0].freshness.isClosed
        }
        let isPlain = name.origin.isNetwork
        if isPlain, let newest = known.first(where: { self[$0].isReplacing }) { return newest }
        let same = known.first {
            self[$0].name.origin == name.origin
                && !(name.origin.isRevalidation && self[$0].kept != nil)
        }
        if let same { return same }
        guard name.origin.isUnconditional else { return nil }
        return known.first {
            self[$0].name.origin.isUnconditional && (isPlain || self[$0].kept == nil)
        }
    }
}

/// Several values under one key, few of them, found together with one look. Nearly always it is one
/// value, which costs no list.
struct Multimap<Key: Hashable & Sendable, Value: Equatable & Sendable>: Sendable {
    private struct Values: Sendable {
        var first: Value
        var others: [Value] = []
    }

    private var values: [Key: Values] = [:]

    var isEmpty: Bool { values.isEmpty }
    /// All values under all keys.
    var count: Int { values.values.reduce(0) { $0 + 1 + $1.others.count } }

    /// The values under a key, in the order in which they came.
    subscript(key: Key) -> [Value] { values[key].map { [$0.first] + $0.others } ?? [] }

    /// The first value under a key that is meant.
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

/// The members that wait for one piece of shared work, and how urgent it is for all of them: the
/// highest class, the longest deadline and the flows among them (SEMANTICS §3.4).
struct WaiterList<Member: Sendable>: Sendable {
    typealias Seat = SeatList<Entry>.Seat

    struct Entry: Sendable {
        let waiter: Member
        var urgency: Urgency
    }

    private var seats = SeatList<Entry>()
    private var countByClass: InlineArray<3, Int> = [0, 0, 0]
    private var deadline = Urgency.none.deadline
    private var flows = Urgency.none.flows
    private var isExact = true
    private var leavesSinceScan = 0

    var count: Int { seats.count }
    var isEmpty: Bool { seats.isEmpty }
    var members: [Member] { seats.map(\.waiter) }

    /// Whether a member that is meant waits.
    func contains(where isMeant: (Member) -> Bool) -> Bool {
        seats.contains { isMeant($0.waiter) }
    }

    /// The highest class, exactly. The longest deadline and the flows, exactly up to 16 waiters;
    /// with more of them they may for a while still be those of a member that left.
    var urgency: Urgency {
        let highest = Priority.allCases.last { countByClass[Int($0.rawValue)] > 0 }
        return Urgency(priority: highest ?? .low, deadline: deadline, flows: flows)
    }

    mutating func join(_ waiter: Member, _ urgency: Urgency) -> Seat {
        unite(urgency)
        return seats.join(Entry(waiter: waiter, urgency: urgency))
    }

    mutating func leave(_ seat: Seat) {
        forget(seats.leave(seat).urgency)
    }

    /// Takes out all members that are meant.
    mutating func takeAll(where isMeant: (Member) -> Bool) -> [Member] {
        let leaving = seats.seats { isMeant($0.waiter) }
        let taken = leaving.map { seats[$0].waiter }
        // With all of them goes the list, which need not be told of each.
        if taken.count == count { self = WaiterList() } else { leaving.forEach { leave($0) } }
        return taken
    }

    /// A member wants the work more or less urgently than before.
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

    /// Looks at all members again only after a sixteenth of them left. So ten thousand that leave
    /// one after another cost no more than ten thousand that join.
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
