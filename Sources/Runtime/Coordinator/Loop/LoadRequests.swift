import Model
import ProcessRuntime
import Sodium
import Wire
import ZeroMQ

extension Coordinator {
    /// Handles a load without an upload.
    mutating func load(_ request: LoadRequest, for id: UInt64, _ socket: ListenerSocket) {
        let client = ClientID(id)
        let inChunks = expectChunks(request, for: id)
        if socket.listener == .admin, case .text(let key) = request.image.context.key {
            let resolved = resolve(request, entry: key)
            return handle(.load(client, resolved.load, resolved.terms))
        }
        let resolved = socket.listener == .web ? resolve(restricted: request) : resolve(request)
        let isRepeatable =
            !inChunks && !resolved.mayChange && socket.listener != .admin
            && requestLog.permitsShortWay && peers.takesReferences(id)
        handle(.load(client, resolved.load, resolved.terms, isRepeatable: isRepeatable))
        // Loads with log contexts are rarely repeated byte for byte.
        guard let ticket = exchange(&granted, with: nil), request.logContext.isEmpty else { return }
        socket.frames.withBody {
            hitMemos[socket.listener].learn(request, $0, ticket, &encoder)
        }
    }

    /// Resolves a load of a front end that serves untrusted clients with the profile for those.
    private func resolve(restricted load: LoadRequest) -> Resolved {
        Resolved(load, mayChange: true) { resolved throws(ImageError) in
            try RestrictedFront.check(load, configuration.untrustedPermission)
            resolved.load.image.context.profile = configuration.untrustedProfile
            resolved = resolve(resolved.load)
        }
    }

    /// Resolves an operator's read of an entry by its key, as shown in replies: nothing is fetched
    /// or stored, and only the cache names of the configuration apply.
    private func resolve(_ load: LoadRequest, entry key: String) -> Resolved {
        Resolved(load, mayChange: true) { resolved throws(ImageError) in
            resolved.terms.cache = try configuration.cacheText(of: load.image.context.cache)
            resolved.terms.originalCache = resolved.terms.cache
            resolved.terms.base = .entry(key)
            resolved.terms.mayDownload = false
            resolved.load.image.context = RequestContext()
            resolved.load.image.options = [.fromCacheOnly]
            resolved.load.image.storeCacheTypes = .none
            resolved.load.image.originalStoreCacheTypes = .none
        }
    }
}

// Several loads in one message (PROTOCOL §8.2).
extension Coordinator {
    /// Handles each load of a batch as if it had arrived alone, in order; hits are answered
    /// together. An error affects only its own load. Returns the number of loads.
    mutating func receiveLoads(_ socket: ListenerSocket) throws(WireError) -> Int {
        // One answer suffices for a peer without a session.
        guard session(at: socket) != nil else {
            notify(.toClient(.helloRequired), socket)
            return 1
        }
        let count = try socket.frames.openBatch()
        var isNonsenseReported = false
        for place in 0..<count {
            socket.frames.turn(to: place)
            if answerAgain(socket) { continue }
            do throws(WireError) {
                try receive(.load, socket)
            } catch {
                // Errors that can't be attributed to a load are answered once, however many there
                // are.
                let isNonsense = Self.token(of: error) == nil
                if !isNonsense || !isNonsenseReported {
                    refuse(error, .load, socket)
                }
                isNonsenseReported = isNonsenseReported || isNonsense
            }
            // The session may have ended: a client that doesn't read loses it.
            guard session(at: socket) != nil else { break }
        }
        return count
    }
}

// Slots: a new load cancels the previous load in its slot (SEMANTICS §8.7).
extension Coordinator {
    /// Ends the load, delivery or upload that occupies the slot of a new load.
    mutating func leaveSlot(for load: LoadRequest, of client: ClientID) {
        guard let slot = load.slot, !load.image.options.contains(.avoidAutoCancelImage) else {
            return
        }
        cancelChunks(of: client) { $0.slot == slot && $0.token != load.token }
        // A load without an upload is admitted now and takes the slot itself.
        if load.uploadBytes > 0 { handle(.leaveSlot(client, slot: slot)) }
    }
}

// Prefetches of URL lists.
extension Coordinator {
    /// Handles a batch or a part of one. The scheduler resolves each URL like that of a load when
    /// it starts it (`lateResolution`), so a long list costs no more than its text.
    mutating func prefetch(_ request: PrefetchRequest, for client: ClientID) {
        var image = request.image
        image.url = Self.anyURL
        handle(.prefetch(client, request, resolveTemplate(image)))
    }

    /// Returns the terms of the template itself; an error in it applies to all URLs.
    private func resolveTemplate(_ image: ImageRequest) -> LoadTerms {
        do throws(ImageError) {
            try configuration.check(image)
            return LoadTerms(identity: identities.identify(Resolution(image)))
        } catch {
            var terms = LoadTerms()
            terms.refusal = error
            return terms
        }
    }

    /// A placeholder for a required URL.
    private static let anyURL = "http://host/"

    /// Collects a batch's report: only the newest one of a turn is sent, but the final one
    /// immediately.
    mutating func prefetched(_ report: PrefetchReport, of client: ClientID) {
        guard report.isFinal else {
            prefetchReports[client, default: [:]][report.batch] = report
            return
        }
        prefetchReports[client]?[report.batch] = nil
        send(.prefetched(report), to: client)
    }

    /// Sends the collected reports of a turn.
    mutating func notifyPrefetches() {
        guard !prefetchReports.isEmpty else { return }
        let reports = prefetchReports
        prefetchReports.removeAll(keepingCapacity: true)
        for (client, reports) in reports {
            for report in reports.values {
                send(.prefetched(report), to: client)
            }
        }
    }
}

extension Coordinator {
    /// Handles a reply; a chunked delivery starts now.
    mutating func reply(_ reply: Reply, to client: ClientID) {
        let known =
            reply.isTerminal
            ? deliveries.replied(reply.token, of: client)
            : deliveries.refreshing(reply.token, of: client)
        guard let expected = known, case .image(let image) = reply.outcome,
            let reference = image.reference
        else { return sendEnd(reply, known, to: client) }
        // While one partial image is being sent, a newer one would only arrive later.
        if reply.arrivedBytes != nil, deliveries.isSending(reply.token, to: client) {
            return discard(image, for: client)
        }
        deliveries.begin(
            ChunkDeliveries.Delivery(
                load: expected.load, deadline: expected.deadline, reply: reply, image: image,
                reference: reference),
            to: client)
        counters.chunkDeliveries += 1
        sendChunks(to: client)
    }

    /// Sends a reply without an image. It doesn't overtake a cached image that is being sent; if
    /// the cached image could not be sent and is up to date, it is loaded again.
    private mutating func sendEnd(
        _ reply: Reply, _ expected: ChunkDeliveries.Expected?, to client: ClientID
    ) {
        guard let expected else { return send(.reply(reply), to: client) }
        if deliveries.follow(reply, to: client) { return }
        guard expected.lacksCached, case .notModified = reply.outcome else {
            return send(.reply(reply), to: client)
        }
        loadAgain(expected.load, until: expected.deadline, for: client, isUnmodified: true)
    }
}

extension LoadTerms {
    /// The maximum length in bytes of a `data:` URL that serves as its own key.
    static let dataKeyBytesMax = 256

    /// Replaces a long `data:` URL in keys by its digest, since its content isn't a readable name.
    /// The result never equals a `data:` URL, which contains a comma.
    mutating func shortenDataKey(of url: String) {
        guard base == .url, loader == .data, url.utf8.count > Self.dataKeyBytesMax else { return }
        do throws(SodiumError) {
            let digest = try BLAKE2bDigest()
            digest.update(Array(url.utf8))
            base = .filtered("data:blake2b-" + digest.finish())
        } catch {
            // A coordinator doesn't start without the library.
            return
        }
    }
}
