import Admission
import Messages

/// Results on their way to clients that get them in pieces (PROTOCOL §10.1): whose turn it is, and
/// how much may be on the way. Bytes are read elsewhere, piece by piece, so that a client that
/// reads slowly costs a window and no more.
struct PieceDeliveries {
    /// A result that goes out, the reply behind it.
    struct Delivery {
        let load: LoadRequest
        /// When the load is to have ended.
        let deadline: Instant
        let reply: Reply
        let image: DeliveredImage
        let reference: BlockReference
        /// The end of its load, which has to wait for the bytes of a cached image.
        fileprivate(set) var followUp: Reply?
        fileprivate(set) var offset: UInt64 = 0
    }

    /// The next piece of a client.
    struct Slice {
        let delivery: Delivery
        let offset: UInt64
        let count: Int
    }

    /// A load whose result is to go out so.
    struct Expected {
        let load: LoadRequest
        let deadline: Instant
        /// Its cached image was reused before it could be sent.
        fileprivate(set) var lacksCached = false
    }

    private struct Line {
        var expected: [Token: Expected] = [:]
        var waiting: [Delivery] = []
        var bytesOnTheWay: UInt64 = 0
        /// Since when the client has taken nothing, while something is on its way.
        var stalledSince: Instant?

        /// The same, where there is a result that waits.
        var stalls: Instant? { waiting.isEmpty ? nil : stalledSince }

        var isIdle: Bool { expected.isEmpty && waiting.isEmpty && bytesOnTheWay == 0 }
    }

    private let windowBytes: UInt64
    private var lines: [ClientID: Line] = [:]

    init(windowBytes: Int = MessageLimits.pieceWindowBytes) {
        self.windowBytes = UInt64(windowBytes)
    }

    // MARK: - Loads

    /// The result of this load is wanted in pieces.
    mutating func expect(_ load: LoadRequest, of client: ClientID, until deadline: Instant) {
        lines[client, default: Line()].expected[load.token] = Expected(
            load: load, deadline: deadline)
    }

    /// The load has its reply; `nil` where pieces were not wanted.
    mutating func replied(_ token: Token, of client: ClientID) -> Expected? {
        guard let expected = lines[client]?.expected.removeValue(forKey: token) else { return nil }
        tidy(client)
        return expected
    }

    /// A load has its cached image, or a partial one; its end follows.
    func refreshing(_ token: Token, of client: ClientID) -> Expected? {
        lines[client]?.expected[token]
    }

    /// The cached image of a load did not go out.
    mutating func lostCached(_ token: Token, of client: ClientID) {
        lines[client]?.expected[token]?.lacksCached = true
    }

    /// Whether an image of the load is going out.
    func isSending(_ token: Token, to client: ClientID) -> Bool {
        lines[client]?.waiting.contains { $0.reply.token == token } ?? false
    }

    /// Whether the end of a load waits behind its cached image, which is going out.
    mutating func follow(_ reply: Reply, to client: ClientID) -> Bool {
        guard
            let place = lines[client]?.waiting.firstIndex(where: {
                $0.reply.token == reply.token
            })
        else { return false }
        lines[client]?.waiting[place].followUp = reply
        return true
    }

    /// A result begins to go out, behind those that wait already.
    mutating func begin(_ delivery: Delivery, to client: ClientID) {
        lines[client, default: Line()].waiting.append(delivery)
    }

    // MARK: - Pieces

    /// What goes out next; `nil` where nothing waits, or the window is full.
    func next(for client: ClientID) -> Slice? {
        guard let line = lines[client], let delivery = line.waiting.first else { return nil }
        let left = delivery.reference.length - delivery.offset
        let count = min(left, UInt64(MessageLimits.pieceBytesMax))
        guard line.bytesOnTheWay + count <= windowBytes else { return nil }
        return Slice(delivery: delivery, offset: delivery.offset, count: Int(count))
    }

    /// The slice went out; the delivery, where it was the last one.
    mutating func sent(_ slice: Slice, to client: ClientID, at now: Instant) -> Delivery? {
        guard var line = lines[client], !line.waiting.isEmpty else { return nil }
        line.bytesOnTheWay += UInt64(slice.count)
        line.waiting[0].offset += UInt64(slice.count)
        line.stalledSince = line.stalledSince ?? now
        let delivery = line.waiting[0]
        let isDone = delivery.offset == delivery.reference.length
        if isDone { line.waiting.removeFirst() }
        lines[client] = line
        return isDone ? delivery : nil
    }

    /// The client has taken so many bytes; `false` where it never got that many.
    mutating func taken(_ bytes: UInt64, by client: ClientID, at now: Instant) -> Bool {
        guard let line = lines[client], line.bytesOnTheWay >= bytes else { return false }
        lines[client]?.bytesOnTheWay -= bytes
        lines[client]?.stalledSince = line.bytesOnTheWay == bytes ? nil : now
        tidy(client)
        return true
    }

    // MARK: - Ends

    /// The first delivery cannot go on.
    mutating func dropFirst(of client: ClientID) -> Delivery? {
        guard lines[client]?.waiting.isEmpty == false else { return nil }
        return lines[client]?.waiting.removeFirst()
    }

    /// The client no longer wants these; they go out no further.
    mutating func cancel(
        of client: ClientID, where isMeant: (LoadRequest) -> Bool
    ) -> [Delivery] {
        guard let line = lines[client] else { return [] }
        lines[client]?.waiting.removeAll { isMeant($0.load) }
        return line.waiting.filter { isMeant($0.load) }
    }

    /// The client is gone.
    mutating func leave(_ client: ClientID) { lines[client] = nil }

    /// Since when the client that has taken nothing for longest has done so, while results wait.
    var stalled: (client: ClientID, since: Instant)? {
        let stalled = lines.compactMap { client, line in
            line.stalls.map { (client: client, since: $0) }
        }
        return stalled.min { $0.since < $1.since }
    }

    /// Since when a client has taken nothing, while results wait.
    func stalledSince(_ client: ClientID) -> Instant? { lines[client]?.stalls }

    private mutating func tidy(_ client: ClientID) {
        if lines[client]?.isIdle == true { lines[client] = nil }
    }
}
