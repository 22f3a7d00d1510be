import Model
import Testing

@testable import Coordinator

/// Limits set by a configuration: they are part of jobs, only narrow the built-in ones, and work
/// with different limits isn't shared (SEMANTICS §9.8).
struct LimitTermsTests {
    private static func terms(_ values: [LimitSetting: Int]) -> LoadTerms {
        var terms = LoadTerms()
        for (setting, value) in values { terms.limits[setting] = value }
        return terms
    }

    private static let image = ImageRequest.image(size: 5, .fromLoaderOnly)

    @Test func jobsHaveTheNarrowerLimit() throws {
        var (stack, client) = Stack.staffed()
        let terms = Self.terms([
            .pixels: 2_000, .side: 100_000, .body: 500_000, .pages: 7, .metadata: 9,
        ])
        stack.load(Self.image, by: client, terms: terms)
        guard case .fetch(let fetch) = stack.held(.fetch)[0].job.work else {
            Issue.record("no fetch")
            return
        }
        #expect(fetch.bodyBytesMax == 500_000)
        stack.finish(.fetch)
        guard case .decode(let decode) = stack.held(.decode)[0].job.work else {
            Issue.record("no decode")
            return
        }
        let expected = ImageLimits(pixelsMax: 2_000, pagesMax: 7, metadataBytesMax: 9)
        #expect(decode.limits == expected)
        #expect(decode.limits.sideMax == 32_767, "wider than the process has")
        stack.finish(.decode)
        guard case .transform(let transform) = stack.held(.transform)[0].job.work else {
            Issue.record("no transform")
            return
        }
        #expect(transform.limits == expected)
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test func workWithOtherLimitsIsNotShared() {
        var (stack, client) = Stack.staffed()
        stack.load(Self.image, by: client)
        stack.load(Self.image, by: client, terms: Self.terms([.pixels: 2_000]))
        stack.load(Self.image, by: client, terms: Self.terms([.pixels: 2_000]))
        var decoded: [Int] = []
        while let held = stack.allHeld.first {
            if case .decode(let work) = held.job.work { decoded.append(work.limits.pixelsMax) }
            stack.finish(held)
        }
        #expect(decoded.sorted() == [2_000, 100_000_000])
        #expect(stack.gets.values.reduce(0, +) == 1, "the body has the same limit")
        #expect(stack.isAtRest)
    }

    @Test func aTransferOfLessIsNotShared() {
        var (stack, client) = Stack.staffed()
        stack.load(Self.image, by: client)
        stack.load(Self.image, by: client, terms: Self.terms([.body: 2_000]))
        stack.finishAll()
        #expect(stack.gets.values.reduce(0, +) == 2)
        #expect(stack.isAtRest)
    }

    @Test func aBoxOfMorePixelsIsRefusedAtOnce() {
        var (stack, client) = Stack.staffed()
        let box = ImageRequest.image(size: 5).with {
            $0.thumbnail = nil
            $0.steps = [.resize(PixelSize(width: 100, height: 100), .stretch)]
        }
        let refused = stack.load(box, by: client, terms: Self.terms([.pixels: 9_999]))
        #expect(stack.error(refused) == .limitExceeded)
        stack.load(box, by: client)
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test func aBoxOfExactlyAsManyPixelsIsAdmitted() {
        var (stack, client) = Stack.staffed()
        let box = ImageRequest.image().with {
            $0.steps = [.resize(PixelSize(width: 100, height: 100), .stretch)]
        }
        let token = stack.load(box, by: client, terms: Self.terms([.pixels: 10_000]))
        #expect(stack.reply(token) == nil)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest)
    }

    /// An upload has at most as many bytes as a body.
    @Test(arguments: [1_000, 1_001] as [UInt64])
    func anUploadHasAtMostAsManyBytesAsABody(length: UInt64) throws {
        let limits = Self.terms([.body: 1_000]).limits
        let block = BlockID(1)
        let upload = Upload(
            block: BlockHandle(worker: .coordinator, block: block),
            reference: BlockReference(segment: 0, offset: 64, length: length, block: block))
        if length == 1_000 {
            try upload.check(limits)
        } else {
            let error = #expect(throws: ImageError.self) { try upload.check(limits) }
            #expect(error?.code == .limitExceeded)
        }
    }
}
