import Dispatching
import ImageModel
import Messages
import Tables

// What is laid over a picture is loaded like any other: admitted, fetched at most once at a time,
// cached (PROTOCOL §8.8).
//
//     the result is not cached ──► gathering ──pixels of all overlays──► the ways to the picture
//                                     └──one cannot be had──► the request fails
//
// All of them are there before anything of the picture is: so nothing that holds pixels of a
// picture waits for space. Who holds overlays may wait for space, since they have a budget of their
// own beside that of pictures; and who finds it used up does not wait at all.
extension Scheduler {
    /// Whether the request has to gather what is laid over its picture before it goes that way.
    func mustGather(_ id: LiveRequest.ID, before way: JobPlan.Stage?) -> Bool {
        guard way != nil, way != .queryResult, !requests[id].order.terms.overlays.isEmpty else {
            return false
        }
        return !hasGathered(id)
    }

    private func hasGathered(_ id: LiveRequest.ID) -> Bool {
        guard let gathering = requests[id].gathering else { return false }
        return gathering.places.allSatisfy { place in
            place.decode.map { decodes[$0.node].pixels != nil } ?? false
        }
    }

    /// Loads all overlays of a request, which waits for them.
    mutating func gather(_ id: LiveRequest.ID) {
        leaveOverlays(id)
        var places: [Gathering.Place] = []
        for load in requests[id].order.terms.overlays {
            do throws(ImageError) {
                let order = try admit(load, over: id)
                places.append(
                    Gathering.Place(
                        order: order, decode: nil, hasAskedCache: !asksCache(order, for: id)))
            } catch {
                return reply(id, .failure(error))
            }
        }
        requests[id].gathering = Gathering(places: places)
        requests[id].standing = .overlays
        for index in places.indices where requests.contains(id) {
            obtain(index, of: id)
        }
        goOnIfGathered(id)
    }

    /// The load of an overlay as a request of its own; throws why the request cannot have it.
    private mutating func admit(
        _ load: Resolution, over id: LiveRequest.ID
    ) throws(ImageError) -> Order {
        do throws(ImageError) {
            try load.request.checkWishes()
            try checkBlacklist(load.request, load.terms)
            return Order(
                load.request, load.terms, try names(of: load.request, load.terms),
                distrustsMemory: false, trace: requests[id].order.trace)
        } catch {
            throw ImageError.overlay(error, url: load.request.url)
        }
    }

    /// Why nobody begins to load those pixels, which are not on their way.
    private mutating func refusal(
        toLay name: Sourced<DecodeKey>, _ order: Order, for flow: FlowID
    ) -> ImageError? {
        if isPoisoned(name) { return ImageError.overlay(Dispatcher.poisoned, url: order.image.url) }
        if let error = refusal(toDecode: name, of: order) { return error }
        return overlayBytes.admits(1, for: flow) ? nil : Self.noOverlayRoom
    }

    private func asksCache(_ order: Order, for id: LiveRequest.ID) -> Bool {
        let image = order.image
        // Who refreshes wants none of what is cached, where it may be fetched.
        guard requests[id].refreshing == nil || !order.plan.includes(.fetch),
            !image.options.contains(.fromLoaderOnly), !image.originalQueryCacheTypes.isEmpty
        else { return false }
        // It is here already, or is being fetched since the cache does not have it.
        guard order.plan.includes(.fetch) else { return true }
        let key = order.key.decode.source
        if decodeTable[Sourced(key: DecodeKey(overlay: key), origin: order.network)] != nil {
            return false
        }
        guard let node = source(Sourced(key: key, origin: order.network)) else { return true }
        return sources[node].body == nil
            && !image.originalQueryCacheTypes.isSubset(
                of: sources[node].originals.missing(order.names.plainOriginal))
    }

    // MARK: - One overlay

    /// Joins the decode of an overlay that is under way, or begins one: of the cached original, or
    /// else of what its origin has. With no way left nobody has it.
    mutating func obtain(_ index: Int, of id: LiveRequest.ID) {
        guard let place = requests[id].gathering?.places[index] else { return }
        guard !place.hasAskedCache || place.order.plan.includes(.fetch) else {
            counters.misses += 1
            return giveUp(id, .miss(key: requests[id].names.resultKey))
        }
        let name = Sourced(
            key: DecodeKey(overlay: place.order.key.decode.source),
            origin: origin(of: place, for: id))
        let known = decodeTable[name]
        if known == nil, let error = refusal(toLay: name, place.order, for: requests[id].flow) {
            return giveUp(id, .failure(error))
        }
        let node = known ?? decodes.insert(DecodeNode(name: name, trace: place.order.trace))
        decodeTable[name] = node
        let seat = decodes[node].takers.join(.request(id, index), requests[id].urgency)
        requests[id].gathering?.places[index].decode = OverlaySeat(node: node, seat: seat)
        if known == nil {
            attach(node, place.order)
        } else {
            counters.coalesced.decodes += 1
            spread(node)
        }
        tellSource(of: node, about: place)
    }

    /// A request that waits for overlays will not have them all.
    private mutating func giveUp(_ id: LiveRequest.ID, _ outcome: Reply.Outcome) {
        leaveOverlays(id)
        requests[id].standing = .moving
        reply(id, outcome)
    }

    /// Who refreshes asks for the overlay as who has one that nobody can name: pixels that others
    /// fetched before are not what it asks for, and what it brings replaces what is cached.
    private func origin(of place: Gathering.Place, for id: LiveRequest.ID) -> Origin {
        guard place.hasAskedCache else { return .cache(originalQuery(of: place.order)) }
        guard requests[id].refreshing != nil else { return place.order.network }
        return .revalidation(.none, FetchTerms(place.order.terms))
    }

    private func originalQuery(of order: Order) -> QueryWork {
        QueryWork(
            key: order.names.original, tiers: order.image.originalQueryCacheTypes,
            destination: .staging,
            promotes: order.image.originalStoreCacheTypes.contains(.memory))
    }

    /// The pixels of an overlay are there.
    mutating func cameOverlay(_ node: DecodeNode.ID) {
        let takers = decodes[node].takers.waiters.compactMap { taker in
            if case .request(let id, _) = taker { id } else { nil }
        }
        let ready = takers.filter { id in
            if case .overlays = requests[id].standing { hasGathered(id) } else { false }
        }
        // Who lays the same picture over itself twice is there twice.
        var seen: Set<LiveRequest.ID> = []
        later(.onward, ready.filter { seen.insert($0).inserted })
    }

    mutating func goOnIfGathered(_ id: LiveRequest.ID) {
        guard requests.contains(id), case .overlays = requests[id].standing, hasGathered(id)
        else { return }
        requests[id].standing = .moving
        moving.append(.onward(id))
    }
}
