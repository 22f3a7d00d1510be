import Derivation
import Dispatching
import ImageModel
import Messages
import Tables

// reply: exactly one for each request (SEMANTICS §2.4)
extension Scheduler {
    /// The image of a request that waits nowhere any more; a large block counts as read from now
    /// on.
    mutating func answer(_ id: LiveRequest.ID, _ image: DeliveredImage, _ block: BlockHandle?) {
        if requests[id].order.upload?.key != nil, image.storedTiers?.isEmpty ?? true {
            return reply(id, .failure(Self.notKept))
        }
        if let refusal = requests[id].image.refusal(of: image.info) {
            return reply(id, .failure(refusal))
        }
        var image = image
        image.scaleFactor = requests[id].scaleFactor
        if let block, requests[id].isAnswered { lend(&image, block, to: requests[id].client) }
        reply(id, .image(image))
    }

    /// A request ends before its work does.
    mutating func end(_ id: LiveRequest.ID, _ error: ImageError) {
        withdraw(id)
        reply(id, .failure(error))
    }

    /// The terminal reply of a request that waits nowhere any more. One that fails and has a
    /// fallback goes on with that instead.
    mutating func reply(_ id: LiveRequest.ID, _ outcome: Reply.Outcome) {
        if isForsaken(id) { return forsake(id) }
        if case .notModified = outcome { noteUnmodified(id) }
        guard let outcome = settled(outcome, id) else { return }
        if case .failure(let error) = outcome, requests[id].mayFallBack(after: error, at: now) {
            deriver.leaveOverlays(id)
            return agenda.append(.fallBack(id, error))
        }
        let request = strike(id)
        if request.isSilent { return }
        let told = told(outcome, request)
        if case .failure(let error) = told { figures.counters.ended(with: error) }
        if let batch = request.batch { return memberEnded(batch, request.image.url, told) }
        figures.times.record(from: request.facts.admittedAt, to: now)
        var timings = request.timings
        timings.total = now.fractionalMilliseconds(since: request.facts.admittedAt)
        let reply = Reply(token: request.token, outcome: told, timings: timings)
        actions.append(.reply(request.client, reply))
        actions.append(
            .record(
                RequestRecord(
                    url: request.fallenBack?.url ?? request.image.url, attempts: request.attempt,
                    request.order.logContext, reply)))
    }

    /// Counts the end of a request, and returns what its client is told.
    private mutating func told(
        _ outcome: Reply.Outcome, _ request: LiveRequest
    ) -> Reply.Outcome {
        guard let failure = request.fallenBack else { return outcome }
        if case .image = outcome { figures.counters.fallbacks += 1 }
        return failure.outcome(of: outcome)
    }

    /// A URL of a batch has ended: that is counted, and nothing is delivered.
    mutating func memberEnded(
        _ batch: PrefetchBatch.ID, _ url: String, _ outcome: Reply.Outcome
    ) {
        figures.counters.prefetched += 1
        prefetching.ended(batch, url, outcome)
    }

    /// Replies to a load that was never a live request.
    mutating func answerAtOnce(
        _ load: LoadRequest, of client: ClientID, _ outcome: Reply.Outcome
    ) {
        let reply = Reply(token: load.token, outcome: outcome)
        actions.append(.reply(client, reply))
        actions.append(.record(RequestRecord(load, reply)))
    }
}

extension ImageRequest {
    /// Why an image is none that will do.
    func refusal(of image: ImageInfo) -> ImageError? {
        guard options.contains(.matchAnimatedImageClass), !image.isOfAnimation else { return nil }
        return ImageError(
            .badImageData,
            "the image is no animation: leave out the option match-animated-image-class",
            details: ["format": image.format.name])
    }
}
