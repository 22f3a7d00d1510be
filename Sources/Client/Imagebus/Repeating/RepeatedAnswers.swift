import EventLoop
import ImageModel
import Linux
import Messages
import SharedArena
import Synchronization

/// Answers that this client was told with a voucher, and gives again without asking
/// (SEMANTICS §5.24). Any thread; learns on the line.
///
/// Bounded: beyond `answersMax` all are forgotten; those in use come back with their next load.
final class RepeatedAnswers: Sendable {
    private struct Answer: Sendable {
        /// Without its bytes.
        let response: ImageResponse
        let voucher: Voucher
        let words: VoucherReader
        let bytes: Place?
    }

    /// Where the bytes of an answer lie.
    private struct Place: Sendable {
        let segment: MappedSegment
        let reference: BlockReference
    }

    private struct State {
        var answers: [RequestKey: Answer] = [:]
        var tally = VoucherTally()
        /// The file of this session, and whether moments of its vouchers are of our clock.
        var words: VoucherReader?
        var sharesClock = false
        var isClosed = false
    }

    private let state = Mutex(State())
    private let commands: CommandQueue
    private let copies: CopyPool

    private static let answersMax = 32_768
    /// A clock that differs by more is another one: that of a time namespace.
    private static let clockMillisecondsMax = 1_000

    init(_ commands: CommandQueue, _ copies: CopyPool) {
        (self.commands, self.copies) = (commands, copies)
    }

    // MARK: - Any thread

    /// The answer to a request, where one stands; `nil`: the coordinator is to be asked.
    func response(to request: ImageRequest) -> ImageResponse? {
        guard hasAnswers else { return nil }
        let key = RequestKey(request)
        guard let answer = state.withLock({ $0.answers[key] }) else { return nil }
        let voucher = AnswerVoucher(answers: self, words: answer.words, voucher: answer.voucher)
        // Before the bytes are looked at: here the load takes effect.
        guard voucher.stands else { return forget(key, answer.voucher.number) }
        var response = answer.response
        if let place = answer.bytes {
            guard let bytes = copy(place) else { return forget(key, answer.voucher.number) }
            response.bytes = bytes
        }
        guard count(answer.voucher.number) else { return nil }
        response.voucher = voucher
        return response
    }

    /// The bytes, unless their block was used again before they were copied.
    private func copy(_ place: Place) -> ImageBytes? {
        let buffer = copies.take(Int(place.reference.length))
        guard place.segment.copy(place.reference, into: buffer.target) else { return nil }
        return ImageBytes(buffer)
    }

    private func forget(_ key: RequestKey, _ number: UInt64) -> ImageResponse? {
        state.withLock { state in
            // Another thread may have learned the next one.
            if state.answers[key]?.voucher.number == number { state.answers[key] = nil }
        }
        return nil
    }

    /// Counts a load that was answered; false where the client has ended.
    func count(_ number: UInt64) -> Bool {
        let (isOpen, isNews) = state.withLock { state -> (Bool, Bool) in
            guard !state.isClosed else { return (false, false) }
            let (wasEmpty, wasFull) = (state.tally.isEmpty, state.tally.isFull)
            state.tally.add(number)
            return (true, wasEmpty || state.tally.isFull != wasFull)
        }
        if isNews { _ = commands.post(.tellUsed) }
        return isOpen
    }

    /// From now on nothing is answered here.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.answers = [:]
            state.words = nil
        }
    }

    // MARK: - The line

    /// A session has begun. Its file lies beside the socket.
    func sessionBegan(_ welcome: ClientWelcome, at socket: String) {
        let words = VoucherReader(
            besideSocket: socket, epoch: welcome.epoch, words: welcome.voucherWords)
        let now = Instant.now()
        let apart = max(
            now.milliseconds(since: welcome.clock), welcome.clock.milliseconds(since: now))
        state.withLock { state in
            guard !state.isClosed else { return }
            state.words = words
            state.sharesClock = apart <= Self.clockMillisecondsMax
        }
    }

    /// The session has ended, and its vouchers with it.
    func sessionEnded() {
        state.withLock { state in
            state.words = nil
            state.answers = [:]
        }
    }

    /// A load was answered with a voucher. `segment`: where the bytes lie, if there are any.
    /// Returns what goes with the answer.
    func learn(
        _ request: ImageRequest, _ response: ImageResponse, _ voucher: Voucher,
        _ reference: BlockReference?, in segment: MappedSegment?
    ) -> AnswerVoucher? {
        var response = response
        response.bytes = nil
        return state.withLock { state in
            guard let words = state.words, state.sharesClock || voucher.until == nil else {
                return nil
            }
            if state.answers.count >= Self.answersMax { state.answers = [:] }
            let place = segment.flatMap { segment in
                reference.map { Place(segment: segment, reference: $0) }
            }
            guard (place == nil) == (reference == nil) else { return nil }
            state.answers[RequestKey(request)] = Answer(
                response: response, voucher: voucher, words: words, bytes: place)
            return AnswerVoucher(answers: self, words: words, voucher: voucher)
        }
    }

    /// What the coordinator is to be told now.
    func takeUsed() -> UsedVouchers? { state.withLock { $0.tally.take() } }

    /// Whether it is to be told without further delay.
    var isFull: Bool { state.withLock { $0.tally.isFull } }

    /// Lets go of segments that the cache gave back: their memory is nobody else's until then.
    func forgetUnlinked() {
        let all = state.withLock { $0.answers.values.compactMap(\.bytes?.segment) }
        var gone: Set<ObjectIdentifier> = []
        var seen: Set<ObjectIdentifier> = []
        for segment in all where seen.insert(ObjectIdentifier(segment)).inserted {
            if segment.isUnlinked { gone.insert(ObjectIdentifier(segment)) }
        }
        guard !gone.isEmpty else { return }
        state.withLock { state in
            state.answers = state.answers.filter { _, answer in
                answer.bytes.map { !gone.contains(ObjectIdentifier($0.segment)) } ?? true
            }
        }
    }

    /// Whether there is anything that can be given again; not after `close`.
    var hasAnswers: Bool { state.withLock { !$0.answers.isEmpty } }
}
