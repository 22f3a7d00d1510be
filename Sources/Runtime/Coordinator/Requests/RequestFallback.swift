import Model

// Fallbacks for unavailable images (PROTOCOL §8.7).
//
//     the image ──fails──► its fallback ──available──► delivered, marked with the error
//                               └──fails as well──► the error
//
// A fallback is admitted and shares its work like any other request. The failed live request itself
// becomes the fallback, so that cancellation and class changes apply to both, and there is one
// deadline and one reply.
extension Scheduler {
    /// Continues a failed request with its fallback.
    func fallBack(_ id: LiveRequest.ID, after error: ImageError) {
        let (image, failed) = (requests[id].image, requests[id].admitted)
        guard let fallback = failed.terms.fallback(after: error, infoOnly: image.infoOnly) else {
            preconditionFailure("a request that continues with a fallback has one")
        }
        requests[id].fallbackContext = FallbackContext(error: error, url: image.url)
        removeReader(of: requests[id].refreshing?.pending?.held)
        requests[id].refreshing = nil
        do throws(ImageError) {
            requests[id].begin(
                try admitFallbackRequest(
                    fallback, of: image, distrustsMemory: failed.distrustsMemory,
                    failed.logContext))
        } catch {
            return reply(id, .failure(error))
        }
        if let upload = failed.upload { dispatcher.drop(upload.block) }
        if !answerFallbackFromMemory(id) { pendingTransitions.moving.append(.onward(id)) }
    }

    /// Admits the fallback of a load that was refused at admission. Returns `false` if there is
    /// none.
    func admitFallback(
        of load: LoadRequest, _ terms: LoadTerms, from client: ClientID, _ owner: LiveClient,
        after error: ImageError
    ) -> Bool {
        guard
            let fallback = terms.fallback(after: error, infoOnly: load.image.infoOnly)
        else { return false }
        let failure = FallbackContext(error: error, url: load.image.url)
        do throws(ImageError) {
            let admitted = try admitFallbackRequest(
                fallback, of: load.image, distrustsMemory: load.staleRetries > 0,
                load.logContext)
            try checkRoomForOneMore(of: owner)
            let id = enlist(load, of: client, owner, admitted)
            requests[id].fallbackContext = failure
            _ = answerFallbackFromMemory(id)
        } catch {
            let outcome = failure.outcome(of: .failure(error))
            if case .failure(let error) = outcome { shared.counters.ended(with: error) }
            answerAtOnce(load, of: client, outcome)
        }
        return true
    }

    // MARK: - Admission

    /// Admits a fallback. Throws if it isn't permitted.
    private func admitFallbackRequest(
        _ fallback: PreparedFallback, of failed: ImageRequest, distrustsMemory: Bool,
        _ logContext: LogContext
    ) throws(ImageError) -> AdmittedRequest {
        switch fallback {
        case .none: throw ImageError(.internalError, "the request has no fallback")
        case .load(let asked):
            let load = lateResolution(asked, .fallback)
            if let refusal = load.terms.refusal { throw refusal }
            try load.request.checkLoadOptions()
            try checkFailureCache(load.request, load.terms)
            try checkExternalWork(of: load.request)
            return AdmittedRequest(
                load.request, load.terms, try names(of: load.request, load.terms, nil),
                distrustsMemory: distrustsMemory, logContext: logContext)
        case .color(let color):
            // The dimensions are checked before anything is computed from them.
            try RequestNames.check(image: failed, limits.workGraph.image)
            let canvas = Canvas(color: color, size: failed.nominalSize)
            let image = failed.painting(canvas)
            return AdmittedRequest(
                image, LoadTerms(),
                try RequestNames(painting: image, limits: limits.workGraph.image),
                canvas: canvas,
                distrustsMemory: distrustsMemory, logContext: logContext)
        }
    }

    /// Answers a fallback from the hit index, if possible.
    private func answerFallbackFromMemory(_ id: LiveRequest.ID) -> Bool {
        let request = requests[id]
        guard let (entry, block) = claimHit(request.admitted.terms, request.plan, request.names)
        else { return false }
        answer(id, entry.delivered(for: request.image, request.names), block)
        return true
    }
}

/// The failure of the original image of a request that continues with its fallback.
struct FallbackContext: Sendable {
    /// Why the image is unavailable.
    let error: ImageError
    /// The URL of the image, for logging.
    let url: String

    /// Returns the outcome of the request, given that of its fallback. If the fallback fails as
    /// well, the result is the error of the image, unless the request was canceled.
    func outcome(of fallback: Reply.Outcome) -> Reply.Outcome {
        switch fallback {
        case .image(var image):
            image.fallbackFor = error
            return .image(image)
        case .failure(let second) where second.code == .cancelled: return fallback
        case .failure(let second): return .failure(failed(with: second.code.rule.name))
        case .miss: return .failure(failed(with: "miss"))
        case .notModified: return fallback
        }
    }

    private func failed(with reason: String) -> ImageError {
        var error = error
        error.typedDetails.fallback = reason
        return error
    }
}

extension ImageRequest {
    /// Returns a request for a solid-color image in the size of the result. It isn't cached because
    /// painting costs less.
    func painting(_ canvas: Canvas) -> ImageRequest {
        var image = loading(fallback: "colour:\(canvas.color)")
        image.thumbnail = nil
        image.steps = [.resize(canvas.size, .stretch)]
        image.options.remove(.fromCacheOnly)
        image.queryCacheTypes = .none
        image.storeCacheTypes = .none
        image.originalQueryCacheTypes = .none
        image.originalStoreCacheTypes = .none
        return image
    }
}
