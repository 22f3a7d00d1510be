import Model
import Testing

/// Which cache names may have entries promoted from an external cache (SEMANTICS §5.26): our own
/// caches that keep its hits, and the composites whose queries reach those. Bytes under such a name
/// are no evidence against a URL.
@Suite struct PromotedCachesTests {
    private func mayHavePromoted(_ layout: CacheLayout, _ cache: String) -> Bool {
        let prefix = cache.isEmpty ? "" : "\(cache)\u{1F}"
        return layout.mayHavePromoted("\(prefix)\(PromotionStack.url)")
    }

    @Test(arguments: [
        ("tiers", true), ("high", true), ("between", true), ("any", true), ("low", true),
        ("reversed", true), ("lowest", false), ("shared", false), ("other", false), ("", false),
    ])
    func aNameMayHavePromotedHits(cache: String, mayHave: Bool) {
        for promotion in [CachePromotion.memory, .disk] {
            let layout = PromotionStack.layout(promotion)
            #expect(mayHavePromoted(layout, cache) == mayHave && layout.promotes)
        }
        let none = PromotionStack.layout(.none)
        #expect(!mayHavePromoted(none, cache) && !none.promotes)
    }

    /// The default cache has no name in stored keys.
    @Test func theDefaultCacheMayHaveThemToo() {
        let layout = CacheLayout(
            ["tiers": CompositeCache(of: ["shared", ""])],
            external: ["shared": ExternalCache(pool: "team")])
        #expect(mayHavePromoted(layout, "") && mayHavePromoted(layout, "tiers"))
        #expect(!mayHavePromoted(layout, "shared"))
    }

    /// Without external caches, nothing is promoted.
    @Test func withoutExternalCachesNothingIsPromoted() {
        for layout in [
            CacheLayout(), CacheLayout(["tiers": CompositeCache(of: ["low", "high"])]),
            CacheLayout([:], external: ["shared": ExternalCache(pool: "team")]),
        ] {
            #expect(!layout.promotes)
            for cache in ["", "tiers", "low", "high", "shared"] {
                #expect(!mayHavePromoted(layout, cache))
            }
        }
    }
}
