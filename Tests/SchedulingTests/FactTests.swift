import ImageModel
import Messages
import Testing

@testable import Admission

/// Facts that a decoder finds (SEMANTICS §11.15).
struct FactTests {
    private func facts(_ kinds: FactKinds, _ options: RequestOptions = []) -> ImageRequest {
        .image("a", options).with {
            $0.infoOnly = true
            $0.facts = WantedFacts(kinds)
        }
    }

    private func work(_ stack: Stack) throws -> DecodeWork {
        let held = try #require(stack.held(.decode).first)
        guard case .decode(let work) = held.job.work else { throw Missing() }
        return work
    }

    private struct Missing: Error {}

    /// All that a decoder could say.
    private var all: ImageFacts {
        var facts = ImageFacts()
        (facts.orientation, facts.bitsPerSample, facts.profile) = (6, 8, "P3")
        facts.exif = [.make: "Canon", .latitude: "1.5"]
        (facts.average, facts.dominant) = (.white, .clear)
        (facts.blurHash, facts.thumbHash) = ("LxH24W2l", "VIoon14I")
        return facts
    }

    private func image(_ facts: ImageFacts?, _ stack: inout Stack) -> JobResult {
        var image = stack.decoded(.header, by: stack.worker(.decode))
        image.facts = facts
        return .decoded(image)
    }

    @Test func theJobSaysWhichAndTheReplyHasThem() throws {
        var (stack, client) = Stack.staffed()
        let token = stack.load(facts([.exif, .colours]), by: client)
        stack.run(.query, .fetch)
        let work = try work(stack)
        #expect(work.need == .header)
        #expect(work.facts == WantedFacts([.exif, .colours]))
        let result = image(all, &stack)
        stack.finish(.decode, result)
        let found = try #require(stack.image(token))
        #expect(found.reference == nil)
        #expect(found.facts?.exif == [.make: "Canon"])
        #expect(found.facts?.average == .white && found.facts?.dominant == .clear)
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack)")
    }

    /// Nobody learns from a decoder what was not asked for.
    @Test(arguments: [FactKinds.header, .exif, .gps, .colours, .blurHash, .thumbHash])
    func whatWasNotAskedForIsTakenOut(kinds: FactKinds) throws {
        var (stack, client) = Stack.staffed()
        let token = stack.load(facts(kinds), by: client)
        stack.run(.query, .fetch)
        let result = image(all, &stack)
        stack.finish(.decode, result)
        let found = try #require(stack.image(token)?.facts)
        #expect((found.profile != nil) == (kinds == .header))
        #expect((found.exif[.make] != nil) == (kinds == .exif))
        #expect((found.exif[.latitude] != nil) == (kinds == .gps))
        #expect((found.average != nil) == (kinds == .colours))
        #expect((found.blurHash != nil) == (kinds == .blurHash))
        #expect((found.thumbHash != nil) == (kinds == .thumbHash))
    }

    @Test func theBytesOfTheCacheAreReadForThem() throws {
        var (stack, client) = Stack.staffed()
        let token = stack.load(facts(.blurHash), by: client)
        let held = try #require(stack.held(.query).first)
        guard case .query(let query) = held.job.work else { throw Missing() }
        #expect(query.destination == .staging)
        #expect(query.tiers == .all, "where the result would be is the original")
        let hit = stack.hit(held)
        stack.finish(held, hit)
        #expect(stack.held(.fetch).isEmpty)
        stack.finish(.decode)
        #expect(stack.image(token)?.cacheType == .disk)
        #expect(stack.image(token)?.facts == ImageFacts())
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack)")
    }

    /// One decode for the same facts, one transfer for all.
    @Test func loadsOfTheSameFactsJoin() throws {
        var (stack, client) = Stack.staffed()
        let first = stack.load(facts(.colours, .fromLoaderOnly), by: client)
        let second = stack.load(facts(.colours, .fromLoaderOnly), by: client)
        let other = stack.load(facts(.thumbHash, .fromLoaderOnly), by: client)
        stack.finish(.fetch)
        let kinds = stack.held(.decode).compactMap { held -> FactKinds? in
            guard case .decode(let work) = held.job.work else { return nil }
            return work.facts.kinds
        }
        #expect(kinds.count <= 2)
        stack.finishAll()
        #expect(stack.image(first)?.facts != nil && stack.image(second)?.facts != nil)
        #expect(stack.image(other)?.facts != nil)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test(arguments: [true, false])
    func adecoderThatSaysFactsUnaskedOrNoneIsNotBelieved(asks: Bool) throws {
        var (stack, client) = Stack.staffed()
        let request = asks ? facts(.exif) : facts([])
        stack.load(request.with { $0.options = .fromLoaderOnly }, by: client)
        stack.finish(.fetch)
        let decoder = stack.worker(.decode)
        let result = image(asks ? nil : all, &stack)
        stack.finish(.decode, result)
        #expect(stack.expelled.map(\.0) == [decoder])
    }

    @Test func factsBesideBytesAndUnknownOnesAreRefused() {
        var (stack, client) = Stack.staffed()
        let beside = stack.load(facts(.exif).with { $0.infoOnly = false }, by: client)
        #expect(stack.error(beside) == .invalidRequest)
        let unknown = stack.load(facts(FactKinds(rawValue: 1 << 9)), by: client)
        #expect(stack.error(unknown) == .invalidRequest)
        let fine = facts(.blurHash).with { $0.facts.blurHash = PixelSize(width: 10, height: 1) }
        let tooFine = stack.load(fine, by: client)
        #expect(stack.error(tooFine) == .invalidRequest)
    }

    /// Pixels that are damaged say nothing of facts of the header.
    @Test func damagedPixelsAreInTheWayOfFactsOfPixelsOnly() {
        #expect(facts(.colours).needsPixels)
        #expect(facts(.thumbHash).needsPixels)
        #expect(!facts([.header, .exif, .gps]).needsPixels)
        #expect(DecodeNeed(facts(.colours)) == .header)
    }
}
