import Linux
import Model
import ProcessRuntime
import Synchronization
import TestKit
import Testing

@testable import Imagebus

/// When a client repeats an answer, tested with a voucher file and a clock.
@Suite struct AnswerVoucherTests {
    private let request = ImageRequest(url: "http://example.org/a.jpg")
    private let session: VoucherSession

    init() throws {
        session = try VoucherSession()
        session.file.set(1, to: 1)
    }

    private var answers: RepeatedAnswers { session.answers }

    private var account: ImageAccount { ImageResponse.image("a", .memory).account }

    @Test func anAnswerIsGivenUntilItsMoment() throws {
        let late = Instant.now().adding(milliseconds: 3_600_000)
        for (until, isGiven) in [(late, true), (Instant.now(), false)] {
            let voucher = answers.learn(
                request, account, Voucher(number: 1, until: until), in: nil)
            #expect(voucher?.use() == isGiven)
            #expect((answers.response(to: request) != nil) == isGiven)
        }
        #expect(answers.uses.collect() == UsedVouchers(loads: 2, numbers: [1]))
        #expect(answers.uses.collect() == nil)
    }

    /// Timestamps from another time namespace are meaningless; only answers that don't expire may
    /// be repeated.
    @Test func byAnotherClockNothingThatExpiresIsRepeated() throws {
        let now = Instant.now()
        let late = now.adding(milliseconds: 3_600_000)
        for clock in [Instant(nanoseconds: 5), late] {
            let session = try VoucherSession(clock: clock)
            let answers = session.answers
            session.file.set(1, to: 1)
            let expiring = answers.learn(
                request, account, Voucher(number: 1, until: late), in: nil)
            #expect(expiring == nil && answers.response(to: request) == nil)
            let lasting = answers.learn(request, account, Voucher(number: 1), in: nil)
            #expect(lasting?.use() == true && answers.response(to: request) != nil)
        }
    }

    @Test func whatFellIsForgottenAndTheEndOfASessionForgetsAll() throws {
        session.file.set(2, to: 2)
        _ = answers.learn(request, account, Voucher(number: 2), in: nil)
        #expect(answers.response(to: request)?.voucher?.number == 2)
        var other = request
        other.timeoutMilliseconds = 7
        #expect(answers.response(to: other) != nil, "how long it would wait does not matter")
        other.frame = 0
        #expect(answers.response(to: other) == nil)
        session.file.set(2, to: 0)
        #expect(answers.response(to: request) == nil)
        session.file.set(2, to: 2)
        #expect(answers.response(to: request) == nil, "it was forgotten")
        _ = answers.learn(request, account, Voucher(number: 2), in: nil)
        answers.sessionEnded()
        #expect(answers.response(to: request) == nil)
        let late = answers.learn(request, account, Voucher(number: 2), in: nil)
        #expect(late == nil, "there is no session")
    }

    /// Equal digests aren't sufficient: the parts left out of them are compared.
    @Test func requestsThatDifferInAnythingHaveAnswersOfTheirOwn() throws {
        let session = try VoucherSession(words: 64)
        let answers = session.answers
        var requests = [ImageRequest](repeating: request, count: 9)
        requests[1].queryCacheTypes = .memory
        requests[2].output.compression = 3
        #expect(Set(requests.prefix(3).map { RequestKey($0).digest }).count == 1)
        requests[3].pixelRatio = 2
        requests[4].context.preset = "small"
        requests[5].output.quality = 7
        requests[6].options = .fromCacheOnly
        requests[7].infoOnly = true
        requests[8].steps = [.flip(horizontal: true, vertical: false)]
        #expect(Set(requests.map { RequestKey($0).digest }).count == 7)
        for round in 0..<2 {
            for (place, request) in requests.enumerated() {
                let number = UInt64(place + 1)
                session.file.set(number, to: number)
                if round == 0 {
                    _ = answers.learn(
                        request, ImageResponse.image("\(place)", .memory).account,
                        Voucher(number: number), in: nil)
                }
                #expect(answers.response(to: request)?.key == "\(place)")
            }
        }
        answers.sessionEnded()
        #expect(!answers.hasAnswers)
    }

    /// As many as a server may use concurrently: none evicts another.
    @Test func tenThousandAnswersAreAtHand() throws {
        let requests = (0..<10_000).map { ImageRequest(url: "http://example.org/\($0).jpg") }
        for request in requests {
            _ = answers.learn(request, account, Voucher(number: 1), in: nil)
        }
        #expect(requests.count { answers.response(to: $0) != nil } == requests.count)
    }

    /// Requests with equal digests share one list.
    @Test func aListHasALimit() throws {
        let requests = (0...AnswerTable.listMax).map { number in
            var request = request
            request.output.compression = number
            return request
        }
        #expect(Set(requests.map { RequestKey($0).digest }).count == 1)
        for request in requests + requests.suffix(1) {
            _ = answers.learn(request, account, Voucher(number: 1), in: nil)
        }
        #expect(answers.response(to: requests[0]) == nil)
        #expect(requests.dropFirst().allSatisfy { answers.response(to: $0) != nil })
        answers.sessionEnded()
        #expect(!answers.hasAnswers)
    }

    /// A reference without its segment would be an image without bytes.
    @Test func anImageWhoseBytesAreNotThereIsNotKept() throws {
        let reference = BlockReference(
            arena: .results, segment: 1, offset: 64, length: 9, block: BlockID(1))
        let account = ImageResponse.image("a", .memory, at: reference).account
        let voucher = answers.learn(request, account, Voucher(number: 1), in: nil)
        #expect(voucher == nil && answers.response(to: request) == nil)
    }

    /// A slot replaces another load, and uploaded or chunked bytes aren't at the voucher's
    /// location, regardless of what a coordinator grants.
    @Test func whatIsMoreThanItsAnswerIsNotRepeated() {
        let plain = LoadRequest(token: Token(Identifier128(high: 1, low: 2)), image: request)
        #expect(PendingLoad(plain).mayBeRepeated)
        func mayBeRepeated(_ change: (inout LoadRequest) -> Void) -> Bool {
            var load = plain
            change(&load)
            return PendingLoad(load).mayBeRepeated
        }
        #expect(!mayBeRepeated { $0.slot = "a" })
        // The log context identifies the request but doesn't affect the answer.
        let id = Identifier128(high: 1, low: 1)
        #expect(
            mayBeRepeated { $0.logContext.trace = TraceContext(trace: id, parent: 1, flags: 1) })
        #expect(!mayBeRepeated { $0.uploadBytes = 1 })
        #expect(!mayBeRepeated { $0.wantsChunks = true })
    }

    @Test func vouchersAreTalliedOnceEach() {
        var tally = VoucherTally()
        let none = tally.removeAll()
        #expect(none.isEmpty)
        for number in [3, 3, 4, 3] as [UInt64] {
            let place = tally.add(number)
            #expect(place.isIn && !place.isLast)
        }
        let reported = tally.removeAll()
        #expect(reported == [3, 4])
        let last = (1...2_000 as ClosedRange<UInt64>).filter { tally.add($0).isLast }
        #expect(last == [UInt64(VoucherTally.numbersMax)] && tally.isFull)
        let late = tally.add(2_000)
        #expect(!late.isIn && !late.isLast, "there is no room")
        let all = tally.removeAll()
        #expect(all.count == VoucherTally.numbersMax && !tally.isFull)
    }

    private final class Running: Sendable {
        let count: Atomic<Int>

        init(_ count: Int) { self.count = Atomic(count) }
    }

    /// With many threads and reports at any time, each load is counted exactly once, up to the end.
    @Test func loadsOfManyThreadsAreCountedOnceEach() throws {
        let uses = VoucherUses(try CommandQueue(commandsMax: 100_000))
        let (threads, loads) = (4, 20_000)
        let running = Running(threads)
        for number in 0..<threads {
            _ = try Thread(name: "uses") {
                let even = VoucherUses.Mark(0)
                let odd = VoucherUses.Mark(0)
                for _ in 0..<(loads / 2) {
                    _ = uses.count(UInt64(2 * number), even)
                    _ = uses.count(UInt64(2 * number + 1), odd)
                }
                running.count.subtract(1, ordering: .releasing)
            }
        }
        var reported: UInt64 = 0
        while running.count.load(ordering: .acquiring) > 0 {
            reported += uses.collect()?.loads ?? 0
        }
        #expect(uses.count(9), "without a mark")
        uses.close()
        #expect(!uses.count(9))
        let last = uses.collect()
        #expect(last?.numbers.contains(9) == true)
        #expect(reported + (last?.loads ?? 0) == UInt64(threads * loads + 1))
        #expect(uses.collect() == nil, "after the end nothing is counted")
    }

    /// A number whose load was already reported is sent with the next loads, and a command is
    /// queued for those.
    @Test func aNumberThatComesLateIsTold() throws {
        let commands = try CommandQueue(commandsMax: 10)
        let uses = VoucherUses(commands)
        let first = VoucherUses.Mark(0)
        let second = VoucherUses.Mark(0)
        _ = uses.addLoad()
        #expect(uses.collect() == nil, "its number is missing")
        uses.tally(5, first)
        #expect(uses.collect() == UsedVouchers(loads: 1, numbers: [5]))
        _ = (uses.addLoad(), uses.count(6, second))
        #expect(uses.collect() == UsedVouchers(loads: 2, numbers: [6]))
        uses.tally(5, first)
        #expect(uses.collect() == nil, "its load was reported")
        var received: [ClientCommand] = []
        commands.queue.removeAll(into: &received)
        #expect(received.count == 3)
        _ = uses.count(6, second)
        commands.queue.removeAll(into: &received)
        #expect(received.count == 4)
        #expect(uses.collect() == UsedVouchers(loads: 1, numbers: [5, 6]))
    }

    /// The next session assigns the numbers to other vouchers.
    @Test func usesOfASessionEndWithIt() throws {
        let uses = VoucherUses(try CommandQueue(commandsMax: 10))
        let mark = VoucherUses.Mark(0)
        _ = uses.count(5, mark)
        uses.drop()
        #expect(uses.collect() == nil)
        _ = uses.count(5, mark)
        #expect(uses.collect() == UsedVouchers(loads: 1, numbers: [5]))
    }

    /// A voucher whose mark is from an earlier round is reported again.
    @Test func inEachRoundAVoucherIsToldOnce() throws {
        let uses = VoucherUses(try CommandQueue(commandsMax: 10))
        let mark = VoucherUses.Mark(0)
        for _ in 0..<3 {
            let (first, second) = (uses.count(5, mark), uses.count(5, mark))
            #expect(first && second)
            #expect(uses.collect() == UsedVouchers(loads: 2, numbers: [5]))
        }
    }
}
