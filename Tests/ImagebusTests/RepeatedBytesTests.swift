import EventLoop
import ImageModel
import Messages
import SharedArena
import StageContract
import TestKit
import Testing

@testable import Imagebus

/// Whether a repeated answer has the bytes that its voucher was given for, and how it is counted.
@Suite struct RepeatedBytesTests {
    private static let count = 37_000
    private let folder = TestKit.TemporaryDirectory()
    private let epoch = Epoch(Identifier128(high: 3, low: 4))
    private let incarnation = Incarnation(Identifier128(high: 1, low: 2))
    private let request = ImageRequest(url: "http://example.org/a.jpg")

    /// A client that knows an answer with a voucher, whose bytes are all 7.
    private struct Bench: ~Copyable {
        let answers: RepeatedAnswers
        let file: VoucherFile
        let arena: Arena
        let block: OutputBlock
    }

    private func bench() throws -> Bench {
        let file = try VoucherFile(in: folder.path, epoch: epoch, words: 16)
        let answers = RepeatedAnswers(try CommandQueue(ordersMax: 10), CopyPool())
        answers.sessionBegan(
            ClientWelcome(epoch: epoch, window: 1, voucherWords: 16, clock: .now()),
            at: folder.path + "/front.sock")
        let arena = try Arena(
            directory: folder.path, name: .results, incarnation: incarnation,
            totalBytesMax: 4 << 20)
        let block = try arena.reserve(Self.count)
        for index in 0..<Self.count { block.bytes[index] = 7 }
        arena.publish(block)
        var reference = block.reference(length: Self.count)
        reference.producer = BlockReference.Producer(kind: .cache, incarnation: incarnation)
        let segment = try ResultReader(resultsDirectory: folder.path).segment(of: reference)
        file.set(1, to: 1)
        let account = ImageResponse.image("a", .memory).account
        _ = answers.learn(request, account, Voucher(number: 1), reference, in: segment)
        return Bench(answers: answers, file: file, arena: arena, block: block)
    }

    @Test func eachTimeTheBytesAreThereAndOneLoadIsCounted() throws {
        let bench = try bench()
        for _ in 0..<3 {
            let response = try #require(bench.answers.response(to: request))
            #expect(response.bytes?.array == [UInt8](repeating: 7, count: Self.count))
            #expect(response.voucher?.number == 1 && response.key == "a")
        }
        #expect(bench.answers.uses.take() == UsedVouchers(loads: 3, numbers: [1]))
    }

    /// The voucher stands, but its block holds another image by now.
    @Test func whoseBlockIsUsedAgainIsNotGivenNotCountedAndForgotten() throws {
        let bench = try bench()
        bench.arena.free(bench.block.id)
        let next = try bench.arena.reserve(Self.count)
        bench.arena.publish(next)
        try #require(next.offset == bench.block.offset)
        #expect(bench.answers.response(to: request) == nil)
        #expect(!bench.answers.hasAnswers)
        #expect(bench.answers.uses.take() == nil)
    }

    /// What fell is not looked at: the bytes are still those of the answer.
    @Test func whoseVoucherFellIsNotCounted() throws {
        let bench = try bench()
        bench.file.set(1, to: 0)
        #expect(bench.answers.response(to: request) == nil)
        #expect(bench.answers.uses.take() == nil)
    }

    /// A load that began before the end of the client, and is counted after it.
    @Test func afterTheEndOfTheCountNothingIsGiven() throws {
        let bench = try bench()
        #expect(bench.answers.response(to: request) != nil)
        bench.answers.uses.close()
        #expect(bench.answers.response(to: request) == nil)
        #expect(bench.answers.uses.take() == UsedVouchers(loads: 1, numbers: [1]))
    }
}
