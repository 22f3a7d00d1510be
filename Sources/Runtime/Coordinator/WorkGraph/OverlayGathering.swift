import Model

/// The overlays of a subscriber's image. They are loaded and decoded before the image, and kept
/// until the image is finished.
struct Gathering: Sendable {
    /// One overlay.
    struct Layer: Sendable {
        /// The admitted load of the overlay.
        let request: AdmittedRequest
        /// The decode that provides its pixels.
        var decode: Need<DecodeNode>?
        /// Whether the cache has been queried for its original, or doesn't need to be.
        var hasAskedCache: Bool
        /// Tiers that were queried and missed.
        var missed = CacheTypes.none
    }

    var layers: [Layer]
    /// The urgency while the subscriber waits.
    var urgency: Urgency
    /// Whether the subscriber already has an image.
    let refreshes: Bool
    /// Whether the subscriber is waiting here. A later stage waits for a result, which is itself a
    /// consumer of the overlays.
    var isAwaited = true
}

// Overlays are loaded like any image: at most one load at a time, with caching (PROTOCOL §8.8).
//
//     the result isn't cached ──► gathering ──pixels of all overlays──► source stages of the image
//                                    └──an overlay fails──► the subscriber fails
//
// Work on the image begins only when all overlays are available, so nothing that holds pixels of an
// image waits for space. A request that holds overlays may wait for space, because overlays have a
// separate budget. If that budget is used up, requests fail at once instead of waiting.
extension WorkGraph {
    /// Whether all overlays of a subscriber are available.
    func hasGathered(_ id: Subscriber.ID) -> Bool {
        guard let gathering = gatherings[id] else { return false }
        return gathering.layers.allSatisfy { layer in
            layer.decode.map { decodes[$0.node].pixels != nil } ?? false
        }
    }

    /// Loads all overlays of a subscriber. `refreshing` means that it already has an image.
    func gather(
        _ requests: [AdmittedRequest], for id: Subscriber.ID, _ urgency: Urgency, refreshing: Bool
    ) -> Place {
        leaveOverlays(id)
        let layers = requests.map { request in
            Gathering.Layer(
                request: request, decode: nil,
                hasAskedCache: !asksCache(request, refreshing: refreshing))
        }
        gatherings[id] = Gathering(layers: layers, urgency: urgency, refreshes: refreshing)
        for index in layers.indices { obtainOverlay(index, of: id) }
        goOnIfGathered(id)
        return .overlays(id)
    }

    /// Returns the error if a new load of these pixels may not start now.
    private func refusal(
        toLay name: DecodeName, _ request: AdmittedRequest, for flow: FlowID
    ) -> ImageError? {
        if isPoisoned(name) {
            return ImageError.overlay(Dispatcher.poisoned, url: request.image.url)
        }
        if let error = refusal(toDecode: name, of: request) { return error }
        return overlayBytes.admits(1, for: flow.owner) ? nil : Self.noOverlayRoom
    }

    private func asksCache(_ request: AdmittedRequest, refreshing: Bool) -> Bool {
        let image = request.image
        // A refresh bypasses the cache if the overlay may be fetched.
        guard !refreshing || !request.plan.includes(.fetch),
            !image.options.contains(.fromLoaderOnly), !image.originalQueryCacheTypes.isEmpty
        else { return false }
        // Skips the cache if the overlay is available or being fetched because the cache doesn't
        // have it.
        guard request.plan.includes(.fetch) else { return true }
        let key = DecodeKey(overlay: request.key.decode.source, limits: request.terms.limits)
        if decodes.first(under: DecodeName(key: key, origin: request.network)) != nil {
            return false
        }
        return !isFetching(request)
    }

    // MARK: - One overlay

    /// Joins the decode of an overlay, or starts one from the cached original or else from the
    /// origin. Fails if no stage is left.
    func obtainOverlay(_ index: Int, of id: Subscriber.ID) {
        guard let gathering = gatherings[id] else { return }
        let layer = gathering.layers[index]
        guard !layer.hasAskedCache || layer.request.plan.includes(.fetch) else {
            return giveUp(id, nil)
        }
        let name = DecodeName(
            key: DecodeKey(
                overlay: layer.request.key.decode.source, limits: layer.request.terms.limits),
            origin: origin(of: layer, refreshing: gathering.refreshes))
        let known = decodes.first(under: name)
        if known == nil,
            let error = refusal(toLay: name, layer.request, for: gathering.urgency.flows.first)
        {
            return giveUp(id, error)
        }
        let node =
            known
            ?? decodes.insert(DecodeNode(name: name, logContext: layer.request.logContext))
        let seat = decodes[node].consumers.join(.subscriber(id, index), gathering.urgency)
        gatherings[id]?.layers[index].decode = Need(node: node, seat: seat)
        if known == nil {
            obtainBytes(of: node, layer.request)
        } else {
            shared.counters.coalesced.decodes += 1
            propagate(node)
        }
        notifySource(of: node, about: layer)
    }

    /// Fails a subscriber because an overlay failed or no stage is left for it.
    private func giveUp(_ id: Subscriber.ID, _ error: ImageError?) {
        leaveOverlays(id)
        emit(.ungathered(id, error))
    }

    /// A refresh loads an overlay as a revalidation with an unknown mark. It therefore doesn't join
    /// older transfers, and its response replaces the cached entry.
    private func origin(of layer: Gathering.Layer, refreshing: Bool) -> ByteSource {
        guard layer.hasAskedCache else { return layer.request.cachedOriginal }
        guard refreshing else { return layer.request.network }
        return .revalidation(.none, FetchTerms(layer.request.terms))
    }

    /// Handles the arrival of an overlay's pixels.
    func cameOverlay(_ node: DecodeNode.ID) {
        guard decodes[node].name.key.isOverlay else { return }
        let waiting = decodes[node].consumers.members.compactMap { consumer in
            if case .subscriber(let id, _) = consumer { id } else { nil }
        }
        // A subscriber that uses the same overlay twice is listed twice.
        let ready = waiting.filter { hasJustGathered($0) }
        if !ready.isEmpty { emit(.ended(.gathered, nil, ready)) }
    }

    func goOnIfGathered(_ id: Subscriber.ID) {
        if hasJustGathered(id) { emit(.ended(.gathered, nil, [id])) }
    }

    /// Returns whether the subscriber has all overlays and hasn't been notified yet.
    private func hasJustGathered(_ id: Subscriber.ID) -> Bool {
        guard gatherings[id]?.isAwaited == true, hasGathered(id) else { return false }
        gatherings[id]?.isAwaited = false
        return true
    }

    static let noOverlayRoom = ImageError.busy("there is no space for more overlays")
}

extension ImageError {
    /// Returns the error of a request whose overlay failed. Errors that only ask for a retry are
    /// returned unchanged.
    static func overlay(_ error: ImageError, url text: String) -> ImageError {
        guard error.code.admitsFallback else { return error }
        let url = try? SourceURL(text)
        var failure = ImageError(
            .stepFailed,
            "overlay: the overlay image\(url.map { " \($0.forLogs)" } ?? "") "
                + "cannot be loaded: \(error.code.rule.name)"
        ) {
            $0.step = "overlay"
            $0.overlay = error.code.rule.name
            $0[text: \.httpStatus] = error.typedDetails[text: \.httpStatus]
        }
        failure.message = String(failure.message.prefix(400))
        return failure
    }
}
