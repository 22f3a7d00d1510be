import ImageModel
import Messages

/// What comes in pieces, of all loads, and how much of it is to be said to be taken.
///
/// Pure. The coordinator sends no more than a window of bytes that were not said to be taken, so
/// all counts, what nobody waits for too.
struct IncomingPieces {
    private let bytesMax: Int
    private var assemblies: [Token: PieceAssembly] = [:]
    private var window = 0
    /// Taken, and not said so.
    private var taken = 0
    /// A load has all its pieces: its taking is said at once.
    private var isComplete = false

    /// `bytesMax`: bytes of one image at most.
    init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// Whether no load is in the middle of its pieces.
    var isEmpty: Bool { assemblies.isEmpty }

    /// A session has begun, in which so many bytes may be on the way.
    mutating func sessionBegan(window: Int) {
        sessionEnded()
        self.window = window
    }

    /// What has come is worthless: it comes again from the start.
    mutating func sessionEnded() { self = IncomingPieces(bytesMax: bytesMax) }

    /// Takes a piece; one that nobody waits for is dropped. With an error the load has come to an
    /// end, and what came for it is dropped.
    mutating func take(_ piece: Piece, isWanted: Bool) throws(ImageError) {
        taken += piece.bytes.count
        if piece.offset + UInt64(piece.bytes.count) == piece.total { isComplete = true }
        guard isWanted else { return }
        do throws(ImageError) {
            try assemblies[piece.token, default: PieceAssembly()].take(piece, bytesMax: bytesMax)
        } catch {
            drop(piece.token)
            throw error
        }
    }

    /// How many bytes are to be said to be taken now: when a load has all its pieces, when half of
    /// the window is taken, and when what is left of it may be too little for a piece.
    mutating func acknowledgement() -> UInt64? {
        let isDue =
            isComplete || taken >= window / 2 || window - taken < MessageLimits.pieceBytesMax
        guard isDue, taken > 0 else { return nil }
        defer { (taken, isComplete) = (0, false) }
        return UInt64(taken)
    }

    /// The bytes of an image whose reply has come. Throws `protocolViolation` where they are not as
    /// many as it says.
    mutating func finish(_ token: Token, count: UInt64) throws(ImageError) -> [UInt8] {
        let assembly = assemblies.removeValue(forKey: token) ?? PieceAssembly()
        return try assembly.finished(count: count)
    }

    /// What came for a load is worthless.
    mutating func drop(_ token: Token) {
        if !assemblies.isEmpty { assemblies[token] = nil }
    }
}
