import Model
import TestKit
import Testing

@testable import Downloading

/// Partial bodies are handed out while the rest arrives (`Progress.arrived`).
@Suite struct EarlyBodyTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// The next part handed out that has that many bytes.
    private func part(_ bench: DownloadBench, of bytes: Int) async -> JobProgress? {
        let reports = await bench.progress.wait {
            $0.arrived?.length == UInt64(bytes)
        }
        return reports ? bench.progress.values.last { $0.arrived != nil } : nil
    }

    @Test func partsAreOfTheSameMemoryUnderIDsOfTheirOwn() async throws {
        let turnstile = Turnstile()
        let bytes = Self.png + Array(repeating: 7, count: 8)
        let bench = try DownloadBench.started(
            "/a", .stepped(bytes, chunk: 8, by: turnstile), wantsProgress: false, wantsArrived: true
        ) { $0.publishing.interval = 0 }
        turnstile.admit()
        let first = try #require(await part(bench, of: 8))
        #expect(first.format == .png && first.received == 8 && first.expected == 16)
        let early = try #require(first.arrived)
        #expect(bench.space.bytes(early) == Self.png)
        #expect(bench.space.reservations.count == 1, "no copy was made")
        bench.space.free(early.block)
        turnstile.admit()
        let second = try #require(await part(bench, of: 16)?.arrived)
        #expect(second.block != early.block && second.offset == early.offset)
        let body = try #require(await bench.body())
        #expect(body.reference.block != second.block)
        #expect(bench.space.bytes(body.reference) == bytes)
        bench.space.free(body.reference.block)
        #expect(bench.space.bytes(second) == bytes, "the reader of a part still has it")
        bench.space.free(second.block)
        #expect(bench.space.liveCount == 0)
    }

    /// A part waits until the previous one is returned, and is then handed out even without further
    /// bytes.
    @Test func oneIsOutAtATime() async throws {
        let bench = try DownloadBench { $0.publishing.interval = 20 }
        let (turnstile, gate) = (Turnstile(), Gate())
        let bytes = Array(repeating: UInt8(9), count: 30)
        bench.origin.route("/a", .stepped(bytes, chunk: 10, by: turnstile))
        bench.origin.route("/b", .hangBody(until: gate, then: [1]))
        bench.start("/a", wantsArrived: true)
        turnstile.admit()
        let early = try #require(await part(bench, of: 10)?.arrived)
        turnstile.admit()
        // The loop has completed a turn in which it could have handed out twenty bytes.
        bench.start("/b", id: 2)
        #expect(await bench.progress.wait { $0.id == JobID(2) })
        #expect(bench.progress.values.count { $0.arrived != nil } == 1)
        bench.space.free(early.block)
        let next = try #require(await part(bench, of: 20)?.arrived)
        bench.space.free(next.block)
        turnstile.admit()
        #expect(await bench.outcomes.wait() != nil)
        gate.open()
    }

    /// A recipient that was too busy gets the same bytes again if nothing more arrives.
    @Test func theSameBytesComeAgainWhereNothingElseDoes() async throws {
        let bench = try DownloadBench {
            ($0.publishing.interval, $0.publishing.again) = (1, 1)
        }
        let turnstile = Turnstile()
        let bytes = Array(repeating: UInt8(5), count: 20)
        bench.origin.route("/a", .stepped(bytes, chunk: 10, by: turnstile))
        bench.start("/a", wantsProgress: false, wantsArrived: true)
        turnstile.admit()
        for time in 1...7 {
            let part = try #require(await bench.progress.wait(count: time)?.last?.arrived)
            #expect(part.length == 10 && bench.space.bytes(part) == Array(bytes[..<10]))
            bench.space.free(part.block)
        }
        turnstile.admit()
        #expect(await bench.outcome() != nil)
        let blocks = bench.progress.values.compactMap(\.arrived?.block)
        #expect(blocks.count >= 7 && Set(blocks).count == blocks.count)
    }

    @Test func whoLooksLaterGetsWhatIsThereAtOnce() async throws {
        let turnstile = Turnstile()
        let bench = try DownloadBench.started(
            "/a", .stepped(Array(repeating: 3, count: 20), chunk: 10, by: turnstile)
        ) { $0.publishing.interval = 0 }
        turnstile.admit()
        #expect(await bench.progress.wait { $0.received == 10 })
        #expect(bench.progress.values.allSatisfy { $0.arrived == nil })
        bench.listen(to: JobID(1), looks: true)
        let early = try #require(await part(bench, of: 10)?.arrived)
        #expect(bench.space.bytes(early) == Array(repeating: 3, count: 10))
        turnstile.admit()
        #expect(await bench.outcome() != nil)
    }

    /// A growing body is reallocated: the part that was handed out stays valid.
    @Test func aPartStaysWhereTheBodyMoves() async throws {
        let turnstile = Turnstile()
        let bytes = (0..<400_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let bench = try DownloadBench.started(
            "/a", .stepped(bytes, chunk: 50_000, by: turnstile), wantsArrived: true
        ) { $0.publishing.interval = 0 }
        turnstile.admit()
        #expect(await bench.progress.wait { $0.arrived != nil })
        let early = try #require(bench.progress.values.compactMap(\.arrived).first)
        turnstile.admit(7)
        #expect(await bench.outcome() != nil)
        #expect(bench.space.bytes(early) == Array(bytes[..<Int(early.length)]))
        bench.space.free(early.block)
    }
}
