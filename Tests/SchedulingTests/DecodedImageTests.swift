import Model
import Testing

@testable import Coordinator

/// Image properties determined by a decoder (SEMANTICS §11.15).
struct FactTests {
    private var stack = Stack.staffed()

    private func properties(_ kinds: FactKinds, _ options: RequestOptions = []) -> ImageRequest {
        .image("a", options).with {
            $0.infoOnly = true
            $0.properties = RequestedProperties(kinds)
        }
    }

    /// Every property that a decoder can return.
    private var all: ImageProperties {
        var properties = ImageProperties()
        (properties.orientation, properties.bitsPerSample, properties.profile) = (6, 8, "P3")
        properties.exif = [.make: "Canon", .latitude: "1.5"]
        (properties.average, properties.dominant) = (.white, .clear)
        (properties.blurHash, properties.thumbHash) = ("LxH24W2l", "VIoon14I")
        return properties
    }

    private mutating func image(_ properties: ImageProperties?) -> JobResult {
        var image = stack.decoded(.header, by: stack.worker(.decode))
        image.properties = properties
        return .decoded(image)
    }

    @Test mutating func theJobSaysWhichAndTheReplyHasThem() throws {
        let token = stack.load(properties([.exif, .colors]))
        stack.run(.query, .fetch)
        let work = try #require(stack.decodes.first)
        #expect(work.need == .header)
        #expect(work.properties == RequestedProperties([.exif, .colors]))
        let result = image(all)
        stack.finish(.decode, result)
        let found = try #require(stack.image(token))
        #expect(found.reference == nil)
        #expect(found.properties?.exif == [.make: "Canon"])
        #expect(found.properties?.average == .white && found.properties?.dominant == .clear)
        stack.end()
    }

    /// Properties that were not requested are not passed on.
    @Test(arguments: [FactKinds.header, .exif, .gps, .colors, .blurHash, .thumbHash])
    mutating func whatWasNotAskedForIsTakenOut(kinds: FactKinds) throws {
        let token = stack.load(properties(kinds))
        stack.run(.query, .fetch)
        let result = image(all)
        stack.finish(.decode, result)
        let found = try #require(stack.image(token)?.properties)
        #expect((found.profile != nil) == (kinds == .header))
        #expect((found.exif[.make] != nil) == (kinds == .exif))
        #expect((found.exif[.latitude] != nil) == (kinds == .gps))
        #expect((found.average != nil) == (kinds == .colors))
        #expect((found.blurHash != nil) == (kinds == .blurHash))
        #expect((found.thumbHash != nil) == (kinds == .thumbHash))
    }

    @Test mutating func theBytesOfTheCacheAreReadForThem() throws {
        let token = stack.load(properties(.blurHash))
        let query = try #require(stack.held(.query).first?.work.query)
        #expect(query.destination == .staging)
        #expect(query.tiers == .all, "where the result would be is the original")
        stack.find()
        #expect(stack.held(.fetch).isEmpty)
        stack.finish(.decode)
        #expect(stack.image(token)?.cacheType == .disk)
        #expect(stack.image(token)?.properties == ImageProperties())
        stack.end()
    }

    /// One decode for the same properties, one transfer for all.
    @Test mutating func loadsOfTheSameFactsJoin() throws {
        let first = stack.load(properties(.colors, .fromLoaderOnly))
        let second = stack.load(properties(.colors, .fromLoaderOnly))
        let other = stack.load(properties(.thumbHash, .fromLoaderOnly))
        stack.finish(.fetch)
        let kinds = stack.decodes.map(\.properties.kinds)
        #expect(kinds.count <= 2)
        stack.end()
        #expect(stack.image(first)?.properties != nil && stack.image(second)?.properties != nil)
        #expect(stack.image(other)?.properties != nil)
    }

    @Test(arguments: [true, false])
    mutating func adecoderThatSaysFactsUnaskedOrNoneIsNotBelieved(asks: Bool) throws {
        let request = asks ? properties(.exif) : properties([])
        stack.load(request.with { $0.options = .fromLoaderOnly })
        stack.finish(.fetch)
        let decoder = stack.worker(.decode)
        let result = image(asks ? nil : all)
        stack.finish(.decode, result)
        #expect(stack.gone == [decoder])
    }

    @Test mutating func factsBesideBytesAndUnknownOnesAreRefused() {
        #expect(
            stack.refusal(of: properties(.exif).with { $0.infoOnly = false }) == .invalidRequest)
        #expect(stack.refusal(of: properties(FactKinds(rawValue: 1 << 9))) == .invalidRequest)
        let fine = properties(.blurHash).with {
            $0.properties.blurHash = PixelSize(width: 10, height: 1)
        }
        #expect(stack.refusal(of: fine) == .invalidRequest)
    }

    /// Damaged pixels don't affect properties of the header.
    @Test func damagedPixelsAreInTheWayOfFactsOfPixelsOnly() {
        #expect(properties(.colors).needsPixels)
        #expect(properties(.thumbHash).needsPixels)
        #expect(!properties([.header, .exif, .gps]).needsPixels)
        #expect(DecodeNeed(properties(.colors)) == .header)
    }
}

/// Results of damaged sources, and loads that refuse them (SEMANTICS §11.38).
struct DamagedImageTests {
    private var stack = Stack.staffed()
    private static let image = ImageRequest.loader(size: 5)

    private static let show = LoadTerms().with { $0.showsDamaged = true }

    private func storedKeys() -> [String?] { stack.stores.filter(\.delivers).map(\.key) }

    @Test mutating func theReplySaysItAndNoTierKeepsTheResult() throws {
        let token = stack.load(Self.image, terms: Self.show)
        stack.finish(.fetch)
        #expect(stack.decodes.first?.showsDamaged == true)
        stack.decode { $0.isDamaged = true }
        stack.finish(.transform)
        #expect(storedKeys() == [nil])
        stack.end()
        #expect(stack.image(token)?.isDamaged == true)
    }

    @Test mutating func aSoundResultIsKeptAsForEverybody() throws {
        let token = stack.load(Self.image, terms: Self.show)
        stack.run(.fetch, .decode, .transform)
        #expect(storedKeys().allSatisfy { $0 != nil })
        stack.finishAll()
        #expect(stack.image(token)?.isDamaged == false)
    }

    /// They share the transfer, but neither the decode nor its outcome.
    @Test mutating func aLoadThatRefusesSharesNothingButTheTransfer() throws {
        let shown = stack.load(Self.image, terms: Self.show)
        let refused = stack.load(Self.image)
        #expect(stack.held(.fetch).count == 1)
        stack.finish(.fetch)
        let decodes = stack.held(.decode)
        #expect(decodes.count == 2)
        for held in decodes {
            guard held.work.decode?.showsDamaged == true else {
                stack.finish(held, .failed(.damagedPixels))
                continue
            }
            guard case .decoded(var image) = stack.success(held) else { continue }
            image.isDamaged = true
            stack.finish(held, .decoded(image))
        }
        stack.finishAll()
        #expect(stack.image(shown)?.isDamaged == true)
        #expect(stack.error(refused) == .badImageData)
    }

    /// Without pixels, none can be missing.
    @Test mutating func loadsOfTheSourceShareAllOfTheirWork() throws {
        let source = ImageRequest.loader()
        let tokens = [stack.load(source, terms: Self.show), stack.load(source)]
        stack.finish(.fetch)
        #expect(stack.held(.decode).count == 1 && stack.decodes.first?.showsDamaged == false)
        stack.finishAll()
        for token in tokens { #expect(stack.image(token) != nil) }
    }

    /// A refusal for one load doesn't affect the other.
    @Test mutating func aRefusalHoldsForLoadsThatRefuse() throws {
        let refused = stack.load(Self.image)
        stack.finish(.fetch)
        stack.finish(.decode, .failed(.damagedPixels))
        #expect(stack.error(refused) == .badImageData)
        #expect(stack.refusal(of: Self.image) == .blacklisted)
        let shown = stack.load(Self.image, terms: Self.show)
        stack.finish(.fetch)
        stack.decode { $0.isDamaged = true }
        stack.finishAll()
        #expect(stack.image(shown)?.isDamaged == true)
        #expect(stack.refusal(of: Self.image) == .blacklisted)
    }

    @Test mutating func damageThatNobodyWantsToSeeIsNotBelieved() {
        let source = BlockReference(segment: 1, offset: 0, length: 100, block: BlockID(1))
        var work = DecodeWork(source: source, need: .header, limits: ImageLimits())
        var image = DecodedImage(
            info: ImageInfo(format: .jpeg, size: PixelSize(width: 4, height: 3)), frames: [])
        #expect(JobResult.decoded(image).answers(.decode(work)))
        image.isDamaged = true
        #expect(!JobResult.decoded(image).answers(.decode(work)))
        work.showsDamaged = true
        #expect(JobResult.decoded(image).answers(.decode(work)))
    }
}

/// A file that a decoder passes through is the result (SEMANTICS §11.37).
struct PassedFileTests {
    private var stack = Stack.staffed()
    private static let unchanged = ImageRequest.loader()
        .with { $0.output.metadata = .copyright }

    /// Completes the current decode with a file instead of pixels.
    private mutating func handOver() throws {
        let held = try #require(stack.held(.decode).first)
        var image = stack.decoded(.header, by: held.worker)
        image.file = stack.block(of: held.worker)
        stack.finish(held, .decoded(image))
    }

    @Test mutating func itIsDeliveredAndKeptUnderTheKeyOfTheResult() throws {
        let tokens = [stack.load(Self.unchanged), stack.load(Self.unchanged)]
        stack.finish(.fetch)
        try handOver()
        #expect(stack.held(.transform).isEmpty)
        stack.finishAll()
        for token in tokens {
            #expect(stack.image(token)?.key.contains("metadata=copyright") == true)
            #expect(stack.image(token)?.info.format == .jpeg)
        }
        #expect(stack.isAtRest, "\(stack)")
    }

    /// A decoder may still return pixels, such as one of an earlier version.
    @Test mutating func pixelsAreEncodedAsUsual() throws {
        let token = stack.load(Self.unchanged)
        stack.run(.fetch, .decode, .transform)
        stack.finishAll()
        #expect(stack.image(token) != nil && stack.isAtRest)
    }

    @Test mutating func aLostDecoderHasItMadeAgain() throws {
        let token = stack.load(Self.unchanged)
        stack.finish(.fetch)
        let worker = try #require(stack.held(.decode).first?.worker)
        try handOver()
        stack.kill(worker)
        stack.hire(.decode)
        stack.finishAll()
        #expect(stack.image(token) != nil && stack.isAtRest, "\(stack)")
    }

    // MARK: - Validation

    private func isBelieved(
        _ passThrough: PassThrough?, length: UInt64 = 100, allFrames: Bool = false,
        need: DecodeNeed = .full,
        _ change: (inout DecodedImage) -> Void = { _ in }
    ) -> Bool {
        let source = BlockReference(segment: 1, offset: 0, length: 100, block: BlockID(1))
        var work = DecodeWork(source: source, need: need, limits: ImageLimits())
        (work.passThrough, work.wantsAllFrames) = (passThrough, allFrames)
        var image = DecodedImage(
            info: ImageInfo(format: .jpeg, size: PixelSize(width: 4, height: 3)), frames: [])
        image.file = BlockReference(segment: 2, offset: 0, length: length, block: BlockID(2))
        change(&image)
        return JobResult.decoded(image).answers(.decode(work))
    }

    @Test func onlyAFileThatWasAskedForIsBelieved() {
        let unchanged = PassThrough(isUnchanged: true, metadata: .nothing)
        #expect(isBelieved(unchanged))
        #expect(!isBelieved(nil))
        #expect(!isBelieved(unchanged, length: 0))
        #expect(isBelieved(unchanged, length: 16 << 20))
        #expect(!isBelieved(unchanged, length: 16 << 20 + 1))
        #expect(!isBelieved(unchanged) { $0.info.format = .tiff })
        #expect(!isBelieved(unchanged) { $0.info.pages = 2 })
        #expect(isBelieved(unchanged, allFrames: true) { $0.info.pages = 2 })
        #expect(!isBelieved(unchanged) { $0.info.size.width = 0 })
        #expect(!isBelieved(unchanged) { $0.properties = ImageProperties() })
        // 4 × 3 pixels: if the need requires a reduction, the file must be decoded.
        #expect(isBelieved(unchanged, need: .area(12)))
        #expect(!isBelieved(unchanged, need: .area(11)))
        #expect(isBelieved(unchanged, need: .cover(PixelSize(width: 4, height: 9), .fit)))
        #expect(!isBelieved(unchanged, need: .cover(PixelSize(width: 3, height: 9), .fit)))
        let drawings = PassThrough(formats: [.svg], isUnchanged: false, metadata: .nothing)
        #expect(!isBelieved(drawings))
        #expect(isBelieved(drawings) { $0.info.format = .svg })
    }
}

/// A result made from an animation is a single image of it, and is marked as such.
struct StillTests {
    private var stack = Stack.staffed()
    private static let animation = ImageInfo(
        format: .gif, size: PixelSize(width: 40, height: 30), pages: 12)

    private func stored() -> [ImageInfo] {
        stack.stores.map(\.metadata.info)
    }

    @Test mutating func aResultSaysHowManyFramesItsSourceHas() throws {
        let image = ImageRequest.loader(size: 5)
            .discardingOriginal
        let token = stack.load(image)
        stack.finish(.fetch)
        stack.decode { $0.info = Self.animation }
        stack.finish(.transform)
        #expect(stored().map(\.stillOf) == [12], "later hits are marked as well")
        #expect(stored().map(\.pages) == [1])
        stack.end()
        #expect(stack.image(token)?.info.stillOf == 12)
    }

    @Test mutating func theAnimationItselfIsNoStill() throws {
        let token = stack.load(.loader())
        stack.finish(.fetch)
        stack.decode { $0.info = Self.animation }
        stack.finishAll()
        #expect(stack.image(token)?.info == Self.animation)
    }

    /// A transformer's claim about it is ignored.
    @Test mutating func whatIsMadeOfASingleImageIsNoStill() throws {
        let token = stack.load(.loader(size: 5))
        stack.run(.fetch, .decode)
        let held = try #require(stack.held(.transform).first)
        guard case .transformed(var image) = stack.success(held) else { return }
        image.info.stillOf = 7
        stack.finish(held, .transformed(image))
        stack.finishAll()
        let delivered = try #require(stack.image(token))
        #expect(delivered.info.stillOf == nil)
    }

    @Test mutating func aDecoderThatCallsASourceAStillIsNotBelieved() throws {
        stack.load(.loader(size: 5))
        stack.finish(.fetch)
        var forged = Self.animation
        forged.stillOf = 40
        let decoder = stack.worker(.decode)
        stack.decode { $0.info = forged }
        #expect(stack.gone == [decoder])
    }

    @Test mutating func anEncodingForTheDiskIsMarkedToo() throws {
        let image = ImageRequest.loader(size: 5).with {
            $0.context.serializer = .transcode(.webp, quality: 70)
            $0.originalStoreCacheTypes = .none
        }
        stack.load(image)
        stack.finish(.fetch)
        stack.decode { $0.info = Self.animation }
        stack.finishFirst(.transform)
        while let held = stack.held(.transform).first { stack.finish(held) }
        #expect(stored().count == 2)
        #expect(stored().allSatisfy { $0.stillOf == 12 }, "\(stored())")
    }
}
