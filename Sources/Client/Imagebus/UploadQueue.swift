import Messages

/// The loads that bring bytes along, and what of them goes next (PROTOCOL §10.1).
///
/// Pure. All uploads share one window; each piece is of the next upload in turn. Few are under way
/// at once, since the coordinator has room for some of them only; the others wait in order.
/// The bytes stay until their load has ended, since a new session gets them from the start.
struct UploadQueue {
    private struct Upload {
        let bytes: [UInt8]
        /// As it is to be sent; `nil` where it is not.
        var load: LoadRequest?
        var offset = 0
        /// Its number among those that wait.
        var waitingNumber = 0
    }

    /// What is sent next.
    enum Step: Equatable {
        case load(Token)
        case piece(Token, Range<Int>)
    }

    private var uploads: [Token: Upload] = [:]
    /// Announced to nobody yet, in order.
    private var waiting = NumberedQueue<Token>()
    /// What has pieces left to send, in the order of its turns.
    private var turns: [Token] = []
    /// Whose turn it is.
    private var turn = 0
    /// Bytes of all that have turns.
    private var turnBytes = 0
    private var window = 0
    /// Places of the queue visited so far, of which a test knows the limit.
    var visitCount: Int { waiting.visitCount }
    /// Bytes that were sent and not said to be taken.
    private(set) var inFlight = 0

    /// Uploads under way at once, and their bytes, unless it is a single one.
    private static let turnsMax = 32
    private static let turnBytesMax = 64 << 20

    /// Keeps the bytes of a load, until `drop`.
    mutating func add(_ token: Token, _ bytes: [UInt8]) { uploads[token] = Upload(bytes: bytes) }

    /// The load is to be sent, perhaps again, its bytes behind it from the start. False where the
    /// coordinator takes none, or the bytes are not known.
    mutating func start(_ load: LoadRequest) -> Bool {
        guard window > 0, uploads[load.token] != nil else { return false }
        _ = stop(load.token)
        uploads[load.token]?.load = load
        uploads[load.token]?.offset = 0
        uploads[load.token]?.waitingNumber = waiting.append(load.token)
        return true
    }

    /// Nothing more of it is sent: it is being cancelled. Whether its load was not even sent.
    mutating func stop(_ token: Token) -> Bool {
        if let index = turns.firstIndex(of: token) {
            turns.remove(at: index)
            turnBytes -= uploads[token]?.bytes.count ?? 0
            if index < turn { turn -= 1 }
            return false
        }
        guard let upload = uploads[token] else { return false }
        return waiting.remove(upload.waitingNumber) { $0 == token }
    }

    /// The same for all of a group; those whose loads were not even sent.
    mutating func stop(group: GroupID) -> [Token] {
        let members = uploads.filter { $0.value.load?.group == group }
        return members.sorted { $0.value.waitingNumber < $1.value.waitingNumber }
            .map(\.key).filter { stop($0) }
    }

    /// Its load has ended.
    mutating func drop(_ token: Token) {
        guard uploads[token] != nil else { return }
        _ = stop(token)
        uploads[token] = nil
    }

    /// A session has begun, in which so many bytes may be on the way.
    mutating func sessionBegan(window: Int) {
        sessionEnded()
        self.window = window
    }

    /// Nothing is sent until the loads are to be sent again.
    mutating func sessionEnded() {
        (waiting, turns) = (NumberedQueue(), [])
        (turn, turnBytes, window, inFlight) = (0, 0, 0, 0)
    }

    /// So many bytes have arrived.
    mutating func taken(_ bytes: UInt64) { inFlight -= min(inFlight, Int(clamping: bytes)) }

    /// What may be sent now: a load where there is room for another one, else the next piece where
    /// the window has room for it.
    var next: Step? {
        if let token = waiting.first, let upload = uploads[token], turns.count < Self.turnsMax,
            turns.isEmpty || turnBytes + upload.bytes.count <= Self.turnBytesMax
        {
            return .load(token)
        }
        guard !turns.isEmpty else { return nil }
        let token = turns[turn < turns.count ? turn : 0]
        guard let upload = uploads[token] else { return nil }
        let left = upload.bytes.count - upload.offset
        let count = min(left, MessageLimits.pieceBytesMax, window)
        guard count > 0, count <= window - inFlight else { return nil }
        return .piece(token, upload.offset..<(upload.offset + count))
    }

    /// The message of what may be sent now.
    func message(_ step: Step) -> ClientMessage? {
        switch step {
        case .load(let token): return uploads[token]?.load.map { .load($0) }
        case .piece(let token, let range):
            guard let upload = uploads[token] else { return nil }
            return .piece(
                Piece(
                    token: token, offset: UInt64(range.lowerBound),
                    total: UInt64(upload.bytes.count), bytes: Array(upload.bytes[range])))
        }
    }

    /// What was to be sent was sent.
    mutating func sent(_ step: Step) {
        switch step {
        case .load(let token):
            // One that could not be written has ended meanwhile.
            guard waiting.first == token, let upload = uploads[token] else { return }
            _ = waiting.popFirst()
            turns.append(token)
            turnBytes += upload.bytes.count
        case .piece(let token, let range):
            inFlight += range.count
            uploads[token]?.offset = range.upperBound
            turn = (turns.firstIndex(of: token) ?? 0) + 1
            if range.upperBound == uploads[token]?.bytes.count { _ = stop(token) }
        }
    }
}
