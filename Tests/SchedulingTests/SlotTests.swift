import Model
import Testing

@testable import Coordinator

/// Slots: a new load cancels the previous load of its slot (SEMANTICS §8.7).
struct SlotTests {
    private let image = ImageRequest.image("a", size: 5, .fromLoaderOnly)
    private let other = ImageRequest.image("b", size: 5, .fromLoaderOnly)

    private func stack() -> (Stack, ClientID) {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        return (stack, client)
    }

    @Test func aNewLoadCancelsTheOlderOneOfItsSlot() {
        var (stack, client) = stack()
        let first = stack.load(image, by: client, slot: "s")
        let elsewhere = stack.load(other, by: client, slot: "t")
        let second = stack.load(other, by: client, slot: "s")
        #expect(stack.error(first) == .cancelled)
        stack.finishAll()
        #expect(stack.image(second) != nil)
        #expect(stack.image(elsewhere) != nil)
        #expect(stack.replies[first]?.count == 1)
        #expect(stack.isAtRest)
    }

    @Test func theCancelledReplyComesBeforeAMemoryHit() {
        var (stack, client) = stack()
        guard let url = try? SourceURL(other.url) else { return }
        let known = other.with { $0.options = [] }
        stack.publish(CacheKey.result(known, url: url, terms: LoadTerms()))
        let first = stack.load(image, by: client, slot: "s")
        let second = stack.load(known, by: client, slot: "s")
        #expect(replies(stack) == [first, second])
        #expect(stack.image(second) != nil)
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test func theCancelledReplyComesBeforeARefusal() {
        var (stack, client) = stack()
        let first = stack.load(image, by: client, slot: "s")
        let second = stack.load(ImageRequest(url: "nonsense"), by: client, slot: "s")
        #expect(replies(stack) == [first, second])
        #expect(stack.error(second) == .invalidURL)
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test func whoAvoidsItCancelsNothing() {
        var (stack, client) = stack()
        let avoiding = other.with { $0.options.insert(.avoidAutoCancelImage) }
        let first = stack.load(image, by: client, slot: "s")
        let second = stack.load(avoiding, by: client, slot: "s")
        #expect(stack.reply(first) == nil)
        let third = stack.load(.image("c", size: 5), by: client, slot: "s")
        #expect(stack.reply(first) == nil, "the first keeps running: as upstream")
        #expect(stack.error(second) == .cancelled)
        stack.finishAll()
        #expect(stack.image(first) != nil)
        #expect(stack.image(third) != nil)
        #expect(stack.isAtRest)
    }

    @Test func slotsOfOthersAreOthers() {
        var (stack, client) = stack()
        let first = stack.load(image, by: client, slot: "s")
        stack.load(other, by: stack.connect(), slot: "s")
        #expect(stack.reply(first) == nil)
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test func aResentLoadDoesNotCancelItself() {
        var (stack, client) = stack()
        let token = stack.load(image, by: client, slot: "s")
        stack.load(image, by: client, token: token, slot: "s")
        #expect(stack.reply(token) == nil)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest)
    }

    @Test func aSlotOfWhatHasEndedIsForgotten() {
        var (stack, client) = stack()
        for index in 0..<100 { stack.load(image, by: client, slot: "s\(index)") }
        #expect(stack.scheduler.clients[client]?.slots.count == 100)
        stack.finishAll()
        #expect(stack.scheduler.clients[client]?.slots.isEmpty == true)
        #expect(stack.isAtRest)
    }

    @Test func aSlotIsLeftWithoutANewLoad() {
        var (stack, client) = stack()
        let first = stack.load(image, by: client, slot: "s")
        stack.send(.leaveSlot(client, slot: "s"))
        #expect(stack.error(first) == .cancelled)
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test func anUploadTakesItsSlotOnlyWhereNobodyCameMeanwhile() {
        var (stack, client) = stack()
        let newer = stack.load(image, by: client, slot: "s")
        let upload = stack.upload("x", by: client, slot: "s")
        #expect(stack.reply(newer) == nil)
        let newest = stack.load(other, by: client, slot: "s")
        #expect(stack.error(newer) == .cancelled)
        stack.finishAll()
        #expect(stack.image(upload) != nil)
        #expect(stack.image(newest) != nil)
        #expect(stack.isAtRest)
    }

    /// A reattached load is older than all loads of the client's new session: it regains its slot
    /// only if the slot is free.
    @Test func aDetachedLoadLeavesItsSlotToANewerOne() {
        var (stack, client) = stack()
        let detached = stack.load(image, by: client, detach: true, slot: "s")
        stack.disconnect(client)
        let session = stack.connect(again: client)
        let newer = stack.load(other, by: session, slot: "s")
        stack.load(image, by: session, token: detached, detach: true, slot: "s")
        #expect(stack.reply(newer) == nil, "attaching isn't a new load")
        let newest = stack.load(.image("c", size: 5, .fromLoaderOnly), by: session, slot: "s")
        #expect(stack.error(newer) == .cancelled, "the slot was still its own")
        #expect(stack.reply(detached) == nil)
        stack.finishAll()
        #expect(stack.image(detached) != nil)
        #expect(stack.image(newest) != nil)
        #expect(stack.isAtRest)
    }

    @Test func aDetachedLoadTakesAFreeSlotBack() {
        var (stack, client) = stack()
        let detached = stack.load(image, by: client, detach: true, slot: "s")
        stack.disconnect(client)
        let session = stack.connect(again: client)
        stack.load(image, by: session, token: detached, detach: true, slot: "s")
        let newer = stack.load(other, by: session, slot: "s")
        #expect(stack.error(detached) == .cancelled)
        stack.finishAll()
        #expect(stack.image(newer) != nil)
        #expect(stack.scheduler.clients[session]?.slots.isEmpty == true)
        #expect(stack.isAtRest)
    }

    @Test func aSlotHasAName() {
        var (stack, client) = stack()
        for name in ["", "a b", String(repeating: "s", count: 129)] {
            let token = stack.load(image, by: client, slot: name)
            #expect(stack.error(token) == .invalidRequest)
        }
    }

    @Test func aLoadWithASlotHasNoShortWay() {
        var (stack, client) = stack()
        let known = image.with { $0.options = [] }
        guard let url = try? SourceURL(known.url) else { return }
        stack.publish(CacheKey.result(known, url: url, terms: LoadTerms()))
        let token = Token(Identifier128(high: 6, low: 6))
        let plain = LoadRequest(token: token, image: known)
        let slotted = LoadRequest(token: token, image: known, slot: "s")
        #expect(stack.scheduler.hitTicket(for: plain, LoadTerms()) != nil)
        #expect(stack.scheduler.hitTicket(for: slotted, LoadTerms()) == nil)
        stack.load(known, by: client, slot: "s")
    }

    @Test func continuingInTheBackgroundIsDetaching() {
        var (stack, client) = stack()
        let token = stack.load(
            image.with { $0.options.insert(.continueInBackground) }, by: client)
        stack.disconnect(client)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest)
    }

    private func replies(_ stack: Stack) -> [Token] {
        stack.actions.compactMap { if case .reply(_, let reply) = $0 { reply.token } else { nil } }
    }
}
