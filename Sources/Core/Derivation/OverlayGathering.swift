package import Dispatching
package import ImageModel
import Messages
import Tables

/// The overlays of a waiter's image. They are fetched and decoded before the image is, and kept
/// until the image is made.
struct Gathering: Sendable {
    /// One overlay.
    struct Layer: Sendable {
        /// Its load, as it was admitted.
        let order: Order
        /// Where its pixels are, or will be.
        var decode: Need<DecodeNode>?
        /// Whether the cache was asked for its original, or is not asked.
        var hasAskedCache: Bool
        /// Tiers that were asked for it, in vain.
        var missed = CacheTypes.none
    }

    var layers: [Layer]
    /// How badly it is wanted, while somebody waits.
    var urgency: Urgency
    /// Whether the waiter has an image already.
    let refreshes: Bool
    /// Whether the waiter waits here. One that has gone on waits for a result, which is a consumer
    /// of the overlays itself.
    var isAwaited = true
}

/// A consumer that lays the pixels of a decode over an image.
enum OverlayConsumer: Hashable, Sendable {
    /// A waiter, by the number of the overlay.
    case waiter(Waiter.ID, Int)
    /// A result that is being made.
    case result(ResultNode.ID)
}

/// Bytes of pixels that are kept to be laid over others, and the flows that they count for.
///
/// A request that holds overlays may wait for an origin. So no owner may hold more than three times
/// what would be left then (as with `FairShare`): others find room beside an owner that holds much.
struct OverlayBytes: Sendable {
    private static let heldPerFree: UInt64 = 3

    private let max: UInt64
    private(set) var count: UInt64 = 0
    private var held: [FlowOwner: UInt64] = [:]

    init(max: UInt64) { self.max = max }

    /// What all flows of the owner of a flow hold.
    func count(of flow: FlowID) -> UInt64 { held[flow.owner, default: 0] }

    /// Whether the flow may keep so many more.
    func admits(_ bytes: UInt64, for flow: FlowID) -> Bool {
        guard count <= max, bytes <= max - count else { return false }
        return (count(of: flow) + bytes) / Self.heldPerFree <= max - count - bytes
    }

    mutating func keep(_ bytes: UInt64, for flow: FlowID) {
        count += bytes
        held[flow.owner, default: 0] += bytes
    }

    mutating func release(_ bytes: UInt64, of flow: FlowID) {
        count -= bytes
        let left = count(of: flow) - bytes
        held[flow.owner] = left > 0 ? left : nil
    }
}

// What is laid over an image is loaded like any other: fetched at most once at a time, cached
// (PROTOCOL §8.8).
//
//     the result is not cached ──► gathering ──pixels of all overlays──► the ways to the image
//                                     └──one cannot be had──► the waiter fails
//
// All overlays are there before work on the image begins. So nothing that holds pixels of an image
// waits for space. A request that holds overlays may wait for space: overlays have a budget beside
// that of images. Where that budget is used up a request fails at once, and does not wait.
extension Deriver {
    /// Whether all that is laid over the image of a waiter is there.
    package func hasGathered(_ id: Waiter.ID) -> Bool {
        guard let gathering = gatherings[id] else { return false }
        return gathering.layers.allSatisfy { layer in
            layer.decode.map { decodes[$0.node].pixels != nil } ?? false
        }
    }

    /// Loads all overlays of a waiter. `refreshing`: it has an image already.
    package mutating func gather(
        _ orders: [Order], for id: Waiter.ID, _ urgency: Urgency, refreshing: Bool
    ) -> Place {
        leaveOverlays(id)
        let layers = orders.map { order in
            Gathering.Layer(
                order: order, decode: nil,
                hasAskedCache: !asksCache(order, refreshing: refreshing))
        }
        gatherings[id] = Gathering(layers: layers, urgency: urgency, refreshes: refreshing)
        for index in layers.indices { obtainOverlay(index, of: id) }
        goOnIfGathered(id)
        return Place(.overlays(id))
    }

    /// Why these pixels, which are not on their way, may not be loaded now.
    private mutating func refusal(
        toLay name: Sourced<DecodeKey>, _ order: Order, for flow: FlowID
    ) -> ImageError? {
        if isPoisoned(name) { return ImageError.overlay(Dispatcher.poisoned, url: order.image.url) }
        if let error = refusal(toDecode: name, of: order) { return error }
        return overlayBytes.admits(1, for: flow) ? nil : Self.noOverlayRoom
    }

    private func asksCache(_ order: Order, refreshing: Bool) -> Bool {
        let image = order.image
        // A refresh does not use what is cached, where the overlay may be fetched.
        guard !refreshing || !order.plan.includes(.fetch),
            !image.options.contains(.fromLoaderOnly), !image.originalQueryCacheTypes.isEmpty
        else { return false }
        // It is here already, or is being fetched since the cache does not have it.
        guard order.plan.includes(.fetch) else { return true }
        let key = DecodeKey(overlay: order.key.decode.source, limits: order.terms.limits)
        if decodes.first(under: Sourced(key: key, origin: order.network)) != nil { return false }
        return !isFetching(order)
    }

    // MARK: - One overlay

    /// Joins the decode of an overlay that is under way, or begins one: of the cached original, or
    /// else of what its origin has. With no way left the overlay cannot be had.
    mutating func obtainOverlay(_ index: Int, of id: Waiter.ID) {
        guard let gathering = gatherings[id] else { return }
        let layer = gathering.layers[index]
        guard !layer.hasAskedCache || layer.order.plan.includes(.fetch) else {
            return giveUp(id, nil)
        }
        let name = Sourced(
            key: DecodeKey(
                overlay: layer.order.key.decode.source, limits: layer.order.terms.limits),
            origin: origin(of: layer, refreshing: gathering.refreshes))
        let known = decodes.first(under: name)
        if known == nil,
            let error = refusal(toLay: name, layer.order, for: gathering.urgency.flows.first)
        {
            return giveUp(id, error)
        }
        let node = known ?? decodes.insert(DecodeNode(name: name, layer.order.logContext))
        let seat = decodes[node].consumers.join(
            .overlay(.waiter(id, index)), gathering.urgency)
        gatherings[id]?.layers[index].decode = Need(node: node, seat: seat)
        if known == nil {
            obtainBytes(of: node, layer.order)
        } else {
            figures.joinedDecodes += 1
            propagate(node)
        }
        tellSource(of: node, about: layer)
    }

    /// A waiter will not get all its overlays: the load of one failed, or no way to it is left.
    private mutating func giveUp(_ id: Waiter.ID, _ error: ImageError?) {
        leaveOverlays(id)
        tell(.ungathered(id, error))
    }

    /// A refresh asks for an overlay as if it had one with an unknown mark. So it does not join
    /// older transfers, and what it brings replaces what is cached.
    private func origin(of layer: Gathering.Layer, refreshing: Bool) -> ByteSource {
        guard layer.hasAskedCache else { return layer.order.cachedOriginal }
        guard refreshing else { return layer.order.network }
        return .revalidation(.none, FetchTerms(layer.order.terms))
    }

    /// The pixels of an overlay are there.
    mutating func cameOverlay(_ node: DecodeNode.ID) {
        guard decodes[node].name.key.isOverlay else { return }
        let waiting = decodes[node].overlays.compactMap { consumer in
            if case .waiter(let id, _) = consumer { id } else { nil }
        }
        // A waiter that lays the same overlay twice is listed twice.
        let ready = waiting.filter { hasJustGathered($0) }
        if !ready.isEmpty { tell(.gathered(ready)) }
    }

    mutating func goOnIfGathered(_ id: Waiter.ID) {
        if hasJustGathered(id) { tell(.gathered([id])) }
    }

    /// Whether the waiter has all overlays and has not been told so.
    private mutating func hasJustGathered(_ id: Waiter.ID) -> Bool {
        guard gatherings[id]?.isAwaited == true, hasGathered(id) else { return false }
        gatherings[id]?.isAwaited = false
        return true
    }

    static let noOverlayRoom = ImageError.busy("there is no space for more overlays")
}

extension ImageError {
    /// The error of a request whose overlay cannot be had. An error that only says to ask the stack
    /// again stays as it is.
    package static func overlay(_ error: ImageError, url text: String) -> ImageError {
        guard error.code.admitsFallback else { return error }
        let url = try? SourceURL(text)
        var failure = ImageError(
            .stepFailed,
            "overlay: the image to be laid over\(url.map { " at \($0.forLogs)" } ?? "") "
                + "cannot be had: \(error.code.rule.name)",
            details: ["step": "overlay", "overlay": error.code.rule.name])
        failure.message = String(failure.message.prefix(400))
        if let status = error.details["httpStatus"] { failure.details["httpStatus"] = status }
        return failure
    }
}
