import Model
import Testing

@testable import Coordinator

/// Results of damaged sources, and loads that refuse them (SEMANTICS §11.38).
struct DamagedImageTests {
    private static let image = ImageRequest.image("a", size: 5, .fromLoaderOnly)

    private static let show: LoadTerms = {
        var terms = LoadTerms()
        terms.showsDamaged = true
        return terms
    }()

    private static let damage: ImageError = {
        var error = ImageError(.badImageData, "cut off")
        error.damagesPixelsOnly = true
        return error
    }()

    private func work(_ stack: Stack) -> DecodeWork? {
        guard case .decode(let work)? = stack.held(.decode).first?.job.work else { return nil }
        return work
    }

    /// The current decode finds that some pixels are missing.
    private func decode(_ stack: inout Stack) throws {
        let held = try #require(stack.held(.decode).first)
        guard case .decoded(var image) = stack.success(held) else { return }
        image.isDamaged = true
        stack.finish(held, .decoded(image))
    }

    private func storedKeys(_ stack: Stack) -> [String?] {
        stack.held(.store).compactMap { held in
            guard case .store(let work) = held.job.work, work.delivers else { return nil }
            return .some(work.key)
        }
    }

    @Test func theReplySaysItAndNoTierKeepsTheResult() throws {
        var (stack, client) = Stack.staffed()
        let token = stack.load(Self.image, by: client, terms: Self.show)
        stack.finish(.fetch)
        #expect(work(stack)?.showsDamaged == true)
        try decode(&stack)
        stack.finish(.transform)
        #expect(storedKeys(stack) == [nil])
        stack.finishAll()
        #expect(stack.image(token)?.isDamaged == true)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func aSoundResultIsKeptAsForEverybody() throws {
        var (stack, client) = Stack.staffed()
        let token = stack.load(Self.image, by: client, terms: Self.show)
        stack.run(.fetch, .decode, .transform)
        #expect(storedKeys(stack).allSatisfy { $0 != nil })
        stack.finishAll()
        #expect(stack.image(token)?.isDamaged == false)
    }

    /// They share the transfer, but neither the decode nor its outcome.
    @Test func aLoadThatRefusesSharesNothingButTheTransfer() throws {
        var (stack, client) = Stack.staffed()
        let shown = stack.load(Self.image, by: client, terms: Self.show)
        let refused = stack.load(Self.image, by: client)
        #expect(stack.held(.fetch).count == 1)
        stack.finish(.fetch)
        let decodes = stack.held(.decode)
        #expect(decodes.count == 2)
        for held in decodes {
            guard case .decode(let work) = held.job.work else { continue }
            if work.showsDamaged {
                guard case .decoded(var image) = stack.success(held) else { continue }
                image.isDamaged = true
                stack.finish(held, .decoded(image))
            } else {
                stack.finish(held, .failed(Self.damage))
            }
        }
        stack.finishAll()
        #expect(stack.image(shown)?.isDamaged == true)
        #expect(stack.error(refused) == .badImageData)
    }

    /// Without pixels, none can be missing.
    @Test func loadsOfTheSourceShareAllOfTheirWork() throws {
        var (stack, client) = Stack.staffed()
        let source = ImageRequest.image("a", .fromLoaderOnly)
        let tokens = [
            stack.load(source, by: client, terms: Self.show), stack.load(source, by: client),
        ]
        stack.finish(.fetch)
        #expect(stack.held(.decode).count == 1 && work(stack)?.showsDamaged == false)
        stack.finishAll()
        for token in tokens { #expect(stack.image(token) != nil) }
    }

    /// A refusal for one load doesn't affect the other.
    @Test func aRefusalHoldsForLoadsThatRefuse() throws {
        var (stack, client) = Stack.staffed()
        let refused = stack.load(Self.image, by: client)
        stack.finish(.fetch)
        stack.finish(.decode, .failed(Self.damage))
        #expect(stack.error(refused) == .badImageData)
        let again = stack.load(Self.image, by: client)
        #expect(stack.error(again) == .blacklisted)
        let shown = stack.load(Self.image, by: client, terms: Self.show)
        stack.finish(.fetch)
        try decode(&stack)
        stack.finishAll()
        #expect(stack.image(shown)?.isDamaged == true)
        let last = stack.load(Self.image, by: client)
        #expect(stack.error(last) == .blacklisted)
    }

    @Test func damageThatNobodyWantsToSeeIsNotBelieved() {
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
