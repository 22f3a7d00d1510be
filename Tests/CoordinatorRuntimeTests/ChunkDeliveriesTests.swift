import Model
import Testing

@testable import Coordinator

struct ChunkDeliveriesTests {
    private let start = Instant(nanoseconds: 0)
    private let client = ClientID(1)
    private var deliveries = ChunkDeliveries(windowBytes: 61_440)

    private func load(_ number: UInt64) -> LoadRequest {
        LoadRequest(
            token: Token(Identifier128(high: 0, low: number)), image: ImageRequest(url: "u"))
    }

    private mutating func begin(_ number: UInt64, bytes: UInt64) {
        let load = load(number)
        let reference = BlockReference(
            arena: .results, segment: 1, offset: 64, length: bytes, block: BlockID(number))
        let image = DeliveredImage(
            reference: reference,
            info: ImageInfo(format: .png, size: PixelSize(width: 1, height: 1)), cacheType: .none,
            key: "k")
        deliveries.begin(
            ChunkDeliveries.Delivery(
                load: load, deadline: start,
                reply: Reply(token: load.token, outcome: .image(image)), image: image,
                reference: reference),
            to: client)
    }

    private mutating func acknowledge(_ bytes: UInt64, after milliseconds: Int = 0) -> Bool {
        deliveries.acknowledged(bytes, by: client, at: start.adding(milliseconds: milliseconds))
    }

    /// Sends until the window is full. Returns the bytes sent and the low halves of the tokens of
    /// finished deliveries.
    @discardableResult
    private mutating func sendAll() -> (bytes: Int, done: [UInt64]) {
        var (bytes, done) = (0, [UInt64]())
        while let slice = deliveries.next(for: client) {
            bytes += slice.count
            if let last = deliveries.sent(slice, to: client, at: start) {
                done.append(last.reply.token.value.low)
            }
        }
        return (bytes, done)
    }

    @Test mutating func goesOutInOrderAsFarAsTheWindowPermits() {
        deliveries = ChunkDeliveries(windowBytes: 200_000)
        begin(1, bytes: 61_440)
        begin(2, bytes: 300_000)
        #expect(sendAll() == (3 * 61_440, [1]))
        #expect(acknowledge(61_440) == true)
        #expect(sendAll() == (61_440, []))
        #expect(acknowledge(184_320) == true)
        #expect(sendAll() == (361_440 - 4 * 61_440, [2]))
        #expect(deliveries.stalled == nil)
    }

    @Test mutating func moreThanWasSentCannotBeTaken() {
        begin(1, bytes: 10)
        sendAll()
        #expect([acknowledge(11), acknowledge(10), acknowledge(1)] == [false, true, false])
    }

    /// Each client has its own stall deadline, counted from its last acknowledgment.
    @Test mutating func whoTakesNothingWhileSomethingWaitsIsNamed() {
        deliveries = ChunkDeliveries(windowBytes: 70_000)
        begin(1, bytes: 1_000)
        sendAll()
        #expect(deliveries.stalledSince(client) == nil)
        begin(2, bytes: 200_000)
        #expect(deliveries.stalledSince(client) == start)
        #expect(sendAll().bytes == 61_440)
        #expect(deliveries.stalled?.client == client)
        #expect(deliveries.stalled?.since == start)
        #expect(deliveries.stalledSince(ClientID(2)) == nil)
        #expect(acknowledge(1, after: 5) == true)
        #expect(deliveries.stalled?.since == start.adding(milliseconds: 5))
        #expect(deliveries.stalledSince(client) == start.adding(milliseconds: 5))
        deliveries.leave(client)
        #expect(deliveries.stalled == nil)
    }

    @Test mutating func whatIsCancelledGoesOutNoFurther() {
        begin(1, bytes: 100_000)
        begin(2, bytes: 100_000)
        sendAll()
        let cancelled = deliveries.cancel(of: client) { $0.token.value.low == 1 }
        #expect(cancelled.map(\.reply.token.value.low) == [1])
        #expect(acknowledge(61_440) == true)
        #expect(deliveries.next(for: client)?.delivery.reply.token.value.low == 2)
        #expect(deliveries.next(for: client)?.offset == 0)
    }

    @Test mutating func onlyExpectedLoadsGoOutInPieces() {
        let load = load(9)
        deliveries.expect(load, of: client, until: start)
        #expect(deliveries.replied(load.token, of: ClientID(2)) == nil)
        #expect(deliveries.replied(load.token, of: client)?.load == load)
        #expect(deliveries.replied(load.token, of: client) == nil)
    }
}
