import CodecSupport
import Testing
import Zimg

@Suite struct ZimgGraphCacheTests {
    @Test func theSameConversionIsBuiltOnce() throws {
        let cache = ZimgGraphCache()
        for _ in 0..<3 {
            let bytes = try cache.withGraph(conversion(10)) { graph in graph.scratchBytes }
            #expect(bytes > 0)
        }
        #expect(cache.counts == (hits: 2, misses: 1))
    }

    @Test func everythingThatChangesTheGraphIsPartOfTheKey() throws {
        let cache = ZimgGraphCache()
        var different = [conversion(10), conversion(11)]
        different.append(conversion(10))
        different[2].filter = .bilinear
        different.append(conversion(10))
        different[3].source.region = ZimgRegion(width: 99.5, height: 50)
        for conversion in different { try cache.withGraph(conversion) { _ in } }
        #expect(cache.counts == (hits: 0, misses: 4))
        #expect(cache.count == 4)
    }

    @Test func theOneNotUsedForLongestGoes() throws {
        let cache = ZimgGraphCache(capacity: 2)
        for width in [10, 11, 10, 12] { try cache.withGraph(conversion(width)) { _ in } }
        #expect(cache.count == 2)
        try cache.withGraph(conversion(10)) { _ in }
        #expect(cache.counts == (hits: 2, misses: 3))
        try cache.withGraph(conversion(11)) { _ in }
        #expect(cache.counts == (hits: 2, misses: 4))
    }

    @Test func scratchMemoryHasALimitButTheLastOneStays() throws {
        let cache = ZimgGraphCache(capacity: 16, scratchBytesMax: 1)
        for width in [10, 11, 12] { try cache.withGraph(conversion(width)) { _ in } }
        #expect(cache.count == 1)
        try cache.withGraph(conversion(12)) { _ in }
        #expect(cache.counts == (hits: 1, misses: 3))
    }

    @Test func whatCannotBeBuiltIsNotKept() {
        let cache = ZimgGraphCache()
        let error = #expect(throws: CodecError.self) {
            try cache.withGraph(conversion(0)) { _ in }
        }
        #expect(error?.kind == .unsupported)
        #expect(cache.count == 0)
    }

    private func conversion(_ width: Int) -> ZimgConversion {
        ZimgConversion(
            from: .init(width: 100, height: 50, planes: .gray),
            to: .init(width: width, height: 5, planes: .gray))
    }
}
