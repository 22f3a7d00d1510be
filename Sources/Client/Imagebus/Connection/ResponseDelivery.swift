import Linux
import Model
import ProcessRuntime
import Wire
import ZeroMQ

// Performing actions: notifying callers and reading bytes from shared memory.
extension ClientConnection {
    mutating func perform(_ actions: PendingRequests.Actions, at now: Instant) {
        for action in actions {
            switch action {
            case .load(let load): enqueue(load, at: now)
            case .send(let message): enqueue(message, at: now)
            case .advance(let progress):
                pending.load(of: progress.token)?.task.receivedProgress(progress)
            case .fail(let load, let error):
                // Loads that share the message continue.
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
            let answer = ImageAccount(of: image, reply.timings)
            if reply.isRefreshing { return deliverCached(answer, to: load) }
            if let arrived = reply.arrivedBytes { return deliverPartial(answer, arrived, to: load) }
            return deliver(answer, to: load, at: now)
        }
        // Only images arrive before the terminal reply.
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

    /// Delivers the image that ends a load.
    mutating func deliver(_ answer: ImageAccount, to load: PendingLoad, at now: Instant) {
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
            guard answer.image.reference != nil else {
                return end(load, with: .failure(error), at: now)
            }
            release(answer)
            perform(pending.foundUnreadable(load.token, error, at: now), at: now)
        }
    }

    /// Ends all loads that share the message.
    private mutating func end(
        _ load: PendingLoad, with result: Result<ImageResponse, ImageError>, at now: Instant
    ) {
        let members = load.members?.compactMap { pending.load(of: $0) }
        forget(load.token)
        perform(pending.delivered(load.token, at: now), at: now)
        guard let members else { return load.task.finish(result) }
        for member in members { member.task.finish(result) }
    }

    /// Counts each load that shared a cache hit as one hit (SEMANTICS §5.24).
    private mutating func countMembers(_ answer: ImageAccount, of load: PendingLoad) {
        guard let voucher = answer.image.voucher, let members = load.members
        else { return }
        for _ in members.dropFirst() where !answers.uses.count(voucher.number) { return }
    }

    /// Delivers a cached image ahead of the result. If its bytes are gone, the final result
    /// replaces it.
    private mutating func deliverCached(_ answer: ImageAccount, to load: PendingLoad) {
        guard let response = try? response(answer, to: load.token) else {
            return release(answer)
        }
        load.task.receivedCached(response)
    }

    /// Delivers an image decoded from the bytes received so far. If its bytes are gone, the next
    /// one replaces it.
    private mutating func deliverPartial(
        _ answer: ImageAccount, _ arrived: UInt64, to load: PendingLoad
    ) {
        guard var response = try? response(answer, to: load.token) else {
            return release(answer)
        }
        response.arrivedBytes = arrived
        for token in load.members ?? [load.token] {
            pending.load(of: token)?.task.receivedPartial(response)
        }
    }

    /// Handles the origin's answer that nothing changed: the cached image is the result.
    private mutating func confirm(_ load: PendingLoad, at now: Instant) {
        guard let known = load.task.unmodified else {
            return perform(pending.foundUnmodified(load.token, at: now), at: now)
        }
        end(load, with: .success(known), at: now)
    }

    /// Handles bytes that were overwritten before they could be read. The block still has to be
    /// released.
    private mutating func foundStale(
        _ answer: ImageAccount, _ load: PendingLoad, at now: Instant
    ) {
        release(answer)
        perform(pending.foundStale(load.token, at: now), at: now)
    }

    /// Returns the response with its bytes, or `nil` if they have been overwritten.
    private mutating func response(
        _ answer: ImageAccount, to token: Token
    ) throws(ImageError) -> ImageResponse? {
        if let count = answer.image.chunkBytes {
            return ImageResponse(
                answer, ImageBytes(try chunks.finish(token, count: count)))
        }
        guard let reference = answer.image.reference else {
            return ImageResponse(answer, nil)
        }
        let bytes = try bytes(reference, mustCopy: answer.image.mustCopy)
        return bytes.map { ImageResponse(answer, $0) }
    }

    /// Mutating, like everything called once per load: a nonmutating method would work on a copy of
    /// the connection, which is several kilobytes.
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
            // If the mailbox is full, this release is lost; the end of the session releases the
            // block.
            _ = commands.post(.release(reference.block))
        }
        return copies.inUse.add(bytes, of: reference)
    }

    /// Copies the bytes. This is the only place where the client touches them.
    private mutating func copy(_ reference: BlockReference) throws(ImageError) -> ImageBytes? {
        if let known = copies.inUse.bytes(of: reference) { return known }
        // A large result has a segment of its own, which is not used again.
        defer { results.forget(reference) }
        return copies.copy(reference, in: try results.segment(of: reference))
    }

    /// Releases the block of a reply that no load is waiting for.
    mutating func release(_ reply: Reply) {
        guard case .image(let image) = reply.outcome else { return }
        release(image.reference, mustCopy: image.mustCopy)
    }

    private mutating func release(_ answer: ImageAccount) {
        release(answer.image.reference, mustCopy: answer.image.mustCopy)
    }

    private mutating func release(_ reference: BlockReference?, mustCopy: Bool) {
        guard let reference, ResultReader.isLarge(reference), !mustCopy else { return }
        releases.append(reference.block)
    }
}
