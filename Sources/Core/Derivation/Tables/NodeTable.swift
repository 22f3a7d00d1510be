import Dispatching
import Messages
import Tables

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
