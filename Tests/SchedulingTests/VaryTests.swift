import Model
import Testing

@testable import Coordinator

/// Responses that depend on request headers (SEMANTICS §5.10; RFC 9111 §4.1).
struct VaryTests {
    private static let key = "http://example.org/a.jpg"

    private static func image(_ accept: String?, size: Int? = nil) -> ImageRequest {
        ImageRequest.image(size: size).with {
            $0.headers = accept.map { [HTTPHeader(name: "Accept", value: $0)] } ?? []
        }
    }

    /// Fetches an image whose origin sends that `Vary`. Returns the keys of its stores.
    private static func keys(
        _ stack: inout Stack, _ image: ImageRequest, vary: String?, by client: ClientID,
        identity: String? = nil
    ) -> [String] {
        stack.vary = vary
        stack.load(image, by: client, terms: LoadTerms(identity: identity))
        while stack.held(.fetch).isEmpty, let query = stack.held(.query).first {
            stack.finish(query)
        }
        guard let held = stack.held(.fetch).first else { return [] }
        stack.finish(
            held,
            .fetched(
                FetchedBody(
                    reference: stack.block(of: held.worker), httpStatus: 200, etag: "\"1\"",
                    vary: vary, effectiveURL: "")))
        var keys: [String] = []
        while let held = stack.allHeld.first {
            if case .store(let work) = held.job.work, let key = work.key { keys.append(key) }
            stack.finish(held)
        }
        return keys
    }

    @Test(arguments: [nil, "Accept-Encoding", "accept-encoding, Authorization, X-Api-Key", ""])
    func whatDependsOnNothingIsKeptUnderItsName(vary: String?) {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let keys = Self.keys(&stack, Self.image("image/webp"), vary: vary, by: client)
        #expect(keys == [Self.key])
        #expect(stack.scheduler.hits.variances.isEmpty)
    }

    @Test func valuesOfTheNamedHeadersAreInTheKeys() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let keys = Self.keys(
            &stack, Self.image("image/webp", size: 9), vary: "Accept, Accept-Encoding", by: client)
        #expect(keys.count == 2)
        #expect(keys.allSatisfy { $0.contains("-Vary(vary=accept;accept=image/webp).jpg") })
        #expect(keys.contains("http://example.org/a-Vary(vary=accept;accept=image/webp).jpg"))
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func aBodyIsKeptFromThoseWhoAcceptSomethingElse() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let webp = Self.keys(&stack, Self.image("image/webp"), vary: "Accept", by: client)
        stack.publish(webp[0])
        let hit = stack.load(Self.image("image/webp"), by: client)
        #expect(stack.image(hit)?.cacheType == .memory)
        #expect(stack.image(hit)?.key == webp[0])
        let other = stack.load(Self.image("image/jpeg"), by: client)
        #expect(stack.reply(other) == nil)
        guard case .query(let query) = stack.held(.query).first?.job.work else {
            Issue.record("the cache is asked for the other variant")
            return
        }
        #expect(query.key != webp[0] && query.key.contains("image/jpeg"))
        let none = stack.load(Self.image(nil), by: client)
        #expect(stack.reply(none) == nil)
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func whatDependsOnEverythingIsStoredNowhere() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        for size in [nil, 9] {
            for vary in ["*", "Accept, *", "no token"] {
                let image = Self.image("image/webp", size: size).with {
                    $0.options = [.waitStoreCache, .fromLoaderOnly]
                }
                let keys = Self.keys(&stack, image, vary: vary, by: client)
                #expect(keys.isEmpty)
            }
        }
        #expect(stack.counters.fetches == 6)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func theNewestVaryCounts() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let image = Self.image("image/webp").with { $0.options = .fromLoaderOnly }
        let one = Self.keys(&stack, image, vary: "Accept", by: client)
        #expect(one[0].contains("accept="))
        let both = Self.keys(&stack, image, vary: "accept,DPR", by: client)
        #expect(both[0].contains("vary=accept,dpr;"))
        let none = Self.keys(&stack, image, vary: nil, by: client)
        #expect(none == [Self.key])
        #expect(stack.scheduler.hits.variances.isEmpty)
    }

    @Test func aTicketOfAnAnswerForAllEndsWhenTheAnswerVaries() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        stack.publish(Self.key)
        let load = LoadRequest(
            token: Token(Identifier128(high: 5, low: 5)), image: Self.image("image/jpeg"))
        let ticket = stack.scheduler.hitTicket(for: load, LoadTerms())
        let image = Self.image("image/webp").with { $0.options = .fromLoaderOnly }
        _ = Self.keys(&stack, image, vary: "Accept", by: client)
        guard let ticket else {
            Issue.record("memory has it")
            return
        }
        let isAnswered = stack.scheduler.answer(
            ticket, again: load.token, of: client, at: stack.now)
        #expect(!isAnswered)
    }

    @Test func aTicketOutlivesWhatIsLearnedOfOtherTexts() throws {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let image = Self.image("image/webp")
        let keys = Self.keys(&stack, image, vary: "Accept", by: client)
        stack.publish(keys[0])
        let load = LoadRequest(token: Token(Identifier128(high: 5, low: 5)), image: image)
        let found = stack.scheduler.hitTicket(for: load, LoadTerms())
        let ticket = try #require(found)
        for vary in ["Accept", nil, "DPR"] {
            let other = ImageRequest.image("other", .fromLoaderOnly)
            _ = Self.keys(&stack, other, vary: vary, by: client)
            let isAnswered = stack.scheduler.mayAnswer(
                ticket, again: load.token, of: client, at: stack.now)
            #expect(isAnswered, "\(vary ?? "nothing")")
        }
        let again = image.with { $0.options = .fromLoaderOnly }
        _ = Self.keys(&stack, again, vary: "Accept, DPR", by: client)
        let isAnswered = stack.scheduler.answer(
            ticket, again: load.token, of: client, at: stack.now)
        #expect(!isAnswered, "its own fields have changed")
    }

    @Test func whoAsksStaysInTheKey() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let first = Self.keys(
            &stack, Self.image("image/webp"), vary: "Accept", by: client, identity: "one")
        let second = Self.keys(
            &stack, Self.image("image/webp"), vary: "Accept", by: client, identity: "two")
        #expect(first[0].contains("Auth(one)-Vary(") && second[0].contains("Auth(two)-Vary("))
    }

    @Test func theTableIsBounded() {
        var table = VarianceTable(keysMax: 2)
        for number in 0..<9 { table.learn("\(number)", ["accept"]) }
        #expect(table.count <= 2)
        #expect(table["8"] == ["accept"])
    }

    @Test func fieldsAreReadAsTheyAreMeant() {
        #expect(Variance(" Accept ,ACCEPT,  DPR") == .fields(["accept", "dpr"]))
        #expect(Variance("Cookie, X-Api-Key") == .none, "it is in the identity")
        #expect(Variance("Accept, *") == .everything && Variance("a b") == .everything)
    }
}
