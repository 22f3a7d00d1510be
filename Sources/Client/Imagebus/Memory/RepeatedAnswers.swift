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

// What is given again without asking (SEMANTICS §5.24).
extension ClientLine {
    /// Milliseconds for which uses are collected.
    private static let usedMilliseconds = 100
    /// Milliseconds between two looks for segments that were given up.
    private static let lookMilliseconds = 10_000

    /// Keeps an answer that may be given again, and adds its voucher to the response.
    mutating func learn(
        _ answer: DeliveredAnswer, _ load: PendingLoad, _ response: inout ImageResponse,
        at now: Instant
    ) {
        guard configuration.repeatsAnswers, let voucher = answer.voucher,
            load.mayBeRepeated
        else { return }
        let reference = answer.reference
        let segment = reference.flatMap { try? results.segment(of: $0) }
        nextLook = nextLook ?? now.adding(milliseconds: Self.lookMilliseconds)
        response.voucher = answers.learn(
            load.image, response.account, voucher, reference, in: segment)
    }

    /// Something was used: that is told soon, or at once where there is much.
    mutating func expectUsed(at now: Instant) {
        guard !answers.uses.isFull else { return tellUsed() }
        usedDue = usedDue ?? now.adding(milliseconds: Self.usedMilliseconds)
    }

    /// What is to be done at its time.
    mutating func lookAfterAnswers(at now: Instant) {
        if let due = usedDue, due <= now { tellUsed() }
        if let look = nextLook, look <= now {
            answers.forgetUnlinked()
            nextLook = answers.hasAnswers ? now.adding(milliseconds: Self.lookMilliseconds) : nil
        }
    }

    /// Without a session it is lost: the next coordinator knows nothing of these answers.
    mutating func tellUsed() {
        usedDue = nil
        guard let used = answers.uses.take(), isWelcome else { return }
        outbox.append(.other(.used(used)))
    }
}

/// Remembered answers by their requests.
///
/// Bounded: beyond `answersMax` all are forgotten, and beyond `listMax` of one list the oldest of
/// these. A `WayTable` would not do: of 10,000 answers in 32,768 places a hundred would drive
/// each other out, and a message costs a hundred times what an answer at hand does.
struct AnswerTable {
    /// By the last bits of the digest: a dictionary would hash what is a hash. Made for the first
    /// answer.
    private var lists: [[RememberedAnswer]] = []
    private var count = 0

    static let answersMax = 32_768
    static let listMax = 16
    private static let listCount = 8_192

    var isEmpty: Bool { count == 0 }
    /// In no order.
    var all: [RememberedAnswer] { lists.flatMap { $0 } }

    func answer(to request: ImageRequest) -> RememberedAnswer? {
        guard !lists.isEmpty else { return nil }
        let place = Self.place(request)
        // By index: an iterator would hold the list.
        for index in lists[place].indices {
            // Held once: while it is looked at, and by who gets it.
            let answer = lists[place][index]
            if answer.answers(request) { return answer }
        }
        return nil
    }

    /// Takes an answer in, in the place of the one that its request had.
    mutating func put(_ answer: RememberedAnswer) {
        if count >= Self.answersMax { removeAll() }
        if lists.isEmpty { lists = Array(repeating: [], count: Self.listCount) }
        change(Self.place(answer.request)) { list in
            list.removeAll { $0.answers(answer.request) }
            if list.count >= Self.listMax { list.removeFirst() }
            list.append(answer)
        }
    }

    /// Takes an answer out; nothing where it left before.
    mutating func remove(_ answer: RememberedAnswer) {
        guard !isEmpty else { return }
        change(Self.place(answer.request)) { $0.removeAll { $0 === answer } }
    }

    mutating func removeAll() { self = AnswerTable() }

    mutating func removeAll(where isMeant: (RememberedAnswer) -> Bool) {
        for place in lists.indices where !lists[place].isEmpty {
            change(place) { $0.removeAll(where: isMeant) }
        }
    }

    private static func place(_ request: ImageRequest) -> Int { request.digest & (listCount - 1) }

    private mutating func change(_ place: Int, _ body: (inout [RememberedAnswer]) -> Void) {
        count -= lists[place].count
        body(&lists[place])
        count += lists[place].count
    }
}

/// An answer that may be given again while its voucher stands. An object, so that a look-up hands
/// it over without a copy of all that it says.
final class RememberedAnswer: Sendable {
    let request: ImageRequest
    let voucher: AnswerVoucher
    private let account: ImageAccount
    /// Where the bytes lie; `nil` for facts.
    let segment: MappedSegment?
    private let reference: BlockReference?

    init(
        to request: ImageRequest, _ account: ImageAccount, _ voucher: AnswerVoucher,
        _ reference: BlockReference?, in segment: MappedSegment?
    ) {
        (self.request, self.account, self.voucher) = (request, account, voucher)
        (self.reference, self.segment) = (reference, segment)
    }

    /// Gives the answer once more, with its bytes, and counts that as a load. `nil` where it stands
    /// no more, where its block was used again before it was copied, and after the end of the
    /// client.
    func repeated(_ copies: CopyPool) -> ImageResponse? {
        let voucher = voucher
        // Before the bytes are looked at: here the load takes effect.
        guard voucher.stands else { return nil }
        var bytes: ImageBytes?
        if let segment, let reference {
            bytes = copies.copy(reference, in: segment)
            guard bytes != nil else { return nil }
        }
        guard voucher.count() else { return nil }
        var response = ImageResponse(account, bytes)
        response.voucher = voucher
        return response
    }

    /// Whether it is the answer to that request, too.
    func answers(_ other: ImageRequest) -> Bool {
        request.digest == other.digest && RequestKey.isOne(of: request, other)
    }
}

/// What tells apart requests that have different answers of memory.
struct RequestKey: Hashable {
    private let request: ImageRequest

    var url: String { request.url }

    /// Bytes of its texts, as far as a stranger chooses how long they are.
    var textBytes: Int {
        request.headers.reduce(request.url.utf8.count) {
            $0 + $1.name.utf8.count + $1.value.utf8.count
        }
    }

    init(_ request: ImageRequest) { self.request = request }

    static func == (one: RequestKey, other: RequestKey) -> Bool {
        isOne(of: one.request, other.request)
    }

    /// Whether two requests have one key. How long somebody would wait does not matter to who does
    /// not wait. Requests of one caller hardly ever differ in that.
    static func isOne(of one: ImageRequest, _ other: ImageRequest) -> Bool {
        // A key path is an object: it is made for those alone that are not equal.
        one == other || one.differs(from: other, onlyIn: \.timeoutMilliseconds)
    }

    /// Its hash, which the request keeps.
    var digest: Int { request.digest }

    func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
