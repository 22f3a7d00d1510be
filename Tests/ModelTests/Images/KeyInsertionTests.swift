import Model
import Testing

/// Where a suffix is inserted into a key: upstream's cases (SEMANTICS §4.3), and others.
@Suite struct KeyInsertionTests {
    @Test(arguments: [
        // The table of upstream.
        ("image.png", "image-T.png"),
        ("image", "image-T"),
        (".image", ".image-T"),
        ("image.", "image.-T"),
        ("Test/image.png", "Test/image-T.png"),
        ("http://foo/image.png", "http://foo/image-T.png"),
        ("http://foo/image", "http://foo/image-T"),
        ("http://foo/.image", "http://foo/.image-T"),
        ("http://foo/image.png?foo=bar#mark", "http://foo/image-T.png?foo=bar#mark"),
        (
            "ftp://root:password@foo.com/image.png",
            "ftp://root:password@foo.com/image-T.png"
        ),
        // Dots of a host are no extension.
        ("http://foo.com", "http://foo.com-T"),
        ("http://foo.com/", "http://foo.com/-T"),
        ("http://foo.com:8080", "http://foo.com:8080-T"),
        ("http://foo.com?a=b.png", "http://foo.com?a=b.png-T"),
        ("http://foo.com?a=/b.png", "http://foo.com?a=/b.png-T"),
        ("http://foo.com#/b.png", "http://foo.com#/b.png-T"),
        ("http://[::1]/a.png", "http://[::1]/a-T.png"),
        ("http://127.0.0.1/a", "http://127.0.0.1/a-T"),
        // Only the last segment of the path counts.
        ("http://foo/image?a=b.png", "http://foo/image?a=b.png-T"),
        ("http://foo/image#b.png", "http://foo/image#b.png-T"),
        ("http://foo/image.png?a=/b.c/d", "http://foo/image-T.png?a=/b.c/d"),
        ("http://foo/image.png#a?b.c", "http://foo/image-T.png#a?b.c"),
        ("http://foo/image.png?", "http://foo/image-T.png?"),
        ("http://foo/dir.d/image", "http://foo/dir.d/image-T"),
        ("http://foo/dir.d/", "http://foo/dir.d/-T"),
        ("http://foo/a.tar.gz", "http://foo/a.tar-T.gz"),
        ("http://foo/..", "http://foo/..-T"),
        ("file:///tmp/a.png", "file:///tmp/a-T.png"),
        // Percent signs are left alone.
        ("http://foo/a%2Fb.png", "http://foo/a%2Fb-T.png"),
        ("http://foo/a%20b%2Epng", "http://foo/a%20b%2Epng-T"),
        ("http://foo/%.png", "http://foo/%-T.png"),
    ])
    func aSuffixIsInserted(key: String, expected: String) {
        #expect(CacheKey.inserting("T", into: key) == expected)
    }

    @Test func theSuffixIsNotEncoded() {
        #expect(
            CacheKey.inserting("Thumbnail({1.000000,1.000000},1)", into: "http://foo/a.png")
                == "http://foo/a-Thumbnail({1.000000,1.000000},1).png")
    }
}
