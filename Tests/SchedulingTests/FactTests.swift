import Model
import Testing

@testable import Coordinator

/// Image properties determined by a decoder (SEMANTICS §11.15).
struct FactTests {
    private func properties(_ kinds: FactKinds, _ options: RequestOptions = []) -> ImageRequest {
        .image("a", options).with {
            $0.infoOnly = true
            $0.properties = RequestedProperties(kinds)
        }
    }

    private func work(_ stack: Stack) throws -> DecodeWork {
        let held = try #require(stack.held(.decode).first)
        guard case .decode(let work) = held.job.work else { throw Missing() }
        return work
    }

    private struct Missing: Error {}

    /// Every property that a decoder can return.
    private var all: ImageProperties {
        var properties = ImageProperties()
        (properties.orientation, properties.bitsPerSample, properties.profile) = (6, 8, "P3")
        properties.exif = [.make: "Canon", .latitude: "1.5"]
        (properties.average, properties.dominant) = (.white, .clear)
        (properties.blurHash, properties.thumbHash) = ("LxH24W2l", "VIoon14I")
        return properties
    }

    private func image(_ properties: ImageProperties?, _ stack: inout Stack) -> JobResult {
        var image = stack.decoded(.header, by: stack.worker(.decode))
        image.properties = properties
        return .decoded(image)
    }

    @Test func theJobSaysWhichAndTheReplyHasThem() throws {
        var (stack, client) = Stack.staffed()
        let token = stack.load(properties([.exif, .colors]), by: client)
        stack.run(.query, .fetch)
        let work = try work(stack)
        #expect(work.need == .header)
        #expect(work.properties == RequestedProperties([.exif, .colors]))
        let result = image(all, &stack)
        stack.finish(.decode, result)
        let found = try #require(stack.image(token))
        #expect(found.reference == nil)
        #expect(found.properties?.exif == [.make: "Canon"])
        #expect(found.properties?.average == .white && found.properties?.dominant == .clear)
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack)")
    }

    /// Properties that were not requested are not passed on.
    @Test(arguments: [FactKinds.header, .exif, .gps, .colors, .blurHash, .thumbHash])
    func whatWasNotAskedForIsTakenOut(kinds: FactKinds) throws {
        var (stack, client) = Stack.staffed()
        let token = stack.load(properties(kinds), by: client)
        stack.run(.query, .fetch)
        let result = image(all, &stack)
        stack.finish(.decode, result)
        let found = try #require(stack.image(token)?.properties)
        #expect((found.profile != nil) == (kinds == .header))
        #expect((found.exif[.make] != nil) == (kinds == .exif))
        #expect((found.exif[.latitude] != nil) == (kinds == .gps))
        #expect((found.average != nil) == (kinds == .colors))
        #expect((found.blurHash != nil) == (kinds == .blurHash))
        #expect((found.thumbHash != nil) == (kinds == .thumbHash))
    }

    @Test func theBytesOfTheCacheAreReadForThem() throws {
        var (stack, client) = Stack.staffed()
        let token = stack.load(properties(.blurHash), by: client)
        let held = try #require(stack.held(.query).first)
        guard case .query(let query) = held.job.work else { throw Missing() }
        #expect(query.destination == .staging)
        #expect(query.tiers == .all, "where the result would be is the original")
        let hit = stack.hit(held)
        stack.finish(held, hit)
        #expect(stack.held(.fetch).isEmpty)
        stack.finish(.decode)
        #expect(stack.image(token)?.cacheType == .disk)
        #expect(stack.image(token)?.properties == ImageProperties())
        stack.finishAll()
        #expect(stack.isAtRest, "\(stack)")
    }

    /// One decode for the same properties, one transfer for all.
    @Test func loadsOfTheSameFactsJoin() throws {
        var (stack, client) = Stack.staffed()
        let first = stack.load(properties(.colors, .fromLoaderOnly), by: client)
        let second = stack.load(properties(.colors, .fromLoaderOnly), by: client)
        let other = stack.load(properties(.thumbHash, .fromLoaderOnly), by: client)
        stack.finish(.fetch)
        let kinds = stack.held(.decode).compactMap { held -> FactKinds? in
            guard case .decode(let work) = held.job.work else { return nil }
            return work.properties.kinds
        }
        #expect(kinds.count <= 2)
        stack.finishAll()
        #expect(stack.image(first)?.properties != nil && stack.image(second)?.properties != nil)
        #expect(stack.image(other)?.properties != nil)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test(arguments: [true, false])
    func adecoderThatSaysFactsUnaskedOrNoneIsNotBelieved(asks: Bool) throws {
        var (stack, client) = Stack.staffed()
        let request = asks ? properties(.exif) : properties([])
        stack.load(request.with { $0.options = .fromLoaderOnly }, by: client)
        stack.finish(.fetch)
        let decoder = stack.worker(.decode)
        let result = image(asks ? nil : all, &stack)
        stack.finish(.decode, result)
        #expect(stack.expelled.map(\.0) == [decoder])
    }

    @Test func factsBesideBytesAndUnknownOnesAreRefused() {
        var (stack, client) = Stack.staffed()
        let beside = stack.load(properties(.exif).with { $0.infoOnly = false }, by: client)
        #expect(stack.error(beside) == .invalidRequest)
        let unknown = stack.load(properties(FactKinds(rawValue: 1 << 9)), by: client)
        #expect(stack.error(unknown) == .invalidRequest)
        let fine = properties(.blurHash).with {
            $0.properties.blurHash = PixelSize(width: 10, height: 1)
        }
        let tooFine = stack.load(fine, by: client)
        #expect(stack.error(tooFine) == .invalidRequest)
    }

    /// Damaged pixels don't affect properties of the header.
    @Test func damagedPixelsAreInTheWayOfFactsOfPixelsOnly() {
        #expect(properties(.colors).needsPixels)
        #expect(properties(.thumbHash).needsPixels)
        #expect(!properties([.header, .exif, .gps]).needsPixels)
        #expect(DecodeNeed(properties(.colors)) == .header)
    }
}
