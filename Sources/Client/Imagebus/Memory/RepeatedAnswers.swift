import Linux
import Model
import ProcessRuntime
import Synchronization

/// Answers that this client received with a voucher and can repeat without a message
/// (SEMANTICS §5.24). Can be used from any thread; updated by the connection. Forgotten answers
/// return with their next load.
final class RepeatedAnswers: Sendable {
    private struct State {
        var answers = AnswerTable()
        /// The voucher file of this session, and whether times in its vouchers use our clock.
        var words: VoucherReader?
        var sharesClock = false
        var isClosed = false
    }

    private let state = Mutex(State())
    /// A copy of whether `State.answers` has entries, readable without the lock.
    private let knowsSome = Atomic(false)
    let uses: VoucherUses
    private let copies: BufferPool

    /// The tolerance when comparing clocks; a larger difference means a different clock, such as
    /// that of a time namespace.
    private static let clockMillisecondsMax = 1_000

    init(_ commands: CommandQueue, _ copies: BufferPool) {
        uses = VoucherUses(commands)
        self.copies = copies
    }

    // MARK: - Any thread

    /// Returns the valid answer to a request, or `nil` if the coordinator must be asked.
    func response(to request: ImageRequest) -> ImageResponse? {
        guard hasAnswers, let answer = state.withLock({ $0.answers.answer(to: request) })
        else { return nil }
        if let response = answer.repeated(copies) { return response }
        // Another thread may have stored a newer answer.
        change { $0.answers.remove(answer) }
        return nil
    }

    /// Changes the remembered answers.
    private func change<Result>(_ body: (inout State) -> sending Result) -> sending Result {
        state.withLock { state in
            defer { knowsSome.store(!state.answers.isEmpty, ordering: .relaxed) }
            return body(&state)
        }
    }

    /// Closes the table: from now on no answers are returned.
    func close() {
        change { state in
            state.isClosed = true
            state.answers.removeAll()
            state.words = nil
        }
        uses.close()
    }

    // MARK: - The connection

    /// Begins a session. Its voucher file is in the same directory as the socket.
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

    /// Ends the session, which invalidates its vouchers.
    func sessionEnded() {
        change { state in
            state.words = nil
            state.answers.removeAll()
        }
    }

    /// Records a load answered with a voucher. `segment` contains the bytes, if there are any.
    /// Returns the voucher to attach to the answer.
    func learn(
        _ request: ImageRequest, _ account: ImageAccount, _ voucher: Voucher,
        in segment: MappedSegment?
    ) -> AnswerVoucher? {
        change { state in
            guard let words = state.words, state.sharesClock || voucher.until == nil else {
                return nil
            }
            guard (segment == nil) == (account.image.reference == nil) else { return nil }
            let voucher = AnswerVoucher(voucher, words, uses)
            state.answers.put(RememberedAnswer(to: request, account, voucher, in: segment))
            return voucher
        }
    }

    /// Releases segments that the cache has unlinked; until then their memory stays allocated.
    func forgetUnlinked() {
        let all = state.withLock { $0.answers.all.compactMap(\.segment) }
        let segments = Dictionary(
            all.map { (ObjectIdentifier($0), $0) }, uniquingKeysWith: { known, _ in known })
        let gone = Set(segments.filter { $0.value.isUnlinked }.keys)
        guard !gone.isEmpty else { return }
        change { state in
            state.answers.removeAll { answer in
                answer.segment.map { gone.contains(ObjectIdentifier($0)) } ?? false
            }
        }
    }

    /// Whether any answer can be repeated; false after `close`.
    var hasAnswers: Bool { knowsSome.load(ordering: .relaxed) }
}

// Repeating answers without a message (SEMANTICS §5.24).
extension ClientConnection {
    /// How long uses are collected before they are reported, in milliseconds.
    private static let usedMilliseconds = 100
    /// The interval between checks for unlinked segments, in milliseconds.
    private static let lookMilliseconds = 10_000

    /// Remembers an answer that may be repeated, and attaches its voucher to the response.
    mutating func learn(
        _ answer: ImageAccount, _ load: PendingLoad, _ response: inout ImageResponse,
        at now: Instant
    ) {
        guard configuration.repeatsAnswers, let voucher = answer.image.voucher,
            load.mayBeRepeated
        else { return }
        let segment = answer.image.reference.flatMap { try? results.segment(of: $0) }
        nextLook = nextLook ?? now.adding(milliseconds: Self.lookMilliseconds)
        response.voucher = answers.learn(load.image, answer, voucher, in: segment)
    }

    /// Schedules a report of used vouchers: soon, or immediately if there are many.
    mutating func expectUsed(at now: Instant) {
        guard !answers.uses.isFull else { return notifyUsed() }
        usedDue = usedDue ?? now.adding(milliseconds: Self.usedMilliseconds)
    }

    /// Performs the tasks that are due.
    mutating func lookAfterAnswers(at now: Instant) {
        if let due = usedDue, due <= now { notifyUsed() }
        if let look = nextLook, look <= now {
            answers.forgetUnlinked()
            nextLook = answers.hasAnswers ? now.adding(milliseconds: Self.lookMilliseconds) : nil
        }
    }

    /// Reports used vouchers. Without a session the report is dropped, because the next coordinator
    /// knows nothing of these answers.
    mutating func notifyUsed() {
        usedDue = nil
        guard let used = answers.uses.collect(), isWelcome else { return }
        outbox.append(.other(.used(used)))
    }
}

/// Remembered answers by request.
///
/// Bounded: beyond `answersMax` all answers are forgotten, and beyond `listMax` in one bucket the
/// oldest in it. A `SetAssociativeCache` is unsuitable: with 10,000 answers in 32,768 slots, about
/// a hundred would evict each other, and a message costs a hundred times as much as a repeated
/// answer.
struct AnswerTable {
    /// Buckets indexed by the last bits of the digest; a dictionary would hash the digest again,
    /// and the rate of hits by voucher would be 0.90 ×.
    /// Allocated with the first answer.
    private var lists: [[RememberedAnswer]] = []
    private var count = 0

    static let answersMax = 32_768
    static let listMax = 16
    private static let listCount = 8_192

    var isEmpty: Bool { count == 0 }
    /// All answers, in no particular order.
    var all: [RememberedAnswer] { lists.flatMap { $0 } }

    func answer(to request: ImageRequest) -> RememberedAnswer? {
        guard !lists.isEmpty else { return nil }
        let place = Self.place(request)
        // Access by index: an iterator would retain the list.
        for index in lists[place].indices {
            // Retained only once, for both the comparison and the result.
            let answer = lists[place][index]
            if answer.answers(request) { return answer }
        }
        return nil
    }

    /// Adds an answer, replacing the previous one for the same request.
    mutating func put(_ answer: RememberedAnswer) {
        if count >= Self.answersMax { removeAll() }
        if lists.isEmpty { lists = Array(repeating: [], count: Self.listCount) }
        change(Self.place(answer.request)) { list in
            list.removeAll { $0.answers(answer.request) }
            if list.count >= Self.listMax { list.removeFirst() }
            list.append(answer)
        }
    }

    /// Removes an answer if it is still present.
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

/// An answer that may be repeated while its voucher is valid. A class, so that a lookup doesn't
/// copy its contents.
final class RememberedAnswer: Sendable {
    let request: ImageRequest
    let voucher: AnswerVoucher
    private let account: ImageAccount
    /// The segment that contains the bytes; `nil` if there are only image properties.
    let segment: MappedSegment?

    init(
        to request: ImageRequest, _ account: ImageAccount, _ voucher: AnswerVoucher,
        in segment: MappedSegment?
    ) {
        (self.request, self.account, self.voucher) = (request, account, voucher)
        self.segment = segment
    }

    /// Returns the answer again with its bytes, and counts it as a load. Returns `nil` if the
    /// voucher is no longer valid, if the block was reused before it was copied, or if the client
    /// has ended.
    func repeated(_ copies: BufferPool) -> ImageResponse? {
        let voucher = voucher
        // Must be checked before the bytes are read: this is the moment at which the load takes
        // effect.
        guard voucher.stands else { return nil }
        var bytes: ImageBytes?
        if let segment, let reference = account.image.reference {
            bytes = copies.copy(reference, in: segment)
            guard bytes != nil else { return nil }
        }
        guard voucher.count() else { return nil }
        var response = ImageResponse(account, bytes)
        response.voucher = voucher
        return response
    }

    /// Whether this is also the answer to another request.
    func answers(_ other: ImageRequest) -> Bool {
        request.digest == other.digest && RequestKey.isOne(of: request, other)
    }
}

/// A key that distinguishes requests with different answers from memory.
struct RequestKey: Hashable {
    private let request: ImageRequest

    var url: String { request.url }

    /// The total length of the texts whose length untrusted input can determine.
    var textBytes: Int {
        request.headers.reduce(request.url.utf8.count) {
            $0 + $1.name.utf8.count + $1.value.utf8.count
        }
    }

    init(_ request: ImageRequest) { self.request = request }

    static func == (one: RequestKey, other: RequestKey) -> Bool {
        isOne(of: one.request, other.request)
    }

    /// Whether two requests have the same key. The timeout is ignored, because a repeated answer
    /// involves no waiting; in practice requests of one caller rarely differ in it.
    static func isOne(of one: ImageRequest, _ other: ImageRequest) -> Bool {
        // A key path allocates an object, so it is used only for requests that are not equal.
        one == other || one.differs(from: other, onlyIn: \.timeoutMilliseconds)
    }

    /// The hash, which the request caches.
    var digest: Int { request.digest }

    func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
