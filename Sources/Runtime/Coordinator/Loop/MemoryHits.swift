import Linux
import Model
import ProcessRuntime
import Wire
import ZeroMQ

// The fast path for hits, which takes two messages (SEMANTICS §5.11).
extension Coordinator {
    /// Answers a `Load` whose bytes were answered by a hit before. Returns `false`, without side
    /// effects, if it must take the regular path. The answer is sent together with others of the
    /// same message (`sendAnswers`).
    mutating func answerAgain(_ socket: ListenerSocket) -> Bool {
        // Operators read entries by key, so the same bytes are another load there.
        guard socket.listener != .admin,
            let (hit, token) = socket.find(in: hitMemos[socket.listener]),
            let id = session(at: socket), peers.takesReferences(id),
            scheduler.answer(hit.ticket, again: token, of: ClientID(id), at: now)
        else { return false }
        let isAdded = answers.add(token, hit.reply.span.bytes)
        precondition(isAdded, "what is remembered fits a batch, which is as long as that of loads")
        return true
    }

    /// Sends the collected answers to a client.
    mutating func sendAnswers(_ socket: ListenerSocket) {
        guard !answers.isEmpty else { return }
        defer { answers.removeAll() }
        guard let id = session(at: socket) else { return }
        // Queued messages must be sent first.
        func hasRoom() -> Bool { peers[id]?.outbox.isEmpty == true }
        let isBatch = answers.count > 1 && peers.takesBatches(id)
        if isBatch, hasRoom(), sendBatch(socket) { return }
        for index in 0..<answers.count where !hasRoom() || !sendAnswer(index, socket) {
            keepAnswer(index, for: id)
        }
    }

    private mutating func sendBatch(_ socket: ListenerSocket) -> Bool {
        let outcome = try? answers.withMessage { (byteCount, fill) throws(ZMQError) in
            try socket.send(.replies, byteCount: byteCount, to: socket.sender, fill: fill)
        }
        return outcome == .sent
    }

    private borrowing func sendAnswer(_ index: Int, _ socket: ListenerSocket) -> Bool {
        answers.body(at: index).withUnsafeBytes { body in
            let outcome = try? socket.send(.reply, byteCount: body.count, to: socket.sender) {
                $0.copyMemory(from: body)
            }
            return outcome == .sent
        }
    }

    /// Queues an answer, because the client has no capacity for it now.
    private mutating func keepAnswer(_ index: Int, for id: UInt64) {
        if let message = Self.message(index, of: answers, &decoder) {
            return keep(.toClient(message), for: id)
        }
        // An answer that can't be parsed again is a defect of this program.
        guard let token = TokenedBody(answers.body(at: index))?.token else { return }
        let error = ImageError(.internalError, "a message of the coordinator cannot be sent")
        let failure = Reply(token: token, outcome: .failure(error))
        keep(.toClient(.reply(failure)), for: id)
    }

    private static func message(
        _ index: Int, of answers: borrowing BatchWriter, _ decoder: inout MessageDecoder
    ) -> ServerMessage? {
        try? decoder.serverMessage(.reply, answers.body(at: index))
    }
}

/// Loads that were answered by hits, by the bytes of their messages. A repeated load costs a hash,
/// a comparison and the scheduler's check for changes, without decoding the message, building keys
/// or encoding the reply. Without it, the rate of hits by message would be 0.18 ×.
struct HitMemo {
    /// One load and its answer.
    struct Hit {
        let ticket: HitTicket
        /// The body of its reply after the token.
        let reply: [UInt8]
    }

    private var hits = RestMemo<Hit>(bits: 15, restBytesMax: bytesMax)

    /// The maximum size of a memoized load or reply. Together they typically have 400 bytes: 10,000
    /// hot images use 8 MB, and all entries at most 64 MB.
    private static let bytesMax = 1_024

    /// Looks up a load and returns its answer and the token of the current request.
    func find(_ body: RawSpan) -> (hit: Hit, token: Token)? {
        guard let parts = TokenedBody(body), let hit = hits.value(for: parts.rest) else {
            return nil
        }
        return (hit, parts.token)
    }

    /// Memoizes a load that is answered by a hit. Only the canonical encoding, as produced by
    /// `encoder`, is accepted: then the bytes after the token identify the load and contain no
    /// second token.
    mutating func learn(
        _ load: LoadRequest, _ body: RawSpan, _ ticket: HitTicket,
        _ encoder: inout MessageEncoder
    ) {
        guard let parts = TokenedBody(body), parts.rest.byteCount <= Self.bytesMax,
            (try? encoder.encode(.load(load))) != nil,
            body.withUnsafeBytes({ $0.elementsEqual(encoder.packed()) }),
            (try? encoder.encode(.reply(Reply(token: load.token, outcome: .image(ticket.image)))))
                != nil
        else { return }
        let reply = Array(encoder.packed().dropFirst(TokenedBody.restOffset))
        guard reply.count <= Self.bytesMax else { return }
        hits.keep(Hit(ticket: ticket, reply: reply), for: parts.rest)
    }
}

/// The memos of each listener: the same bytes are another load if other rules apply
/// (`RestrictedFront`).
struct HitMemos {
    private var ofClients = HitMemo()
    private var ofUntrusted = HitMemo()

    subscript(listener: Listener) -> HitMemo {
        _read {
            if listener == .web { yield ofUntrusted } else { yield ofClients }
        }
        _modify {
            if listener == .web { yield &ofUntrusted } else { yield &ofClients }
        }
    }
}

/// The files in which clients see which answers they may repeat (SEMANTICS §5.24): one next to each
/// client socket, all with the same words.
final class VoucherFiles {
    /// A class, because arrays can't hold noncopyable values.
    private final class Kept {
        let file: VoucherFile
        init(_ file: consuming VoucherFile) { self.file = file }
    }

    private let files: [Kept]
    /// The number of words in each file; 0 if no vouchers are issued.
    let words: Int
    /// Why vouchers are not issued although they are enabled.
    let fault: String?

    /// Creates the files and withdraws the vouchers of previous coordinators. Called with the
    /// runtime directory locked and before any client is served.
    init(_ listeners: [Listener], in paths: RuntimePaths, epoch: Epoch, words: Int) {
        let directories = listeners.filter(\.isOfClients).map { $0.directory(in: paths) }
        for directory in directories { VoucherFile.closeAll(in: directory) }
        var (files, fault) = ([Kept](), String?.none)
        if words > 0 {
            do throws(Errno) {
                for directory in directories {
                    files.append(
                        Kept(try VoucherFile(in: directory, epoch: epoch, words: words)))
                }
            } catch {
                (files, fault) = ([], "\(error)")
            }
        }
        (self.files, self.fault) = (files, fault)
        self.words = files.isEmpty ? 0 : words
    }

    /// Performs the writes in order.
    func write(_ writes: [VoucherWrite]) {
        for write in writes {
            for kept in files {
                switch write {
                case .word(let index, let number): kept.file.set(index, to: number)
                case .floor(let number): kept.file.raise(to: number)
                }
            }
        }
    }
}
