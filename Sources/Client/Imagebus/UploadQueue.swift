import Messages

/// The bytes that loads bring along, and which of them go next (PROTOCOL §10.1).
///
/// Pure. All uploads share one window; each piece is of the next upload in turn. The bytes stay
/// until their load has ended, since a new session gets them from the start.
struct UploadQueue {
    private struct Upload {
        let bytes: [UInt8]
        let group: GroupID?
        var offset = 0
    }

    private var uploads: [Token: Upload] = [:]
    /// What has pieces left to send, in the order of its turns.
    private var turns: [Token] = []
    /// Whose turn it is.
    private var turn = 0
    private var window = 0
    /// Bytes that were sent and not said to be taken.
    private(set) var inFlight = 0

    /// Keeps the bytes of a load, until `drop`.
    mutating func add(_ token: Token, _ bytes: [UInt8], group: GroupID?) {
        uploads[token] = Upload(bytes: bytes, group: group)
    }

    /// The load is being sent, perhaps again: its pieces follow from the start. False where the
    /// coordinator takes none, or the bytes are not known.
    mutating func start(_ token: Token) -> Bool {
        guard window > 0, uploads[token] != nil else { return false }
        uploads[token]?.offset = 0
        if !turns.contains(token) { turns.append(token) }
        return true
    }

    /// Nothing more of it is sent: it is being cancelled.
    mutating func stop(_ token: Token) {
        guard let index = turns.firstIndex(of: token) else { return }
        turns.remove(at: index)
        if index < turn { turn -= 1 }
    }

    /// The same for all of a group.
    mutating func stop(group: GroupID) {
        for token in turns where uploads[token]?.group == group { stop(token) }
    }

    /// Its load has ended.
    mutating func drop(_ token: Token) {
        guard uploads.removeValue(forKey: token) != nil else { return }
        stop(token)
    }

    /// A session has begun, in which so many bytes may be on the way.
    mutating func sessionBegan(window: Int) {
        sessionEnded()
        self.window = window
    }

    /// Nothing is sent until the loads are sent again.
    mutating func sessionEnded() {
        (turns, turn, window, inFlight) = ([], 0, 0, 0)
    }

    /// So many bytes have arrived.
    mutating func taken(_ bytes: UInt64) { inFlight -= min(inFlight, Int(clamping: bytes)) }

    /// Whether a piece may be sent now.
    var isReady: Bool { nextRange != nil }

    /// The next piece, where there is one and the window has room for it.
    var next: Piece? {
        guard let (token, range) = nextRange, let upload = uploads[token] else { return nil }
        return Piece(
            token: token, offset: UInt64(range.lowerBound), total: UInt64(upload.bytes.count),
            bytes: Array(upload.bytes[range]))
    }

    /// The next piece was sent.
    mutating func advance() {
        guard let (token, range) = nextRange, let upload = uploads[token] else { return }
        inFlight += range.count
        uploads[token]?.offset = range.upperBound
        if range.upperBound == upload.bytes.count { stop(token) } else { turn += 1 }
    }

    private var nextRange: (Token, Range<Int>)? {
        guard !turns.isEmpty else { return nil }
        let token = turns[turn < turns.count ? turn : 0]
        guard let upload = uploads[token] else { return nil }
        let left = upload.bytes.count - upload.offset
        let count = min(left, MessageLimits.pieceBytesMax, window)
        guard count > 0, count <= window - inFlight else { return nil }
        return (token, upload.offset..<(upload.offset + count))
    }
}
