import Model
import Testing

@testable import Coordinator

/// Whether an image may be loaded whose overlay may not.
struct OverlayPolicyTests {
    private static let mark = "http://marks.example/mark.png"

    private func image() -> ImageRequest {
        ImageRequest.image("a", size: 8).with { request in
            request.steps.append(.overlay(Overlay(url: Self.mark)))
        }
    }

    private func overlayError(_ stack: Stack, _ token: Token) -> String? {
        guard case .failure(let error) = stack.reply(token)?.outcome else { return nil }
        return error.details["overlay"]
    }

    /// The terms of a configuration that refuses the overlay's URL.
    private func refusing(_ image: ImageRequest) -> LoadTerms {
        var terms = LoadTerms()
        terms.overlays = image.preparedOverlays
        terms.overlays[0].terms.refusal = ImageError(.addressForbidden, "not this one")
        return terms
    }

    @Test func anOverlayThatIsForbiddenNowIsForbiddenInWhatIsCachedToo() throws {
        var (stack, client) = Stack.staffed()
        let image = image()
        var allowed = LoadTerms()
        allowed.overlays = image.preparedOverlays
        stack.publish(
            CacheKey.result(image, url: try SourceURL(image.url), terms: allowed))
        let hit = stack.load(image, by: client)
        #expect(stack.image(hit)?.cacheType == .memory)
        let load = LoadRequest(token: Token(Identifier128(high: 2, low: 2)), image: image)
        #expect(stack.scheduler.hitTicket(for: load, allowed) != nil)
        #expect(stack.scheduler.hitTicket(for: load, refusing(image)) == nil)
        let token = stack.load(image, by: client, terms: refusing(image))
        #expect(stack.error(token) == .stepFailed)
        #expect(overlayError(stack, token) == ErrorCode.addressForbidden.rule.name)
        #expect(stack.held(.query).isEmpty)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func theFallbackOfAnImageWithAForbiddenOverlayIsDelivered() throws {
        var (stack, client) = Stack.staffed()
        let image = image().with { $0.context.fallback = .color(Color(argb: 0xFF00_0000)) }
        let token = stack.load(image, by: client, terms: refusing(image))
        stack.finishAll()
        #expect(stack.image(token)?.fallbackFor?.code == .stepFailed)
        #expect(stack.gets.isEmpty)
        #expect(stack.isAtRest, "\(stack)")
    }

    /// The failure cache saves transfers; a cached result needs none.
    @Test func aResultThatIsCachedIsServedThoughItsOverlayIsBlacklisted() throws {
        var (stack, client) = Stack.staffed()
        stack.load(ImageRequest(url: Self.mark), by: client)
        stack.run(.query, .fetch)
        stack.fail(.decode, .badImageData)
        let image = image()
        let refused = stack.load(image, by: client)
        stack.run(.query)
        #expect(overlayError(stack, refused) == ErrorCode.blacklisted.rule.name)
        var terms = LoadTerms()
        terms.overlays = image.preparedOverlays
        stack.publish(CacheKey.result(image, url: try SourceURL(image.url), terms: terms))
        let hit = stack.load(image, by: client)
        #expect(stack.image(hit) != nil)
        #expect(stack.isAtRest, "\(stack)")
    }

    /// Loads of bytes are permitted, but an overlay needs pixels, so it is refused.
    @Test func anOverlayNeedsItsPixels() {
        var (stack, client) = Stack.staffed()
        var error = ImageError(.badImageData, "cut off")
        error.damagesPixelsOnly = true
        let mark = ImageRequest(url: Self.mark)
        stack.load(mark.with { $0.output.format = .webp }, by: client)
        stack.run(.query)
        stack.run(.query, .fetch)
        stack.finish(.decode, .failed(error))
        let refused = stack.load(image(), by: client)
        stack.run(.query)
        #expect(overlayError(stack, refused) == ErrorCode.blacklisted.rule.name)
        let plain = stack.load(mark, by: client)
        stack.finishAll()
        #expect(stack.image(plain) != nil)
        #expect(stack.isAtRest, "\(stack)")
    }

    // MARK: - Rules that cache failures

    /// A rule that adds this failure of an overlay to the failure cache.
    private func blocking(_ code: ErrorCode, over image: ImageRequest) -> LoadTerms {
        var terms = LoadTerms()
        terms.overlays = image.preparedOverlays
        terms.overlays[0].terms.blocks = [.error(code): true]
        return terms
    }

    /// An image that is too large for an overlay may be valid by itself: its URL isn't added, even
    /// if a rule caches failures of too large images.
    @Test func anOverlayThatIsTooLargeIsNotBlacklistedByARule() {
        var (stack, client) = Stack.staffed()
        let image = image()
        let token = stack.load(image, by: client, terms: blocking(.limitExceeded, over: image))
        stack.run(.query, .query, .fetch)
        stack.fail(.decode, .limitExceeded)
        #expect(overlayError(stack, token) == ErrorCode.limitExceeded.rule.name)
        #expect(stack.scheduler.report["blacklisted"] == 0)
        let plain = stack.load(ImageRequest(url: Self.mark), by: client)
        stack.finishAll()
        #expect(stack.image(plain) != nil)
        #expect(stack.isAtRest, "\(stack)")
    }

    /// Only an overlay's size is exempt: the same rule applies to its other failures.
    @Test func anOverlayThatIsNoImageIsBlacklisted() {
        var (stack, client) = Stack.staffed()
        let token = stack.load(image(), by: client)
        stack.run(.query, .query, .fetch)
        stack.fail(.decode, .badImageData)
        #expect(overlayError(stack, token) == ErrorCode.badImageData.rule.name)
        let plain = stack.load(ImageRequest(url: Self.mark), by: client)
        #expect(stack.error(plain) == .blacklisted)
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack)")
    }

    /// An image that is too large is added if a rule says so.
    @Test func anImageThatIsTooLargeIsBlacklistedByARule() {
        var (stack, client) = Stack.staffed()
        var terms = LoadTerms()
        terms.blocks = [.error(.limitExceeded): true]
        let first = stack.load(.image("a", size: 8), by: client, terms: terms)
        stack.run(.query, .query, .fetch)
        stack.fail(.decode, .limitExceeded)
        #expect(stack.error(first) == .limitExceeded)
        let again = stack.load(.image("a", size: 8), by: client)
        #expect(stack.error(again) == .blacklisted)
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack)")
    }
}
