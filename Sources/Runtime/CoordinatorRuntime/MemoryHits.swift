import Admission
import EventLoop
import ImageModel
import Linux
import Messages
import SharedArena
import Wire
import ZeroMQ

// Hits in two messages (SEMANTICS §5.11), the short way.
extension Coordinator {
    /// Answers a `Load` whose bytes a hit answered before; `false` where it has to go the whole
    /// way, and nothing was done. The answer goes out with those of the same message
    /// (`sendAnswers`).
    mutating func answerAgain(
        _ sender: RoutingID, _ gateway: Gateway, at now: Instant
    ) -> Bool {
        // Operators read entries by key: the same bytes are another load there.
        guard gateway.listener != .admin,
            let (hit, token) = gateway.find(in: hitMemos[gateway.listener]),
            let id = peers.id(at: gateway.listener, sender), peers.takesReferences(id),
            scheduler.answer(hit.ticket, again: token, of: ClientID(id), at: now)
        else { return false }
        let isAdded = answers.add(token, hit.reply.span.bytes)
        precondition(isAdded, "what is remembered fits a batch, which is as long as that of loads")
        return true
    }

    /// Sends what was collected for a client.
    mutating func sendAnswers(to sender: RoutingID, _ gateway: Gateway, at now: Instant) {
        guard !answers.isEmpty else { return }
        defer { answers.removeAll() }
        guard let id = peers.id(at: gateway.listener, sender) else { return }
        // What waits for room goes first.
        func hasRoom() -> Bool { peers[id]?.outbox.isEmpty == true }
        let isBatch = answers.count > 1 && peers.takesBatches(id)
        if isBatch, hasRoom(), sendBatch(to: sender, gateway) { return }
        for index in 0..<answers.count where !hasRoom() || !sendAnswer(index, to: sender, gateway) {
            keepAnswer(index, for: id, at: now)
        }
    }

    private mutating func sendBatch(to sender: RoutingID, _ gateway: Gateway) -> Bool {
        let outcome = try? answers.withMessage { (byteCount, fill) throws(ZMQError) in
            try gateway.send(.replies, byteCount: byteCount, to: sender, fill: fill)
        }
        return outcome == .sent
    }

    private borrowing func sendAnswer(
        _ index: Int, to sender: RoutingID, _ gateway: Gateway
    ) -> Bool {
        answers.body(at: index).withUnsafeBytes { body in
            let outcome = try? gateway.send(.reply, byteCount: body.count, to: sender) {
                $0.copyMemory(from: body)
            }
            return outcome == .sent
        }
    }

    /// The client has no room for it now.
    private mutating func keepAnswer(_ index: Int, for id: UInt64, at now: Instant) {
        if let message = Self.message(index, of: answers, &decoder) {
            return keep(.toClient(message), for: id, at: now)
        }
        // What we wrote cannot be read: a defect of ours.
        guard let token = TokenedBody(answers.body(at: index))?.token else { return }
        let error = ImageError(.internalError, "a message of the coordinator cannot travel")
        let failure = Reply(token: token, outcome: .failure(error))
        keep(.toClient(.reply(failure)), for: id, at: now)
    }

    private static func message(
        _ index: Int, of answers: borrowing BatchWriter, _ decoder: inout MessageDecoder
    ) -> ServerMessage? {
        try? decoder.serverMessage(.reply, answers.body(at: index))
    }

    /// Remembers a load that a hit answers, unless it may become another one.
    mutating func learn(_ load: LoadRequest, _ resolved: Resolved, _ gateway: Gateway) {
        // What a log is to say of a load is hardly ever seen again.
        guard gateway.listener != .admin, requestLog.permitsShortWay, load.logContext.isEmpty,
            !resolved.mayChange,
            var ticket = scheduler.hitTicket(for: resolved.load, resolved.terms)
        else { return }
        if let known = gateway.find(in: hitMemos[gateway.listener])?.hit,
            known.ticket.saysTheSame(as: ticket), scheduler.stands(known.ticket, at: .now())
        {
            return
        }
        scheduler.vouch(for: &ticket)
        writeVouchers()
        gateway.withBody {
            hitMemos[gateway.listener].learn(load, $0, ticket, &encoder)
        }
    }

    /// Answers a load that names its trace or its request, whose bytes are hardly ever seen again,
    /// if a hit answers it: with a voucher, as other loads are. `false` where it has to go the
    /// whole way, and nothing was done.
    mutating func answerOnce(
        _ load: LoadRequest, _ resolved: Resolved, from id: UInt64, _ gateway: Gateway,
        at now: Instant
    ) -> Bool {
        guard gateway.listener != .admin, requestLog.permitsShortWay, !load.logContext.isEmpty,
            !resolved.mayChange, peers.takesReferences(id),
            var ticket = scheduler.hitTicket(for: resolved.load, resolved.terms)
        else { return false }
        scheduler.vouch(for: &ticket)
        writeVouchers()
        guard scheduler.answer(ticket, again: load.token, of: ClientID(id), at: now) else {
            return false
        }
        let answer = Reply(token: load.token, outcome: .image(ticket.image))
        reply(answer, to: ClientID(id), at: now)
        log(RequestRecord(load, answer), at: now)
        return true
    }
}

/// Loads that hits answered before, by the bytes of their messages: the same load again costs a
/// hash, a comparison and the scheduler's look at what may have changed, and no reading of the
/// message, no key, no writing of the reply.
struct HitMemo {
    /// One load and its answer.
    struct Hit {
        let ticket: HitTicket
        /// The body of its reply behind the token.
        let reply: [UInt8]
    }

    private var hits = RestMemo<Hit>(bits: 15, restBytesMax: bytesMax)

    /// Of a load or a reply that is remembered. Usually both have 400 bytes: 10,000 hot images are
    /// 8 MB, and all places at most 64 MB.
    private static let bytesMax = 1_024

    /// A load that is known, and who asks for it now.
    func find(_ body: RawSpan) -> (hit: Hit, token: Token)? {
        guard let parts = TokenedBody(body), let hit = hits.value(for: parts.rest) else {
            return nil
        }
        return (hit, parts.token)
    }

    /// Keeps a load that a hit answers. Only the canonical form is kept, byte for byte what
    /// `encoder` makes of the load: so the rest of the body says all, and no second token.
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

/// What is remembered of loads at each listener: the same bytes are another load where other rules
/// hold (`RestrictedFront`).
struct HitMemos {
    private var ofClients = HitMemo()
    private var ofStrangers = HitMemo()

    subscript(listener: Listener) -> HitMemo {
        _read {
            if listener == .web { yield ofStrangers } else { yield ofClients }
        }
        _modify {
            if listener == .web { yield &ofStrangers } else { yield &ofClients }
        }
    }
}

/// The files in which clients see which answers they may repeat (SEMANTICS §5.24): one beside each
/// socket of clients, all with the same words.
final class VoucherFiles {
    /// A class, since an array cannot hold what cannot be copied.
    private final class Kept {
        let file: VoucherFile
        init(_ file: consuming VoucherFile) { self.file = file }
    }

    private let files: [Kept]
    /// Words of each; 0 where no vouchers are issued.
    let words: Int
    /// Why none are, although they are wanted.
    let fault: String?

    /// The lock of the runtime directory is held, and nobody is served yet: what earlier
    /// coordinators issued falls here.
    init(_ listeners: [Listener], in paths: RuntimePaths, epoch: Epoch, words: Int) {
        let directories = listeners.filter(\.issuesVouchers).map { $0.directory(in: paths) }
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

    /// Writes what was decided, in order.
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

extension Listener {
    /// Whether those who connect there may repeat answers: operators see to it that things change.
    var issuesVouchers: Bool { self == .front || self == .web }
}
