import Model
import Testing
import ZeroMQ

@testable import Coordinator

private func identifier(_ number: UInt64) -> Identifier128 { Identifier128(high: 0, low: number) }

private let client = Peer.Role.client(
    ClientHello(incarnation: Incarnation(identifier(1)), pid: 1, version: "1"))

@Suite struct PeerTableTests {
    private func connection(_ ordinal: UInt64) -> ConnectionLedger.Connection {
        ConnectionLedger.Connection(descriptor: 10, ordinal: ordinal)
    }

    @Test func aSessionIsFoundByItsAddressAndByItsConnection() {
        var table = PeerTable()
        let routing = RoutingID(rawValue: 1)
        let id = table.insert(
            listener: .front, routing: routing, connection: connection(1), role: client)
        #expect(table.id(at: .front, routing) == id)
        #expect(table.id(at: .front, connection(1)) == id)
        #expect(table.id(at: .admin, routing) == nil, "listeners count for themselves")
        #expect(table.id(at: .front, connection(2)) == nil)
    }

    @Test func anEndedSessionDoesNotTakeItsSuccessorAlong() {
        var table = PeerTable()
        let routing = RoutingID(rawValue: 1)
        let old = table.insert(
            listener: .front, routing: routing, connection: connection(1), role: client)
        let new = table.insert(
            listener: .front, routing: routing, connection: connection(2), role: client)
        #expect(table.remove(old)?.id == old)
        #expect(table.id(at: .front, routing) == new)
        #expect(table.remove(old) == nil)
        #expect(table.count == 1 && new > old)
    }
}

@Suite struct OutboxTests {
    private func progress(_ token: UInt64, _ received: UInt64) -> Outbox.Message {
        .toClient(
            .progress(
                RequestProgress(token: Token(identifier(token)), received: received, expected: 0)))
    }

    /// Tokens and byte counts of the queued progress events.
    private func waiting(_ outbox: Outbox) -> [[UInt64]] {
        outbox.waiting.compactMap { message in
            guard case .toClient(.progress(let progress)) = message else { return nil }
            return [progress.token.value.low, progress.received]
        }
    }

    @Test func ofProgressOnlyTheNewestIsKeptForEachRequest() {
        var outbox = Outbox()
        _ = outbox.append(progress(1, 10))
        _ = outbox.append(progress(2, 5))
        _ = outbox.append(progress(1, 20))
        #expect(waiting(outbox) == [[2, 5], [1, 20]])
    }

    @Test func everythingElseIsKeptInOrder() {
        var outbox = Outbox()
        for _ in 0..<3 { _ = outbox.append(.toWorker(.drain)) }
        outbox.removeFirst(1)
        #expect(outbox.waiting.count == 2 && !outbox.isEmpty)
    }

    @Test func aPeerThatNeverReadsHasAFullOutboxInTheEnd() {
        var outbox = Outbox()
        let taken = (0...Outbox.messagesMax).map { _ in outbox.append(.toWorker(.drain)) }
        #expect(taken.allSatisfy { $0 } == false && taken.dropLast().allSatisfy { $0 })
        #expect(outbox.waiting.count == Outbox.messagesMax)
    }
}
