import Dispatching
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
