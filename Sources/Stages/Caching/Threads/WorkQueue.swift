/// What a thread is asked to do, in which order it does it, and when.
///
/// A chore takes a turn once nothing else was asked for `quiet`, or once it has waited for
/// `longest`. Whoever asks one thing after the other would otherwise wait for a chore each time:
/// its next request comes a moment after the answer, when the chore has just begun.
struct WorkQueue<Request: Sendable>: Sendable {
    /// Nanoseconds without any other request after which a chore begins.
    static var quiet: UInt64 { 4_000_000 }
    /// Nanoseconds after which a chore begins in any case.
    static var longest: UInt64 { 16_000_000 }

    /// What the thread does next.
    enum Turn {
        /// Answer these, in this order.
        case answer([Request])
        /// Wait until something is asked, or until that many milliseconds have passed.
        case wait(milliseconds: Int?)
        /// All is answered, and nothing more comes.
        case end
    }

    private let requestsMax: Int
    private let isChore: @Sendable (Request) -> Bool
    private var requests: [Request] = []
    private var chores: [Request] = []
    /// When the first of `chores` began to wait.
    private var choresSince: UInt64 = 0
    /// The thread got something that is no chore, and has not come back.
    private var isBusy = false
    /// When it last came back from that.
    private var idleSince: UInt64 = 0
    /// Nothing more is taken.
    var isStopping = false

    /// At most `requestsMax` wait, chores among them.
    init(requestsMax: Int, isChore: @escaping @Sendable (Request) -> Bool) {
        self.requestsMax = requestsMax
        self.isChore = isChore
    }

    /// Takes a request; false where too many wait, or at the end. `now` in nanoseconds.
    mutating func put(_ request: Request, now: UInt64) -> Bool {
        guard !isStopping, requests.count + chores.count < requestsMax else { return false }
        guard isChore(request) else {
            requests.append(request)
            return true
        }
        if chores.isEmpty { choresSince = now }
        chores.append(request)
        return true
    }

    /// What to do at `now`, in nanoseconds: at the end, chores without a wait.
    mutating func take(now: UInt64) -> Turn {
        if isBusy { (isBusy, idleSince) = (false, now) }
        if !chores.isEmpty, isStopping || now >= choresSince + Self.longest {
            return takeAll()
        }
        if !requests.isEmpty {
            isBusy = true
            defer { requests = [] }
            return .answer(requests)
        }
        guard !chores.isEmpty else { return isStopping ? .end : .wait(milliseconds: nil) }
        let begin = min(idleSince + Self.quiet, choresSince + Self.longest)
        guard now < begin else { return takeAll() }
        return .wait(milliseconds: Int((begin - now + 999_999) / 1_000_000))
    }

    /// Whether nothing waits.
    var isEmpty: Bool { requests.isEmpty && chores.isEmpty }

    /// Takes out the requests that are meant.
    mutating func withdraw(where isMeant: (Request) -> Bool) -> [Request] {
        let gone = requests.filter(isMeant) + chores.filter(isMeant)
        requests.removeAll(where: isMeant)
        chores.removeAll(where: isMeant)
        return gone
    }

    private mutating func takeAll() -> Turn {
        isBusy = !requests.isEmpty
        defer { (requests, chores) = ([], []) }
        return .answer(requests + chores)
    }
}
