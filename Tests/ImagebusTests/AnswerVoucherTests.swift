import EventLoop
import ImageModel
import Linux
import Messages
import SharedArena
import TestKit
import Testing

@testable import Imagebus

/// When a client repeats an answer, by a file of vouchers and a clock.
@Suite struct AnswerVoucherTests {
    private let folder = TestKit.TemporaryDirectory()
    private let epoch = Epoch(Identifier128(high: 3, low: 4))
    private let request = ImageRequest(url: "http://example.org/a.jpg")

    private func welcome(clock: Instant = .now()) -> ClientWelcome {
        ClientWelcome(epoch: epoch, window: 1, voucherWords: 16, clock: clock)
    }

    private func answers() throws -> RepeatedAnswers {
        RepeatedAnswers(try CommandQueue(ordersMax: 10), CopyPool())
    }

    private var response: ImageResponse { .image("a", .memory) }

    private var socket: String { folder.path + "/front.sock" }

    @Test func anAnswerIsGivenUntilItsMoment() throws {
        let file = try VoucherFile(in: folder.path, epoch: epoch, words: 16)
        let answers = try answers()
        answers.sessionBegan(welcome(), at: socket)
        file.set(1, to: 1)
        let late = Instant.now().adding(milliseconds: 3_600_000)
        for (until, isGiven) in [(late, true), (Instant.now(), false)] {
            let voucher = answers.learn(
                request, response, Voucher(number: 1, until: until), nil, in: nil)
            #expect(voucher?.use() == isGiven)
            #expect((answers.response(to: request) != nil) == isGiven)
        }
        #expect(answers.uses.take() == UsedVouchers(loads: 2, numbers: [1]))
        #expect(answers.uses.take() == nil)
    }

    /// In another time namespace moments say nothing; what does not expire may be repeated.
    @Test func byAnotherClockNothingThatExpiresIsRepeated() throws {
        let file = try VoucherFile(in: folder.path, epoch: epoch, words: 16)
        file.set(1, to: 1)
        let now = Instant.now()
        let late = now.adding(milliseconds: 3_600_000)
        for clock in [Instant(nanoseconds: 5), late] {
            let answers = try answers()
            answers.sessionBegan(welcome(clock: clock), at: socket)
            let expiring = answers.learn(
                request, response, Voucher(number: 1, until: late), nil, in: nil)
            #expect(expiring == nil && answers.response(to: request) == nil)
            let lasting = answers.learn(request, response, Voucher(number: 1), nil, in: nil)
            #expect(lasting?.use() == true && answers.response(to: request) != nil)
        }
    }

    @Test func whatFellIsForgottenAndTheEndOfASessionForgetsAll() throws {
        let file = try VoucherFile(in: folder.path, epoch: epoch, words: 16)
        let answers = try answers()
        answers.sessionBegan(welcome(), at: socket)
        file.set(2, to: 2)
        _ = answers.learn(request, response, Voucher(number: 2), nil, in: nil)
        #expect(answers.response(to: request)?.voucher?.number == 2)
        var other = request
        other.timeoutMilliseconds = 7
        #expect(answers.response(to: other) != nil, "how long it would wait does not matter")
        other.frame = 0
        #expect(answers.response(to: other) == nil)
        file.set(2, to: 0)
        #expect(answers.response(to: request) == nil)
        file.set(2, to: 2)
        #expect(answers.response(to: request) == nil, "it was forgotten")
        _ = answers.learn(request, response, Voucher(number: 2), nil, in: nil)
        answers.sessionEnded()
        #expect(answers.response(to: request) == nil)
        let late = answers.learn(request, response, Voucher(number: 2), nil, in: nil)
        #expect(late == nil, "there is no session")
    }

    /// The digest of a request does not say all of it.
    @Test func requestsThatDifferInAnythingHaveAnswersOfTheirOwn() throws {
        let file = try VoucherFile(in: folder.path, epoch: epoch, words: 16)
        let answers = try answers()
        answers.sessionBegan(welcome(), at: socket)
        var requests = [request, request, request]
        requests[1].pixelRatio = 2
        requests[2].context.preset = "small"
        #expect(Set(requests.map { RequestKey.digest(of: $0) }).count == 1)
        for round in 0..<2 {
            for (place, request) in requests.enumerated() {
                let number = UInt64(place + 1)
                file.set(number, to: number)
                if round == 0 {
                    _ = answers.learn(
                        request, .image("\(place)", .memory), Voucher(number: number), nil, in: nil)
                }
                #expect(answers.response(to: request)?.key == "\(place)")
            }
        }
    }

    @Test func ofOneDigestSomeAnswersAreKept() throws {
        let file = try VoucherFile(in: folder.path, epoch: epoch, words: 64)
        let answers = try answers()
        answers.sessionBegan(
            ClientWelcome(epoch: epoch, window: 1, voucherWords: 64, clock: .now()), at: socket)
        let requests = (0..<(AnswerTable.sameDigestMax + 1)).map { number in
            var request = request
            request.context.preset = "p\(number)"
            return request
        }
        for (place, request) in requests.enumerated() {
            file.set(UInt64(place + 1), to: UInt64(place + 1))
            for _ in 0..<2 {
                _ = answers.learn(
                    request, response, Voucher(number: UInt64(place + 1)), nil, in: nil)
            }
        }
        #expect(answers.response(to: requests[0]) == nil)
        for request in requests.dropFirst() { #expect(answers.response(to: request) != nil) }
        answers.sessionEnded()
        #expect(!answers.hasAnswers)
    }

    /// A reference without its segment would be an image without bytes.
    @Test func anImageWhoseBytesAreNotThereIsNotKept() throws {
        let file = try VoucherFile(in: folder.path, epoch: epoch, words: 16)
        file.set(1, to: 1)
        let answers = try answers()
        answers.sessionBegan(welcome(), at: socket)
        let reference = BlockReference(
            arena: .results, segment: 1, offset: 64, length: 9, block: BlockID(1))
        let voucher = answers.learn(request, response, Voucher(number: 1), reference, in: nil)
        #expect(voucher == nil && answers.response(to: request) == nil)
    }

    /// A slot ends another load, a trace is logged, and bytes that come along or in pieces are not
    /// where a voucher says: that is so whatever a coordinator grants.
    @Test func whatIsMoreThanItsAnswerIsNotRepeated() {
        let plain = LoadRequest(token: Token(Identifier128(high: 1, low: 2)), image: request)
        #expect(plain.mayBeRepeated)
        func mayBeRepeated(_ change: (inout LoadRequest) -> Void) -> Bool {
            var load = plain
            change(&load)
            return load.mayBeRepeated
        }
        #expect(!mayBeRepeated { $0.slot = "a" })
        let id = Identifier128(high: 1, low: 1)
        #expect(!mayBeRepeated { $0.trace = TraceContext(trace: id, parent: 1, flags: 0) })
        #expect(!mayBeRepeated { $0.uploadBytes = 1 })
        #expect(!mayBeRepeated { $0.wantsPieces = true })
    }

    @Test func usesAreTalliedOnceEach() {
        var tally = VoucherTally()
        #expect(tally.take() == nil)
        for number in [3, 3, 4, 3] as [UInt64] { tally.add(number) }
        #expect(tally.take() == UsedVouchers(loads: 4, numbers: [3, 4]))
        for number in 1...2_000 as ClosedRange<UInt64> { tally.add(number) }
        #expect(tally.isFull)
        let told = tally.take()
        #expect(told?.loads == 2_000 && told?.numbers.count == VoucherTally.numbersMax)
        #expect(tally.isEmpty && !tally.isFull)
    }
}
