import Model
import Testing

@testable import Coordinator

struct LoadPlanTests {
    /// A request and the stages that it goes through unless an early one finds the image.
    struct Case: CustomTestStringConvertible {
        let what: String
        let image: ImageRequest
        var isDistrustful = false
        let stages: [LoadPlan.Stage]
        var testDescription: String { what }
    }

    static let cases: [Case] = [
        Case(
            what: "a thumbnail", image: .image(size: 5),
            stages: [
                .queryResult, .queryOriginal, .fetch, .decode, .transform, .storeOriginal, .deliver,
            ]),
        Case(
            what: "the original", image: .image(),
            stages: [.queryResult, .fetch, .decode, .deliver]),
        Case(
            what: "facts", image: .image().with { $0.infoOnly = true },
            stages: [.queryResult, .fetch, .decode, .storeOriginal]),
        Case(
            what: "facts that no entry has",
            image: .image().with {
                $0.infoOnly = true
                $0.properties = RequestedProperties(.colors)
            },
            stages: [.queryOriginal, .fetch, .decode, .storeOriginal]),
        Case(
            what: "from loader only", image: .image(size: 5, .fromLoaderOnly),
            stages: [.fetch, .decode, .transform, .storeOriginal, .deliver]),
        Case(
            what: "from cache only", image: .image(size: 5, .fromCacheOnly),
            stages: [
                .queryResult, .queryOriginal, .decode, .transform, .storeOriginal, .deliver,
            ]),
        Case(
            what: "from nowhere", image: .image(size: 5, [.fromCacheOnly, .fromLoaderOnly]),
            stages: [.decode, .transform, .storeOriginal, .deliver]),
        Case(
            what: "no query of the result",
            image: .image(size: 5).with { $0.queryCacheTypes = .none },
            stages: [.queryOriginal, .fetch, .decode, .transform, .storeOriginal, .deliver]),
        Case(
            what: "no query of the original",
            image: .image(size: 5).with { $0.originalQueryCacheTypes = .none },
            stages: [.queryResult, .fetch, .decode, .transform, .storeOriginal, .deliver]),
        Case(
            what: "the original is not kept",
            image: .image(size: 5).with { $0.originalStoreCacheTypes = .none },
            stages: [.queryResult, .queryOriginal, .fetch, .decode, .transform, .deliver]),
        Case(
            what: "memory only, which is not trusted",
            image: .image().with { $0.queryCacheTypes = .memory }, isDistrustful: true,
            stages: [.fetch, .decode, .deliver]),
    ]

    private static let all: [LoadPlan.Stage] = [
        .queryResult, .queryOriginal, .fetch, .decode, .transform, .storeOriginal, .deliver,
    ]

    @Test(arguments: cases) func optionsSkipStages(row: Case) {
        let plan = LoadPlan(row.image, distrustsMemory: row.isDistrustful)
        #expect(Self.all.filter { plan.includes($0) } == row.stages)
    }

    @Test(arguments: cases) func waysAreTriedInTheirOrderAndOnce(row: Case) {
        let plan = LoadPlan(row.image, distrustsMemory: row.isDistrustful)
        var remainingStages = plan.remainingStages
        var tried: [LoadPlan.Stage] = []
        while let way = remainingStages.next() { tried.append(way) }
        #expect(tried == row.stages.filter { $0.rawValue <= LoadPlan.Stage.fetch.rawValue })
    }

    @Test func skippedWaysAreNotTried() {
        var remainingStages = LoadPlan(.image(size: 5), distrustsMemory: false).remainingStages
        remainingStages.skip(past: .queryOriginal)
        let first = remainingStages.next()
        remainingStages.skip(past: .fetch)
        let second = remainingStages.next()
        #expect(first == .fetch)
        #expect(second == nil)
    }
}
