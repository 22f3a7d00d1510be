import EventLoop
import ImageModel
import Linux
import Synchronization

/// Where callers leave their orders for the line, and who runs it at the moment.
final class CommandQueue: Sendable {
    /// Who runs the line.
    enum Holder: UInt8, AtomicRepresentable {
        case nobody
        case ownThread
        case caller
    }

    let orders: Mailbox<ClientOrder>
    let holder = Atomic(Holder.ownThread)
    /// Who runs the line is awake, and will look at the orders before it waits.
    let isTurning = Atomic(false)
    /// Wakes the own thread where it does not run the line.
    let recall: EventDescriptor
    /// Why nothing is taken any more.
    private let ended = Mutex<ImageError?>(nil)

    init(ordersMax: Int) throws(Errno) {
        orders = try Mailbox(elementsMax: ordersMax)
        recall = try EventDescriptor()
    }

    /// Whether no order waits at this moment.
    var isEmpty: Bool { orders.isEmpty }

    /// Tells the line something; false where it is not taken (`refusal`). Any thread.
    func post(_ order: ClientOrder) -> Bool {
        guard orders.post(order, wakes: false) else { return false }
        rouse()
        return true
    }

    /// Why something was not taken.
    var refusal: ImageError {
        ended.withLock { $0 } ?? ImageError(.busy, "too much is pending in this process")
    }

    /// The line has ended: refuses what waits, and all that comes later.
    func close(_ reason: ImageError) {
        ended.withLock { $0 = reason }
        for order in orders.close() { order.refuse(reason) }
    }

    /// Sees to it that what was just left for the line is looked at. Any thread.
    ///
    /// It was left under a lock under which the line looks for it after saying that it is no longer
    /// turning, or that nobody runs it: so either the line finds it, or this finds the line asleep.
    func rouse() {
        if !isTurning.exchange(true, ordering: .sequentiallyConsistent) { orders.wake() }
        if holder.load(ordering: .sequentiallyConsistent) == .nobody { recall.signal() }
    }
}
