import Model
import ProcessRuntime
import TestKit
import Testing

@testable import Imagebus

/// Whether a repeated answer has the bytes for which its voucher was granted, and how it is
/// counted.
@Suite struct RepeatedBytesTests {
    private static let count = 37_000
    private let incarnation = Incarnation(Identifier128(high: 1, low: 2))
    private let request = ImageRequest(url: "http://example.org/a.jpg")

    /// A client with a vouched answer whose bytes are all 7.
    private struct Bench: ~Copyable {
        let session: VoucherSession
        let arena: Arena
        let block: OutputBlock
        let reference: BlockReference
        let segment: MappedSegment
    }

    private func bench() throws -> Bench {
        let session = try VoucherSession()
        let folder = session.folder.path
        let arena = try Arena(
            directory: folder, name: .results, incarnation: incarnation,
            totalBytesMax: 4 << 20)
        let block = try arena.reserve(Self.count)
        for index in 0..<Self.count { block.bytes[index] = 7 }
        arena.publish(block)
        var reference = block.reference(length: Self.count)
        reference.producer = BlockReference.Producer(kind: .cache, incarnation: incarnation)
        let segment = try ResultReader(resultsDirectory: folder).segment(of: reference)
        session.file.set(1, to: 1)
        let account = ImageResponse.image("a", .memory, at: reference).account
        _ = session.answers.learn(request, account, Voucher(number: 1), in: segment)
        return Bench(
            session: session, arena: arena, block: block, reference: reference, segment: segment)
    }

    @Test func eachTimeTheBytesAreThereAndOneLoadIsCounted() throws {
        let bench = try bench()
        let answers = bench.session.answers
        for _ in 0..<3 {
            let response = try #require(answers.response(to: request))
            #expect(response.bytes?.array == [UInt8](repeating: 7, count: Self.count))
            #expect(response.voucher?.number == 1 && response.key == "a")
        }
        #expect(answers.uses.collect() == UsedVouchers(loads: 3, numbers: [1]))
    }

    /// The voucher is still valid, but its block now holds another image.
    @Test func whoseBlockIsUsedAgainIsNotGivenNotCountedAndForgotten() throws {
        let bench = try bench()
        let answers = bench.session.answers
        bench.arena.free(bench.block.id)
        let next = try bench.arena.reserve(Self.count)
        bench.arena.publish(next)
        try #require(next.offset == bench.block.offset)
        #expect(answers.response(to: request) == nil)
        #expect(!answers.hasAnswers)
        #expect(answers.uses.collect() == nil)
    }

    /// The bytes are still intact, but the voucher was revoked.
    @Test func whoseVoucherFellIsNotCounted() throws {
        let bench = try bench()
        let answers = bench.session.answers
        bench.session.file.set(1, to: 0)
        #expect(answers.response(to: request) == nil)
        #expect(answers.uses.collect() == nil)
    }

    /// A load that started before the client closed and is counted afterwards.
    @Test func afterTheEndOfTheCountNothingIsGiven() throws {
        let bench = try bench()
        let answers = bench.session.answers
        #expect(answers.response(to: request) != nil)
        answers.uses.close()
        #expect(answers.response(to: request) == nil)
        #expect(answers.uses.collect() == UsedVouchers(loads: 1, numbers: [1]))
    }

    /// The copy would need 1 PiB of memory.
    @Test func forAReferenceThatLeavesItsSegmentNoMemoryIsTaken() throws {
        let bench = try bench()
        var reference = bench.reference
        let whole = BufferPool().copy(reference, in: bench.segment)
        #expect(whole?.count == Self.count)
        reference.length = 1 << 50
        let beyond = BufferPool().copy(reference, in: bench.segment)
        #expect(beyond == nil)
    }
}
