import Model
import Testing

/// Tags of entries (SEMANTICS §5.20).
@Suite struct CacheTagTests {
    @Test(arguments: [
        ("shop", true), ("a:b_c-d.9", true), ("", false), ("a b", false), ("ä", false),
        ("a,b", false), ("a/b", false), ("a\u{0}", false),
    ])
    func whatATagIs(text: String, isTag: Bool) {
        #expect(CacheTag.isTag(text) == isTag)
    }

    @Test func aTagHas64BytesAtMost() {
        #expect(CacheTag.isTag(String(repeating: "a", count: 64)))
        #expect(!CacheTag.isTag(String(repeating: "a", count: 65)))
    }

    @Test(
        arguments: [
            (nil, nil, []), ("a", nil, ["a"]), ("a, b ,c", nil, ["a", "b", "c"]),
            (nil, "a b", ["a", "b"]), ("a,b", "b c", ["a", "b", "c"]),
            // A tag can't contain a space: in a comma-separated list it is dropped, in a
            // space-separated one it becomes two.
            ("two words,ok", "two words", ["ok", "two", "words"]),
            (",,", "  ", []), ("\t a\t", nil, ["a"]), ("sch\u{F6}n,ok", nil, ["ok"]),
        ] as [(String?, String?, [String])])
    func whatOriginsName(cacheTag: String?, surrogateKey: String?, tags: [String]) {
        #expect(CacheTag.ofOrigin(cacheTag: cacheTag, surrogateKey: surrogateKey) == tags)
    }

    @Test func thereAreSoManyAtMost() {
        let field = (0..<40).map { "t\($0)" }
        let origin = CacheTag.ofOrigin(cacheTag: field.joined(separator: ","), surrogateKey: nil)
        #expect(origin == Array(field.prefix(16)))
        #expect(CacheTag.union(field, (0..<40).map { "u\($0)" }).count == 48)
        #expect(CacheTag.union(["a"], ["a", "b"]) == ["a", "b"])
    }

    /// The example of RFC 9530, appendix B.1: the digest of `{"hello": "world"}` and a line feed.
    @Test func theFieldOfADigest() throws {
        let hex = "44aff4ab2d7c3250525675a08f0cfa9591168cffe51791c5f5bbc417c15a6c38"
        var bytes: [UInt8] = []
        for place in stride(from: 0, to: 64, by: 2) {
            let start = hex.index(hex.startIndex, offsetBy: place)
            bytes.append(UInt8(hex[start..<hex.index(start, offsetBy: 2)], radix: 16) ?? 0)
        }
        let digest = try #require(ContentDigest(bytes))
        #expect(digest.bytes == bytes)
        #expect(digest.reprDigest == "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:")
        #expect(ContentDigest([1, 2, 3]) == nil)
    }
}
