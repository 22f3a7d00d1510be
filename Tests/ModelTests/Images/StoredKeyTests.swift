import Testing

@testable import Model

/// The key under which an entry is stored: no client input can produce the stored key of another
/// identity.
@Suite struct StoredKeyTests {
    private func terms(
        _ base: KeyBase = .url, identity: String? = nil
    ) -> LoadTerms {
        var terms = LoadTerms(identity: identity)
        terms.base = base
        return terms
    }

    private func stored(_ url: String, _ terms: LoadTerms, in cache: String = "") throws -> String {
        CacheKey.stored(
            CacheKey.original(url: try SourceURL(url), terms: terms), in: cache, terms)
    }

    @Test func theDefaultCacheHasTheKeyAlone() throws {
        #expect(try stored("https://h/a.png", terms()) == "https://h/a.png")
        #expect(try stored("https://h/a.png", terms(), in: "c") == "c\u{1F}https://h/a.png")
    }

    @Test func noTextMakesTheKeyOfAnotherIdentity() throws {
        let theirs = try stored("https://h/a.png", terms(identity: "d1"))
        #expect(CacheKey.key(inStored: theirs) == "https://h/a-Auth(d1).png")
        #expect(try stored("https://h/a-Auth(d1).png", terms()) != theirs)
        #expect(try stored("https://h/", terms(.own("https://h/a-Auth(d1).png"))) != theirs)
        #expect(
            try stored("https://h/", terms(.own("https://h/a.png"), identity: "d1")) != theirs)
        // The two suffixes are inserted at different positions, so that the keys are equal.
        let first = terms(identity: "E")
        let second = terms(identity: "D")
        let url = try SourceURL("https://h/x.-Auth(D)")
        let other = try SourceURL("https://h/x-Auth(E).")
        #expect(
            CacheKey.original(url: url, terms: first)
                == CacheKey.original(url: other, terms: second))
        #expect(
            try stored("https://h/x.-Auth(D)", first) != stored("https://h/x-Auth(E).", second))
    }

    @Test func aTextOfAClientIsNoURL() throws {
        #expect(
            try stored("https://h/b.png", terms(.own("https://h/a.png")))
                != stored("https://h/a.png", terms()))
        #expect(
            try stored("https://h/b.png", terms(.filtered("https://h/a.png")))
                == stored("https://h/a.png", terms()))
    }

    @Test func sameTextSameEntryWithinOneIdentity() throws {
        let base = terms(.own("products/42"), identity: "d1")
        #expect(try stored("https://h/1.png", base) == stored("https://h/2.png", base))
        let other = terms(.own("products/42"), identity: "d2")
        #expect(try stored("https://h/1.png", base) != stored("https://h/1.png", other))
        #expect(try stored("https://h/1.png", base) != stored("https://h/1.png", terms(base.base)))
    }

    @Test(arguments: ["", "c"], [nil, "d1"])
    func keyAndCacheAreInTheText(cache: String, identity: String?) {
        for base in [KeyBase.url, .filtered("k"), .own("k")] {
            let terms = terms(base, identity: identity)
            let stored = CacheKey.stored("k.png", in: cache, terms)
            #expect(CacheKey.key(inStored: stored) == "k.png")
            #expect(CacheKey.cache(inStored: stored) == cache)
        }
    }

    @Test(
        arguments: [
            ("http://h/image@2x.png", 2), ("image@3x.png", 3), ("https://h/a%402x.png", 2),
            ("a%402x.png", 1), ("https://h/a%403x.png?q", 3), ("a@2x.png", 2), ("@2x.png", 1),
            ("http://h/a@2xpng", 1), ("http://h/a@4x.png", 1), ("http://h/a@2x.", 2),
        ] as [(String, Double)])
    func pixelsAPointAreInTheKey(key: String, factor: Double) {
        #expect(ScaleFactor.of(key: key) == factor)
    }
}
