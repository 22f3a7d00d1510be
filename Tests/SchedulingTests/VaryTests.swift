import Model
import Testing

@testable import Coordinator

/// Responses that depend on request headers (SEMANTICS §5.10; RFC 9111 §4.1).
struct VaryTests {
    private var stack = Stack.staffed()
    private static let key = "http://example.org/a.jpg"

    private static func image(_ accept: String?, size: Int? = nil) -> ImageRequest {
        ImageRequest.image(size: size).with {
            $0.headers = accept.map { [HTTPHeader(name: "Accept", value: $0)] } ?? []
        }
    }

    /// Fetches an image whose origin sends that `Vary`. Returns the keys of its stores.
    private mutating func keys(_ image: ImageRequest, vary: String?, identity: String? = nil)
        -> [String]
    {
        stack.vary = vary
        stack.load(image, terms: LoadTerms(identity: identity))
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
        let keys = stack.finishJobs().compactMap(\.storedKey)
        return keys
    }

    @Test(arguments: [nil, "Accept-Encoding", "accept-encoding, Authorization, X-Api-Key", ""])
    mutating func whatDependsOnNothingIsKeptUnderItsName(vary: String?) {
        let keys = keys(Self.image("image/webp"), vary: vary)
        #expect(keys == [Self.key])
        #expect(stack.scheduler.hits.variances.isEmpty)
    }

    @Test mutating func valuesOfTheNamedHeadersAreInTheKeys() {
        let keys = keys(Self.image("image/webp", size: 9), vary: "Accept, Accept-Encoding")
        #expect(keys.count == 2)
        #expect(keys.allSatisfy { $0.contains("-Vary(vary=accept;accept=image/webp).jpg") })
        #expect(keys.contains("http://example.org/a-Vary(vary=accept;accept=image/webp).jpg"))
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func aBodyIsKeptFromThoseWhoAcceptSomethingElse() throws {
        let webp = keys(Self.image("image/webp"), vary: "Accept")
        stack.publish(webp[0])
        let hit = stack.load(Self.image("image/webp"))
        #expect(stack.image(hit)?.cacheType == .memory)
        #expect(stack.image(hit)?.key == webp[0])
        #expect(stack.outcome(of: Self.image("image/jpeg")) == nil)
        let query = try #require(stack.held(.query).first?.job.work.query)
        #expect(query.key != webp[0] && query.key.contains("image/jpeg"))
        #expect(stack.outcome(of: Self.image(nil)) == nil)
        stack.end()
    }

    @Test mutating func whatDependsOnEverythingIsStoredNowhere() {
        for size in [nil, 9] {
            for vary in ["*", "Accept, *", "no token"] {
                let image = Self.image("image/webp", size: size).with {
                    $0.options = [.waitStoreCache, .fromLoaderOnly]
                }
                let keys = keys(image, vary: vary)
                #expect(keys.isEmpty)
            }
        }
        #expect(stack.counters.fetches == 6)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func theNewestVaryCounts() {
        let image = Self.image("image/webp").with { $0.options = .fromLoaderOnly }
        let one = keys(image, vary: "Accept")
        #expect(one[0].contains("accept="))
        let both = keys(image, vary: "accept,DPR")
        #expect(both[0].contains("vary=accept,dpr;"))
        let none = keys(image, vary: nil)
        #expect(none == [Self.key])
        #expect(stack.scheduler.hits.variances.isEmpty)
    }

    @Test mutating func aTicketOfAnAnswerForAllEndsWhenTheAnswerVaries() throws {
        stack.publish(Self.key)
        let ticket = try #require(stack.ticket(Self.image("image/jpeg")))
        let image = Self.image("image/webp").with { $0.options = .fromLoaderOnly }
        _ = keys(image, vary: "Accept")
        let isAnswered = stack.scheduler.answer(
            ticket, again: Token(5), of: stack.client, at: stack.now)
        #expect(!isAnswered)
    }

    @Test mutating func aTicketOutlivesWhatIsLearnedOfOtherTexts() throws {
        let image = Self.image("image/webp")
        stack.publish(keys(image, vary: "Accept")[0])
        let load = LoadRequest(token: Token(5), image: image)
        let found = stack.ticket(for: load, LoadTerms())
        let ticket = try #require(found)
        for vary in ["Accept", nil, "DPR"] {
            let other = ImageRequest.loader("other")
            _ = keys(other, vary: vary)
            let isAnswered = stack.scheduler.mayAnswer(
                ticket, again: load.token, of: stack.client, at: stack.now)
            #expect(isAnswered, "\(vary ?? "nothing")")
        }
        let again = image.with { $0.options = .fromLoaderOnly }
        _ = keys(again, vary: "Accept, DPR")
        let isAnswered = stack.scheduler.answer(
            ticket, again: load.token, of: stack.client, at: stack.now)
        #expect(!isAnswered, "its own fields have changed")
    }

    @Test mutating func whoAsksStaysInTheKey() {
        let first = keys(Self.image("image/webp"), vary: "Accept", identity: "one")
        let second = keys(Self.image("image/webp"), vary: "Accept", identity: "two")
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

/// Responses whose origins restrict who may store them.
struct CacheControlTests {
    private var stack = Stack.staffed()
    private static let url = "http://example.org/a.jpg"
    private static let image = ImageRequest.image(size: 5)

    private static func terms(
        identity: String? = nil, ignores: Bool = false
    ) -> LoadTerms {
        var terms = LoadTerms(identity: identity)
        terms.ignoresCacheControl = ignores
        return terms
    }

    /// Completes a load of an image. Returns the number of its stores.
    private mutating func stored(_ image: ImageRequest = image, _ terms: LoadTerms = LoadTerms())
        -> Int
    {
        let token = stack.load(image, terms: terms)
        let stored = stack.finishJobs().count { $0.storedKey != nil }
        #expect(stack.image(token) != nil)
        return stored
    }

    @Test(arguments: [
        (nil, 2, 2), ("max-age=3600, public", 2, 2), ("no-cache, must-revalidate", 2, 2),
        ("no-store", 0, 0), ("No-Store", 0, 0), ("no-cache,\tno-store , must-revalidate", 0, 0),
        ("private", 0, 2), ("max-age=60, PRIVATE", 0, 2), ("private=\"set-cookie\"", 0, 2),
        ("private, no-store", 0, 0), ("x-private, xno-store", 2, 2), ("", 2, 2),
    ]) mutating func nothingIsKeptForWhomItIsNot(control: String?, forAll: Int, forOne: Int) {
        stack.cacheControl = control
        #expect(stored() == forAll)
        #expect(stored(Self.image, Self.terms(identity: "me")) == forOne)
        for identity in [nil, "me"] {
            let terms = Self.terms(identity: identity, ignores: true)
            #expect(stored(Self.image, terms) == 2, "the operator overrides it")
        }
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func theOriginalAloneIsNotKeptEither() {
        stack.cacheControl = "no-store"
        #expect(stored(.image()) == 0)
        let transcoded = Self.image.with { $0.context.serializer = .transcode(.webp, quality: 70) }
        #expect(stored(transcoded) == 0)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test mutating func whoeverAsksAtTheSameTimeSharesIt() {
        stack.cacheControl = "no-store"
        let tokens = (0..<3).map { _ in stack.load(Self.image) }
        stack.finishAll()
        #expect(tokens.allSatisfy { stack.image($0) != nil })
        #expect(stack.gets == [Self.url: 1])
        let later = stack.load(Self.image)
        stack.end(later, from: CacheTypes.none)
        #expect(stack.gets == [Self.url: 2], "nothing was left of it")
    }

    /// Otherwise the first load would decide for both.
    @Test mutating func whoIgnoresItSharesNoTransferWithWhoDoesNot() {
        stack.cacheControl = "no-store"
        let loader = Self.image.with { $0.options = .fromLoaderOnly }
        stack.load(loader)
        stack.load(loader, terms: Self.terms(ignores: true))
        #expect(stack.held(.fetch).count == 2)
        stack.end()
    }

    @Test mutating func whatIsMadeWithAnOverlayThatNobodyKeepsIsNotKept() {
        let overlay = Overlay(url: "http://marks.example.org/m.png")
        let token = stack.load(Self.image.with { $0.steps.append(.overlay(overlay)) })
        let works = stack.finishJobs { stack, held in
            if let fetch = held.work.fetch {
                stack.cacheControl = fetch.url == overlay.url ? "no-store" : nil
            }
            return nil
        }
        #expect(works.compactMap(\.storedKey) == [Self.url], "the original of the image alone")
        stack.expectRest([token])
    }

    @Test mutating func aRefreshThatMayNotBeKeptLeavesNothingOfWhatItReplaces() {
        stack.cacheControl = "no-store"
        let token = stack.load(Self.image.with { $0.options = .refreshCached })
        stack.find(etag: "\"0\"")
        let works = stack.finishJobs()
        let removed = Set(works.compactMap(\.removedKey))
        #expect(stack.replies[token]?.count == 2)
        #expect(removed.contains(Self.url) && removed.count == 2)
        #expect(works.compactMap(\.storedKey).isEmpty)
        stack.expectRest()
    }

    // MARK: - Refreshes that find the same bytes

    /// Refreshes a cached image that the origin confirms with a 304, or with the same bytes, and
    /// whose storage it restricts. Returns the keys that are removed from all tiers.
    private mutating func removed(
        _ terms: LoadTerms, isNotModified: Bool, _ control: String?
    ) -> Set<String> {
        let token = stack.load(Self.image.with { $0.options = .refreshCached }, terms: terms)
        stack.find(etag: "\"1\"")
        let works = stack.finishJobs { stack, held in
            switch held.work {
            case .fetch where isNotModified: .failed(stack.notModified(control))
            case .query: stack.hit(held, etag: "\"1\"")
            case .store(let work) where work.comparedWith != nil:
                .stored(StoreReport(delivered: nil, tiers: .none, isSame: true))
            default: nil
            }
        }
        #expect(stack.replies[token]?.map(\.outcome).last == .notModified, "the reply is given")
        #expect(stack.replies[token]?.count == 2)
        return Set(works.compactMap(\.removedKey))
    }

    @Test(arguments: [
        (nil, 0, 0), ("max-age=60", 0, 0), ("no-store", 2, 2), ("max-age=0, No-Store", 2, 2),
        ("private", 2, 0), ("private=\"x\", max-age=5", 2, 0),
    ]) mutating func whatMayNoLongerBeKeptIsRemoved(control: String?, forAll: Int, forOne: Int) {
        for isNotModified in [true, false] {
            stack = Stack.staffed()
            stack.cacheControl = control
            for (terms, count) in [
                (Self.terms(), forAll), (Self.terms(identity: "me"), forOne),
                (Self.terms(ignores: true), 0), (Self.terms(identity: "me", ignores: true), 0),
            ] {
                let removed = removed(terms, isNotModified: isNotModified, control)
                #expect(removed.count == count, "\(isNotModified) \(terms) \(removed)")
                stack.expectRest()
            }
        }
    }

    /// A result in progress isn't stored after the original it was made from is removed.
    @Test mutating func whatIsBeingMadeOfWhatIsRemovedBeginsAgain() {
        let other = stack.load(.image(size: 9))
        stack.finish(.query)
        stack.finish(.query, stack.hit(stack.held(.query)[0]))
        #expect(stack.held(.decode).count == 1)
        let token = stack.load(Self.image.with { $0.options = .refreshCached })
        stack.finish(.query, stack.hit(stack.held(.query)[0], etag: "\"1\""))
        stack.finish(.fetch, .failed(stack.notModified("no-store")))
        stack.cacheControl = "no-store"
        let works = stack.finishJobs { _, held in
            held.isCancelled ? .failed(ImageError(.cancelled, "stopped")) : nil
        }
        #expect(stack.replies[token]?.last?.outcome == .notModified)
        #expect(stack.image(other)?.cacheType == CacheTypes.none, "it was fetched")
        #expect(works.compactMap(\.storedKey).isEmpty)
        stack.expectRest()
    }
}
