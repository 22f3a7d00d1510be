import Model
import Testing

@testable import Coordinator

struct ChunkDeliveriesTests {
    private static let start = Instant(nanoseconds: 0)
    private let client = ClientID(1)

    private func delivery(_ number: UInt64, bytes: UInt64) -> ChunkDeliveries.Delivery {
        let token = Token(Identifier128(high: 0, low: number))
        let reference = BlockReference(
            arena: .results, segment: 1, offset: 64, length: bytes, block: BlockID(number))
        let image = DeliveredImage(
            reference: reference,
            info: ImageInfo(format: .png, size: PixelSize(width: 1, height: 1)), cacheType: .none,
            key: "k")
        return ChunkDeliveries.Delivery(
            load: LoadRequest(token: token, image: ImageRequest(url: "u")), deadline: Self.start,
            reply: Reply(token: token, outcome: .image(image)), image: image, reference: reference)
    }

    /// Sends until the window is full. Returns the bytes sent and the low halves of the tokens of
    /// finished deliveries.
    private func sendAll(_ deliveries: inout ChunkDeliveries) -> (bytes: Int, done: [UInt64]) {
        var (bytes, done) = (0, [UInt64]())
        while let slice = deliveries.next(for: client) {
            bytes += slice.count
            if let last = deliveries.sent(slice, to: client, at: Self.start) {
                done.append(last.reply.token.value.low)
            }
        }
        return (bytes, done)
    }

    @Test func goesOutInOrderAsFarAsTheWindowPermits() {
        var deliveries = ChunkDeliveries(windowBytes: 200_000)
        deliveries.begin(delivery(1, bytes: 61_440), to: client)
        deliveries.begin(delivery(2, bytes: 300_000), to: client)
        let first = sendAll(&deliveries)
        #expect(first.done == [1])
        #expect(first.bytes == 3 * 61_440)
        let taken1 = deliveries.acknowledged(61_440, by: client, at: Self.start)
        #expect(taken1)
        let more = sendAll(&deliveries)
        #expect(more.bytes == 61_440)
        let taken2 = deliveries.acknowledged(184_320, by: client, at: Self.start)
        #expect(taken2)
        let rest = sendAll(&deliveries)
        #expect(rest.done == [2])
        #expect(first.bytes + 61_440 + rest.bytes == 361_440)
        #expect(deliveries.stalled == nil)
    }

    @Test func moreThanWasSentCannotBeTaken() {
        var deliveries = ChunkDeliveries()
        deliveries.begin(delivery(1, bytes: 10), to: client)
        _ = sendAll(&deliveries)
        let taken3 = deliveries.acknowledged(11, by: client, at: Self.start)
        #expect(!taken3)
        let taken4 = deliveries.acknowledged(10, by: client, at: Self.start)
        #expect(taken4)
        let taken5 = deliveries.acknowledged(1, by: client, at: Self.start)
        #expect(!taken5)
    }

    @Test func whoTakesNothingWhileSomethingWaitsIsNamed() {
        var deliveries = ChunkDeliveries(windowBytes: 61_440)
        deliveries.begin(delivery(1, bytes: 200_000), to: client)
        _ = sendAll(&deliveries)
        #expect(deliveries.stalled?.client == client)
        #expect(deliveries.stalled?.since == Self.start)
        let later = Self.start.adding(milliseconds: 5)
        let taken6 = deliveries.acknowledged(1, by: client, at: later)
        #expect(taken6)
        #expect(deliveries.stalled?.since == later)
        deliveries.leave(client)
        #expect(deliveries.stalled == nil)
    }

    /// Each client has its own stall deadline, counted from its last acknowledgment.
    @Test func eachClientStallsByItselfAndOnlyWhileSomethingWaits() {
        var deliveries = ChunkDeliveries(windowBytes: 61_440)
        deliveries.begin(delivery(1, bytes: 1_000), to: client)
        _ = sendAll(&deliveries)
        #expect(deliveries.stalledSince(client) == nil)
        deliveries.begin(delivery(2, bytes: 200_000), to: client)
        #expect(deliveries.stalledSince(client) == Self.start)
        #expect(deliveries.stalledSince(ClientID(2)) == nil)
        let later = Self.start.adding(milliseconds: 5)
        let taken = deliveries.acknowledged(1, by: client, at: later)
        #expect(taken)
        #expect(deliveries.stalledSince(client) == later)
    }

    @Test func whatIsCancelledGoesOutNoFurther() {
        var deliveries = ChunkDeliveries(windowBytes: 61_440)
        deliveries.begin(delivery(1, bytes: 100_000), to: client)
        deliveries.begin(delivery(2, bytes: 100_000), to: client)
        _ = sendAll(&deliveries)
        let cancelled = deliveries.cancel(of: client) { $0.token.value.low == 1 }
        #expect(cancelled.map(\.reply.token.value.low) == [1])
        let taken7 = deliveries.acknowledged(61_440, by: client, at: Self.start)
        #expect(taken7)
        #expect(deliveries.next(for: client)?.delivery.reply.token.value.low == 2)
        #expect(deliveries.next(for: client)?.offset == 0)
    }

    @Test func onlyExpectedLoadsGoOutInPieces() {
        var deliveries = ChunkDeliveries()
        let load = LoadRequest(
            token: Token(Identifier128(high: 0, low: 9)), image: ImageRequest(url: "u"))
        deliveries.expect(load, of: client, until: Self.start)
        let stranger = deliveries.replied(load.token, of: ClientID(2))
        #expect(stranger == nil)
        let first = deliveries.replied(load.token, of: client)
        #expect(first?.load == load)
        let second = deliveries.replied(load.token, of: client)
        #expect(second == nil)
    }
}
