import BusConnection
import EventLoop
import ImageModel
import Linux
import Messages
import SharedArena
import Wire
import ZeroMQ

// What is done: callers are told, bytes are taken out of shared memory.
extension ClientLine {
    mutating func perform(_ actions: PendingRequests.Actions, at now: Instant) {
        for action in actions {
            switch action {
            case .load(let load): enqueue(load, at: now)
            case .send(let message): enqueue(message, at: now)
            case .advance(let progress):
                pending.load(of: progress.token)?.task.advance(progress)
            case .fail(let load, let error):
                // What others share goes on.
                if !pending.isShared(load.token) { forget(load.token) }
                load.task.finish(.failure(error))
            case .forget(let token): forget(token)
            case .deliver(let reply): deliver(reply, at: now)
            }
        }
    }

    private mutating func deliver(_ reply: Reply, at now: Instant) {
        guard let load = pending.load(of: reply.token) else { return }
        if case .image(let image) = reply.outcome {
            let answer = DeliveredAnswer(image, reply.timings)
            if reply.isRefreshing { return offer(answer, to: load) }
            if let arrived = reply.arrivedBytes { return show(answer, arrived, to: load) }
            return deliver(answer, to: load, at: now)
        }
        // Before the end only images come.
        guard reply.isTerminal else { return }
        switch reply.outcome {
        case .notModified: confirm(load, at: now)
        case .miss(let key):
            let response = ImageResponse(ImageAccount(missOf: key, reply.timings), nil)
            end(load, with: .success(response), at: now)
        case .failure(let error): end(load, with: .failure(error), at: now)
        case .image: break
        }
    }

    /// The image that ends a load.
    mutating func deliver(_ answer: DeliveredAnswer, to load: PendingLoad, at now: Instant) {
        do throws(ImageError) {
            guard var response = try response(answer, to: load.token) else {
                return foundStale(answer, load, at: now)
            }
            response.isRefreshed = load.task.cachedResponse != nil
            if !response.isRefreshed { learn(answer, load, &response, at: now) }
            countMembers(answer, of: load)
            end(load, with: .success(response), at: now)
        } catch {
            if error.code == .stale { return foundStale(answer, load, at: now) }
            guard answer.reference != nil else {
                return end(load, with: .failure(error), at: now)
            }
            release(answer)
            perform(pending.foundUnreadable(load.token, error, at: now), at: now)
        }
    }

    /// For all who share it.
    private mutating func end(
        _ load: PendingLoad, with result: Result<ImageResponse, ImageError>, at now: Instant
    ) {
        let members = pending.members(of: load.token)?.compactMap { pending.load(of: $0) }
        forget(load.token)
        perform(pending.delivered(load.token, at: now), at: now)
        guard let members else { return load.task.finish(result) }
        for member in members { member.task.finish(result) }
    }

    /// Each load that shared a hit counts as one (SEMANTICS §5.24).
    private mutating func countMembers(_ answer: DeliveredAnswer, of load: PendingLoad) {
        guard let voucher = answer.voucher, let members = pending.members(of: load.token)
        else { return }
        for _ in members.dropFirst() where !answers.uses.count(voucher.number) { return }
    }

    /// A cached image comes before the end. Where it cannot be had, the end makes up for it.
    private mutating func offer(_ answer: DeliveredAnswer, to load: PendingLoad) {
        guard let response = try? response(answer, to: load.token) else {
            return release(answer)
        }
        load.task.offer(response)
    }

    /// An image of what has arrived so far. Where it cannot be had, the next one can.
    private mutating func show(
        _ answer: DeliveredAnswer, _ arrived: UInt64, to load: PendingLoad
    ) {
        guard var response = try? response(answer, to: load.token) else {
            return release(answer)
        }
        response.arrivedBytes = arrived
        for token in pending.members(of: load.token) ?? [load.token] {
            pending.load(of: token)?.task.show(response)
        }
    }

    /// The origin says that nothing changed: the cached image is the newest.
    private mutating func confirm(_ load: PendingLoad, at now: Instant) {
        guard let known = load.task.unmodified else {
            return perform(pending.foundUnmodified(load.token, at: now), at: now)
        }
        end(load, with: .success(known), at: now)
    }

    /// The bytes were reused before they could be taken; we are their receiver all the same.
    private mutating func foundStale(
        _ answer: DeliveredAnswer, _ load: PendingLoad, at now: Instant
    ) {
        release(answer)
        perform(pending.foundStale(load.token, at: now), at: now)
    }

    /// The response with its bytes; `nil` where they were reused meanwhile.
    private mutating func response(
        _ answer: DeliveredAnswer, to token: Token
    ) throws(ImageError) -> ImageResponse? {
        if let count = answer.pieceBytes {
            return ImageResponse(
                answer.account, ImageBytes(try pieces.finish(token, count: count)))
        }
        guard let reference = answer.reference else {
            return ImageResponse(answer.account, nil)
        }
        let bytes = try bytes(reference, mustCopy: answer.mustCopy)
        return bytes.map { ImageResponse(answer.account, $0) }
    }

    /// Mutating, as all that is called for each load: a method that only reads gets a copy of the
    /// line, which is kilobytes large.
    private mutating func bytes(
        _ reference: BlockReference, mustCopy: Bool
    ) throws(ImageError) -> ImageBytes? {
        guard ResultReader.isLarge(reference), !mustCopy else {
            return try copy(reference)
        }
        if let known = copies.inUse.bytes(of: reference) {
            release(reference, mustCopy: mustCopy)
            return known
        }
        guard let memory = try results.map(reference) else { return nil }
        let commands = commands
        let bytes = ImageBytes(
            mapped: memory, offset: Int(reference.offset), count: Int(reference.length)
        ) {
            // A full mailbox loses it; the end of the session withdraws it then.
            _ = commands.post(.release(reference.block))
        }
        return copies.inUse.add(bytes, of: reference)
    }

    /// The only time that the bytes are touched here.
    private mutating func copy(_ reference: BlockReference) throws(ImageError) -> ImageBytes? {
        if let known = copies.inUse.bytes(of: reference) { return known }
        // A large one has a segment of its own, which nobody will ask for again.
        defer { results.forget(reference) }
        return copies.copy(reference, in: try results.segment(of: reference))
    }

    /// A reply that nobody waits for still made a receiver of us.
    mutating func release(_ reply: Reply) {
        guard case .image(let image) = reply.outcome else { return }
        release(image.reference, mustCopy: image.mustCopy)
    }

    private mutating func release(_ answer: DeliveredAnswer) {
        release(answer.reference, mustCopy: answer.mustCopy)
    }

    private mutating func release(_ reference: BlockReference?, mustCopy: Bool) {
        guard let reference, ResultReader.isLarge(reference), !mustCopy else { return }
        releases.append(reference.block)
    }
}

/// A reply that brings an image, as the line hands it on: where the bytes are, and the account that
/// its response has. One that is told again is made once (`ReplyMemo`). It has no more of the reply
/// than that: what it says of an image is a kilobyte, and each reading would copy it.
final class DeliveredAnswer: Sendable {
    let account: ImageAccount
    /// Where the bytes lie in `results/`; `nil` where they come in pieces, and for facts.
    let reference: BlockReference?
    /// Whether they are copied, however many there are.
    let mustCopy: Bool
    /// How many came in pieces; `nil`: none.
    let pieceBytes: UInt64?
    let voucher: Voucher?

    init(_ image: DeliveredImage, _ timings: StageTimings) {
        account = ImageAccount(of: image, timings)
        (reference, mustCopy) = (image.reference, image.mustCopy)
        (pieceBytes, voucher) = (image.pieceBytes, image.voucher)
    }
}
