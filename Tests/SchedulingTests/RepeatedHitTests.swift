import Model
import Testing

@testable import Coordinator

struct RepeatedHitTests {
    private let key = "http://example.org/a.jpg"
    private let token = Token(Identifier128(high: 5, low: 5))
    private let load: LoadRequest

    init() { load = LoadRequest(token: token, image: .image()) }

    /// A stack with one client and one image in memory, and the ticket of a load of it.
    private func stack(
        expiresInMilliseconds: UInt64? = nil
    ) throws -> (Stack, ClientID, BlockReference, HitTicket) {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let reference = stack.publish(key, expiresInMilliseconds: expiresInMilliseconds)
        let ticket = stack.scheduler.hitTicket(for: load, LoadTerms())
        return (stack, client, reference, try #require(ticket))
    }

    private func answers(_ ticket: HitTicket, _ stack: inout Stack, _ client: ClientID) -> Bool {
        stack.scheduler.answer(ticket, again: token, of: client, at: stack.now)
    }

    @Test func aTicketSaysWhatTheWholeWaySays() throws {
        var (stack, client, _, ticket) = try stack()
        let whole = stack.load(.image(), by: client)
        #expect(stack.image(whole) == ticket.image)
        #expect(answers(ticket, &stack, client))
        #expect(stack.counters.requests == 2 && stack.counters.memoryHits == 2)
        #expect(stack.scheduler.hits.touches.count == 1)
        #expect(stack.isAtRest)
    }

    @Test func anEvictedBlockEndsItsTicket() throws {
        var (stack, client, reference, ticket) = try stack()
        stack.evict(reference.block)
        #expect(!answers(ticket, &stack, client))
        #expect(stack.counters.requests == 0, "nothing was done")
    }

    @Test func aNewEntryOfTheKeyEndsTheTicketOfTheOldOne() throws {
        var (stack, client, _, ticket) = try stack()
        stack.publish(key)
        #expect(!answers(ticket, &stack, client))
    }

    @Test func anEntryThatExpiredHasNoTicket() throws {
        var (stack, client, _, ticket) = try stack(expiresInMilliseconds: 50)
        stack.now = stack.now.adding(milliseconds: 49)
        #expect(answers(ticket, &stack, client))
        stack.now = stack.now.adding(milliseconds: 1)
        #expect(!answers(ticket, &stack, client))
        stack.send(.tick)
        let late = stack.scheduler.hitTicket(for: load, LoadTerms())
        #expect(late == nil)
    }

    /// Even if the new cache stores the same key in a block with the same ID.
    @Test func theTicketsGoWithTheCache() throws {
        var (stack, client, reference, ticket) = try stack()
        stack.kill(stack.worker(.cache))
        #expect(!answers(ticket, &stack, client))
        stack.hire(.cache)
        #expect(!answers(ticket, &stack, client))
        let again = stack.publish(key)
        #expect(again.block == reference.block)
        #expect(!answers(ticket, &stack, client))
    }

    @Test func aTokenInUseGoesTheWholeWay() throws {
        var (stack, client, _, ticket) = try stack()
        stack.load(.image("b"), by: client, token: token)
        #expect(!answers(ticket, &stack, client))
    }

    @Test func whoIsNotThereIsNotAnswered() throws {
        var (stack, client, _, ticket) = try stack()
        #expect(!answers(ticket, &stack, ClientID(99)))
        stack.disconnect(client)
        #expect(!answers(ticket, &stack, client))
    }

    @Test func aStackThatEndsAdmitsNothing() throws {
        var (stack, client, _, ticket) = try stack()
        stack.send(.drain)
        #expect(!answers(ticket, &stack, client))
    }

    @Test func anotherConfigurationEndsTheTicketsOfTheOneBefore() throws {
        var (stack, client, _, ticket) = try stack()
        stack.scheduler.reconfigured()
        #expect(!answers(ticket, &stack, client))
        let whole = stack.load(.image(), by: client)
        #expect(stack.image(whole)?.cacheType == .memory, "the entry is still valid")
        let found = stack.scheduler.hitTicket(for: load, LoadTerms())
        let again = try #require(found)
        #expect(again != ticket && again.image == ticket.image)
        #expect(answers(again, &stack, client))
    }

    @Test func useIsStillToldInBatches() throws {
        var (stack, client, reference, ticket) = try stack()
        let count = MessageLimits.idsMax
        for number in 0..<(count - 2) {
            stack.publish("http://example.org/\(number).jpg")
            stack.load(.image("\(number)"), by: client)
        }
        for _ in 0..<100 { #expect(answers(ticket, &stack, client)) }
        let other = stack.publish("http://example.org/other.jpg")
        let load = LoadRequest(token: token, image: .image("other"))
        let found = stack.scheduler.hitTicket(for: load, LoadTerms())
        let last = try #require(found)
        #expect(!answers(last, &stack, client), "the full path notifies the cache")
        #expect(answers(ticket, &stack, client), "it is in the batch already")
        stack.load(.image("other"), by: client)
        #expect(stack.touched.suffix(2) == [reference.block, other.block])
        #expect(stack.touched.count == count)
        #expect(answers(last, &stack, client))
    }

    @Test(arguments: [
        ImageRequest.image("a", size: nil, .fromLoaderOnly),
        ImageRequest.image().with { $0.queryCacheTypes = .disk },
        ImageRequest.image().with { $0.timeoutMilliseconds = 0 },
        ImageRequest.image().with { $0.url = "nonsense" },
    ])
    func whatMemoryMayNotAnswerHasNoTicket(image: ImageRequest) throws {
        let (stack, _, _, _) = try stack()
        let load = LoadRequest(token: token, image: image)
        let ticket = stack.scheduler.hitTicket(for: load, LoadTerms())
        #expect(ticket == nil)
    }

    /// The image can't be revalidated, so the index answers at once.
    @Test func whoRefreshesWithoutALoaderIsAnsweredFromMemory() throws {
        var (stack, client, _, _) = try stack()
        var terms = LoadTerms()
        terms.mayDownload = false
        let image = ImageRequest.image("a", .refreshCached)
        let token = stack.load(image, by: client, terms: terms)
        #expect(stack.image(token)?.cacheType == .memory)
        #expect(stack.allHeld.isEmpty)
        let ticket = stack.scheduler.hitTicket(
            for: LoadRequest(token: token, image: image), terms)
        #expect(ticket?.image == stack.image(token))
    }

    @Test func aRetryAfterAStaleCopyHasNoTicket() throws {
        let (stack, _, _, _) = try stack()
        let retry = LoadRequest(token: token, image: .image(), staleRetries: 1)
        let ticket = stack.scheduler.hitTicket(for: retry, LoadTerms())
        #expect(ticket == nil)
    }
}
