import Testing

@testable import Transforming

@Suite struct QualitySearchTests {
    /// For every requested quality and every set of qualities that fit.
    @Test func theBestOfEverySecondQualityIsFoundInSixAttempts() {
        for asked in 0...100 {
            for fitting in -1..<max(0, asked) {
                var (search, attempts, best) = (QualitySearch(below: asked), [Int](), Int?.none)
                while let quality = search.next {
                    attempts.append(quality)
                    if quality <= fitting { best = quality }
                    search.found(fits: quality <= fitting)
                }
                #expect(attempts.count <= 6 && attempts.allSatisfy { $0 < asked })
                #expect(best == (fitting < 0 || asked == 0 ? nil : fitting / 2 * 2))
                // If nothing fits, the lowest quality was tried.
                if best == nil, asked > 0 { #expect(attempts.last == 0) }
            }
        }
    }
}
