import EventLoop
import ImageModel
import Linux
import Messages
import SharedArena
import Synchronization

/// Answers that this client was told with a voucher, and gives again without asking
/// (SEMANTICS §5.24). Any thread; learns on the line.
/// Those that were forgotten come back with their next load.
final class RepeatedAnswers: Sendable {
    private struct State {
        var answers = AnswerTable()
        /// The file of this session, and whether moments of its vouchers are of our clock.
        var words: VoucherReader?
        var sharesClock = false
        var isClosed = false
    }

    private let state = Mutex(State())
    /// Set with `State.answers`, and looked at without the lock.
    private let knowsSome = Atomic(false)
    let uses: VoucherUses
    private let copies: CopyPool

    /// A clock that differs by more is another one: that of a time namespace.
    private static let clockMillisecondsMax = 1_000

    init(_ commands: CommandQueue, _ copies: CopyPool) {
        uses = VoucherUses(commands)
        self.copies = copies
    }

    // MARK: - Any thread

    /// The answer to a request, where one stands; `nil`: the coordinator is to be asked.
    func response(to request: ImageRequest) -> ImageResponse? {
        guard hasAnswers, let answer = state.withLock({ $0.answers.answer(to: request) })
        else { return nil }
        return answer.repeated(copies) ?? forget(answer)
    }

    private func forget(_ answer: RememberedAnswer) -> ImageResponse? {
        change { state in
            // Another thread may have learned the next one.
            state.answers.remove(answer)
        }
        return nil
    }

    /// Changes what is remembered.
    private func change<Result>(_ body: (inout State) -> sending Result) -> sending Result {
        state.withLock { state in
            defer { knowsSome.store(!state.answers.isEmpty, ordering: .relaxed) }
            return body(&state)
        }
    }

    /// From now on nothing is answered here.
    func close() {
        change { state in
            state.isClosed = true
            state.answers.removeAll()
            state.words = nil
        }
        uses.close()
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
        change { state in
            state.words = nil
            state.answers.removeAll()
        }
    }

    /// A load was answered with a voucher. `segment`: where the bytes lie, if there are any.
    /// Returns what goes with the answer.
    func learn(
        _ request: ImageRequest, _ account: ImageAccount, _ voucher: Voucher,
        _ reference: BlockReference?, in segment: MappedSegment?
    ) -> AnswerVoucher? {
        change { state in
            guard let words = state.words, state.sharesClock || voucher.until == nil else {
                return nil
            }
            guard (segment == nil) == (reference == nil) else { return nil }
            let voucher = AnswerVoucher(voucher, words, uses)
            state.answers.put(
                RememberedAnswer(to: request, account, voucher, reference, in: segment))
            return voucher
        }
    }

    /// Lets go of segments that the cache gave back: their memory is nobody else's until then.
    func forgetUnlinked() {
        let all = state.withLock { $0.answers.all.compactMap(\.segment) }
        var gone: Set<ObjectIdentifier> = []
        var seen: Set<ObjectIdentifier> = []
        for segment in all where seen.insert(ObjectIdentifier(segment)).inserted {
            if segment.isUnlinked { gone.insert(ObjectIdentifier(segment)) }
        }
        guard !gone.isEmpty else { return }
        change { state in
            state.answers.removeAll { answer in
                answer.segment.map { gone.contains(ObjectIdentifier($0)) } ?? false
            }
        }
    }

    /// Whether there is anything that can be given again; not after `close`.
    var hasAnswers: Bool { knowsSome.load(ordering: .relaxed) }
}
