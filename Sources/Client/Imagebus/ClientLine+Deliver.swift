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
    mutating func perform(_ actions: [PendingRequests.Action], at now: Instant) {
        for action in actions {
            switch action {
            case .send(let message): enqueue(message, at: now)
            case .advance(let progress): tasks[progress.token]?.advance(progress)
            case .fail(let token, let error):
                // What others share goes on.
                if !pending.isShared(token) { forget(token) }
                tasks.removeValue(forKey: token)?.finish(.failure(error))
            case .forget(let token): forget(token)
            case .deliver(let reply): deliver(reply, at: now)
            }
        }
    }

    mutating func deliver(_ reply: Reply, at now: Instant) {
        if reply.isRefreshing { return offer(reply) }
        if reply.arrivedBytes != nil { return show(reply) }
        if case .notModified = reply.outcome { return confirm(reply, at: now) }
        let task = tasks[reply.token]
        do throws(ImageError) {
            guard var response = try response(reply) else {
                return foundStale(reply, at: now)
            }
            response.isRefreshed = task?.cachedResponse != nil
            if !response.isRefreshed { response.voucher = learn(reply, response, at: now) }
            countMembers(reply)
            end(reply.token, with: .success(response), at: now)
        } catch {
            if error.code == .stale {
                return foundStale(reply, at: now)
            }
            if case .image(let image) = reply.outcome, image.reference != nil {
                release(reply)
                return perform(pending.foundUnreadable(reply.token, error, at: now), at: now)
            }
            end(reply.token, with: .failure(error), at: now)
        }
    }

    /// For all who share it.
    private mutating func end(
        _ token: Token, with result: Result<ImageResponse, ImageError>, at now: Instant
    ) {
        let members = pending.members(of: token)
        let task = tasks.removeValue(forKey: token)
        forget(token)
        perform(pending.delivered(token, at: now), at: now)
        task?.finish(result)
        for member in members ?? [] { tasks.removeValue(forKey: member)?.finish(result) }
    }

    /// Each load that shared a hit counts as one (SEMANTICS §5.24).
    private func countMembers(_ reply: Reply) {
        guard case .image(let image) = reply.outcome, let voucher = image.voucher,
            let members = pending.members(of: reply.token)
        else { return }
        for _ in members.dropFirst() where !answers.count(voucher.number) { return }
    }

    /// A cached image comes before the end. Where it cannot be had, the end makes up for it.
    private mutating func offer(_ reply: Reply) {
        do throws(ImageError) {
            guard let response = try response(reply) else { return release(reply) }
            tasks[reply.token]?.offer(response)
        } catch {
            release(reply)
        }
    }

    /// An image of what has arrived so far. Where it cannot be had, the next one can.
    private mutating func show(_ reply: Reply) {
        do throws(ImageError) {
            guard var response = try response(reply) else { return release(reply) }
            response.arrivedBytes = reply.arrivedBytes
            for token in pending.members(of: reply.token) ?? [reply.token] {
                tasks[token]?.show(response)
            }
        } catch {
            release(reply)
        }
    }

    /// The origin says that nothing changed: the cached image is the newest.
    private mutating func confirm(_ reply: Reply, at now: Instant) {
        guard let known = tasks[reply.token]?.unmodified else {
            return perform(pending.foundUnmodified(reply.token, at: now), at: now)
        }
        end(reply.token, with: .success(known), at: now)
    }

    /// The bytes were reused before they could be taken; we are their receiver all the same.
    private mutating func foundStale(_ reply: Reply, at now: Instant) {
        release(reply)
        perform(pending.foundStale(reply.token, at: now), at: now)
    }

    /// The response with its bytes; `nil` where they were reused meanwhile.
    mutating func response(_ reply: Reply) throws(ImageError) -> ImageResponse? {
        switch reply.outcome {
        case .failure(let error): throw error
        case .notModified:
            throw ImageError(.protocolViolation, "nothing changed, but nothing was there")
        case .miss(let key):
            return ImageResponse(
                status: .miss, info: nil, facts: nil, explanation: nil, cacheType: .none,
                key: key, timings: reply.timings, bytes: nil, storedTiers: nil,
                scaleFactor: 1, fallbackFor: nil)
        case .image(let image):
            var bytes: ImageBytes?
            if let count = image.pieceBytes {
                bytes = ImageBytes(try pieces.finish(reply.token, count: count))
            } else if let reference = image.reference {
                bytes = try self.bytes(reference, mustCopy: image.mustCopy)
                if bytes == nil { return nil }
            }
            var response = ImageResponse(
                status: .ok, info: image.info, facts: image.facts,
                explanation: image.explanation, cacheType: image.cacheType, key: image.key,
                timings: reply.timings, bytes: bytes, storedTiers: image.storedTiers,
                scaleFactor: image.scaleFactor, fallbackFor: image.fallbackFor)
            response.validity = image.validity
            response.digest = image.digest
            response.extendedData = image.extendedData
            return response
        }
    }

    func bytes(_ reference: BlockReference, mustCopy: Bool) throws(ImageError) -> ImageBytes? {
        guard ResultReader.isLarge(reference), !mustCopy else {
            return try copy(reference)
        }
        guard let memory = try results.map(reference) else { return nil }
        let commands = commands
        return ImageBytes(
            mapped: memory, offset: Int(reference.offset), count: Int(reference.length)
        ) {
            // A full mailbox loses it; the end of the session withdraws it then.
            _ = commands.post(.release(reference.block))
        }
    }

    /// The only time that the bytes are touched here.
    private func copy(_ reference: BlockReference) throws(ImageError) -> ImageBytes? {
        var copy: CopyBuffer?
        let isCurrent = try results.read(reference) { source in
            let buffer = copies.take(source.count)
            buffer.target.copyMemory(from: source)
            copy = buffer
        }
        return isCurrent ? copy.map { ImageBytes($0) } : nil
    }

    /// A reply that nobody waits for still made a receiver of us.
    mutating func release(_ reply: Reply) {
        guard case .image(let image) = reply.outcome, let reference = image.reference,
            ResultReader.isLarge(reference), !image.mustCopy
        else { return }
        releases.append(reference.block)
    }
}
