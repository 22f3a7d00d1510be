import Model

@testable import Coordinator

extension Stack {
    /// An image uploaded by a client; equal names mean equal bytes.
    @discardableResult
    mutating func upload(
        _ name: String, by client: ClientID, token: Token? = nil, group: GroupID? = nil,
        slot: String? = nil, length: UInt64 = 900, _ change: (inout ImageRequest) -> Void = { _ in }
    ) -> Token {
        lastToken += 1
        let token = token ?? Token(Identifier128(high: 1, low: lastToken))
        var image = ImageRequest(url: "\(Scheduler.uploadScheme):\(name)")
        change(&image)
        if image.context.serializer?.output != nil { transcodes = true }
        producer.lastBlock += 1
        let block = BlockID(producer.lastBlock)
        producer.live.insert(block)
        let reference = BlockReference(segment: 0, offset: 64, length: length, block: block)
        if waiting[token] == nil {
            if image.options.contains(.continueInBackground) { detached.insert(token) }
            waiting[token] = client
            wanted[token] = image
            replies[token] = nil
        }
        let load = LoadRequest(
            token: token, group: group, image: image, uploadBytes: length, slot: slot)
        var terms = LoadTerms()
        terms.serializer = image.context.serializer ?? .asIs
        terms.overlays = image.preparedOverlays
        terms.fallback = PreparedFallback(image.context.fallback, of: image)
        send(.loadUpload(client, load, terms, reference))
        return token
    }

    /// Bytes that an operator stores under a key; a given token may be a live one.
    @discardableResult
    mutating func put(
        _ key: String, by client: ClientID, in tiers: CacheTypes = .all, token: Token? = nil,
        _ change: (inout ImageRequest) -> Void = { _ in }
    ) -> Token {
        lastToken += 1
        let token = token ?? Token(Identifier128(high: 1, low: lastToken))
        var image = ImageRequest(url: "\(Scheduler.uploadScheme):put")
        image.infoOnly = true
        image.storeCacheTypes = tiers
        image.context.key = .text(key)
        change(&image)
        if image.context.serializer?.output != nil { transcodes = true }
        producer.lastBlock += 1
        let block = BlockID(producer.lastBlock)
        producer.live.insert(block)
        if waiting[token] == nil {
            waiting[token] = client
            wanted[token] = image.with { $0.options = .waitStoreCache }
            replies[token] = nil
        }
        let load = LoadRequest(token: token, image: image, uploadBytes: 900)
        let reference = BlockReference(segment: 0, offset: 64, length: 900, block: block)
        var terms = LoadTerms()
        terms.cache = image.context.cache ?? ""
        terms.serializer = image.context.serializer ?? .asIs
        send(.put(client, load, terms, reference))
        return token
    }
}
