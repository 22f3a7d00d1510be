import Admission
import EventLoop
import ImageModel
import Messages
import Sodium
import Wire
import ZeroMQ

extension Coordinator {
    /// A load that brings no bytes along.
    mutating func load(_ request: LoadRequest, for id: UInt64, _ gateway: Gateway, at now: Instant)
    {
        let client = ClientID(id)
        let inPieces = expectPieces(request, for: id, at: now)
        if gateway.listener == .admin, case .text(let key) = request.image.context.key {
            let resolved = resolve(request, entry: key)
            return handle(.load(client, resolved.load, resolved.terms), at: now)
        }
        let resolved = gateway.listener == .web ? resolve(restricted: request) : resolve(request)
        // A hit has its voucher the first time: whoever asks for many images in turn may find the
        // place of each taken by another one when it comes again.
        if !inPieces {
            learn(request, resolved, gateway)
            if let sender = gateway.sender, answerAgain(sender, gateway, at: now) { return }
            if answerOnce(request, resolved, from: id, gateway, at: now) { return }
        }
        handle(.load(client, resolved.load, resolved.terms), at: now)
    }

    /// A front end that speaks for strangers has the profile that is meant for those.
    private func resolve(restricted load: LoadRequest) -> Resolved {
        do throws(ImageError) {
            try RestrictedFront.check(load, configuration.permissionForStrangers)
            var load = load
            load.image.context.profile = configuration.profileForStrangers
            return resolve(load)
        } catch {
            var resolved = Resolved(load: load, terms: LoadTerms(), mayChange: true)
            resolved.terms.refusal = error
            return resolved
        }
    }

    /// An operator reads the entry of a key, as replies show that: nothing is fetched or stored,
    /// and of the configuration only the names of caches count.
    private func resolve(_ load: LoadRequest, entry key: String) -> Resolved {
        var resolved = Resolved(load: load, terms: LoadTerms(), mayChange: true)
        do throws(ImageError) {
            resolved.terms.cache = try configuration.cacheText(of: load.image.context.cache)
            resolved.terms.originalCache = resolved.terms.cache
            resolved.terms.base = .entry(key)
            resolved.terms.mayDownload = false
            resolved.load.image.context = RequestContext()
            resolved.load.image.options = [.fromCacheOnly]
            resolved.load.image.storeCacheTypes = .none
            resolved.load.image.originalStoreCacheTypes = .none
        } catch {
            resolved.terms.refusal = error
        }
        return resolved
    }
}

// Several loads in one message (PROTOCOL §8.2).
extension Coordinator {
    /// Does with each what would be done with it alone, in order; hits are answered together. A
    /// fault of one is that of one load. Returns how many they were.
    mutating func receiveLoads(
        from sender: RoutingID, _ gateway: Gateway, at now: Instant
    ) throws(WireError) -> Int {
        // One answer is enough for a stranger.
        guard peers.id(at: gateway.listener, sender) != nil else {
            tell(.toClient(.helloRequired), sender, gateway)
            return 1
        }
        let count = try gateway.openBatch()
        var isNonsenseTold = false
        for place in 0..<count {
            gateway.turn(to: place)
            if answerAgain(sender, gateway, at: now) { continue }
            do throws(WireError) {
                try receive(.load, from: sender, gateway, at: now)
            } catch {
                // What is nobody's is refused once, however often it comes.
                let isNonsense = Self.token(of: error) == nil
                if !isNonsense || !isNonsenseTold {
                    refuse(error, .load, sender, gateway, at: now)
                }
                isNonsenseTold = isNonsenseTold || isNonsense
            }
            // It may have ended: a client that does not read loses its session.
            guard peers.id(at: gateway.listener, sender) != nil else { break }
        }
        return count
    }
}

// Slots: what is on its way to one ends when another load comes into it (SEMANTICS §8.7).
extension Coordinator {
    /// A load comes into a slot: what is on its way to the slot, or brings its bytes along for it,
    /// ends before.
    mutating func leaveSlot(for load: LoadRequest, of client: ClientID, at now: Instant) {
        guard let slot = load.slot, !load.image.options.contains(.avoidAutoCancelImage) else {
            return
        }
        cancelPieces(of: client, at: now) { $0.slot == slot && $0.token != load.token }
        // Another load takes the slot when it is admitted, which is now.
        if load.uploadBytes > 0 { handle(.leaveSlot(client, slot: slot), at: now) }
    }
}

// Batches of URLs.
extension Coordinator {
    /// A batch, or a part of one. Each URL is resolved by itself, as that of a load is, when the
    /// scheduler begins it (`lateResolution`): a long list costs no more than its text.
    mutating func prefetch(_ request: PrefetchRequest, for client: ClientID, at now: Instant) {
        var image = request.image
        image.url = Self.anyURL
        handle(.prefetch(client, request, resolveTemplate(image)), at: now)
    }

    /// On what terms the template itself is loaded: what is wrong with it is wrong with all URLs.
    private func resolveTemplate(_ image: ImageRequest) -> LoadTerms {
        do throws(ImageError) {
            try configuration.check(image)
            return LoadTerms(identity: identities.identity(of: Resolution(image)))
        } catch {
            var terms = LoadTerms()
            terms.refusal = error
            return terms
        }
    }

    /// Stands where a URL has to stand.
    private static let anyURL = "http://host/"

    /// Of a batch only the newest report of a turn goes out, and the last one at once.
    mutating func prefetched(_ report: PrefetchReport, of client: ClientID, at now: Instant) {
        guard report.isFinal else {
            prefetchReports[client, default: [:]][report.batch] = report
            return
        }
        prefetchReports[client]?[report.batch] = nil
        send(.toClient(.prefetched(report)), to: client.value, at: now)
    }

    /// The reports of a turn.
    mutating func tellPrefetches(at now: Instant) {
        guard !prefetchReports.isEmpty else { return }
        let reports = prefetchReports
        prefetchReports.removeAll(keepingCapacity: true)
        for (client, reports) in reports {
            for report in reports.values {
                send(.toClient(.prefetched(report)), to: client.value, at: now)
            }
        }
    }
}

extension Coordinator {
    /// The end of a request: what is wanted in pieces begins to go out.
    mutating func reply(_ reply: Reply, to client: ClientID, at now: Instant) {
        let known =
            reply.isTerminal
            ? deliveries.replied(reply.token, of: client)
            : deliveries.refreshing(reply.token, of: client)
        guard let expected = known, case .image(let image) = reply.outcome,
            let reference = image.reference
        else { return sendEnd(reply, known, to: client, at: now) }
        // While one partial image goes out, a newer one would only come later.
        if reply.arrivedBytes != nil, deliveries.isSending(reply.token, to: client) {
            return letGo(of: image, for: client, at: now)
        }
        deliveries.begin(
            PieceDeliveries.Delivery(
                load: expected.load, deadline: expected.deadline, reply: reply, image: image,
                reference: reference),
            to: client)
        counters.pieceDeliveries += 1
        sendPieces(to: client, at: now)
    }

    /// A reply without bytes. It does not overtake those of a cached image; where these could not
    /// be sent and are the right ones, they are loaded once more.
    private mutating func sendEnd(
        _ reply: Reply, _ expected: PieceDeliveries.Expected?, to client: ClientID, at now: Instant
    ) {
        guard let expected else { return send(.toClient(.reply(reply)), to: client.value, at: now) }
        if deliveries.follow(reply, to: client) { return }
        guard expected.lacksCached, case .notModified = reply.outcome else {
            return send(.toClient(.reply(reply)), to: client.value, at: now)
        }
        loadUnmodified(expected.load, until: expected.deadline, for: client, at: now)
    }
}

extension LoadTerms {
    /// Bytes of a `data:` URL that are its own key.
    static let dataKeyBytesMax = 256

    /// Has the keys of a long `data:` URL begin with a digest of it: what it holds is no name that
    /// anybody reads. No URL looks like that: it has no comma.
    mutating func shortenDataKey(of url: String) {
        guard base == .url, loader == .data, url.utf8.count > Self.dataKeyBytesMax else { return }
        do throws(SodiumError) {
            let digest = try BLAKE2bDigest()
            digest.update(Array(url.utf8))
            base = .filtered("data:blake2b-" + digest.finish())
        } catch {
            // Without the library no coordinator starts.
            return
        }
    }
}
