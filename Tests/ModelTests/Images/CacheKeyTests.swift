import Model
import Testing

/// The texts of whole keys.
@Suite struct CacheKeyTests {
    private func key(
        _ url: String = "https://h/a.png", identity: String? = nil,
        _ change: (inout ImageRequest) -> Void = { _ in }
    ) throws -> String {
        var request = ImageRequest(url: url)
        change(&request)
        return CacheKey.result(
            request, url: try SourceURL(request.url), terms: LoadTerms(identity: identity))
    }

    @Test func aPlainRequestIsKeyedByItsURL() throws {
        #expect(try key() == "https://h/a.png")
        #expect(try key("https://h/a.png?b#c") == "https://h/a.png?b#c")
    }

    @Test func thumbnailComesFirstThenStepsThenOutputThenIdentity() throws {
        let key = try key(identity: "d1") {
            $0.steps = [
                .resize(PixelSize(width: 100, height: 100), .fill),
                .flip(horizontal: true, vertical: true),
            ]
            $0.thumbnail = Thumbnail(box: PixelSize(width: 50, height: 60))
            $0.output = OutputOptions(format: .webp, quality: 75)
        }
        #expect(
            key == "https://h/a-Thumbnail({50.000000,60.000000},1)"
                + "-SDImageResizingTransformer({100.000000,100.000000},2)"
                + "-SDImageFlippingTransformer(1,1)-Imagebus(webp,q75)-Auth(d1).png")
    }

    /// A key names frames only if they differ from the default ones.
    @Test func framesAreInTheKeyOnlyWhereTheyAreAskedFor() throws {
        let box = PixelSize(width: 50, height: 60)
        let thumbnail = "Thumbnail({50.000000,60.000000},1)"
        let still = RequestOptions.decodeFirstFrameOnly
        #expect(try key { $0.options = still } == "https://h/a-Frames(first).png")
        for options in [RequestOptions(), .transformAnimatedImage] {
            let produced = try key { ($0.thumbnail, $0.options) = (Thumbnail(box: box), options) }
            #expect(produced == "https://h/a-\(thumbnail).png")
        }
        let first = try key { ($0.thumbnail, $0.options) = (Thumbnail(box: box), still) }
        #expect(first == "https://h/a-Frames(first)-\(thumbnail).png")
        // With a format without frames, or with steps, frames are left out anyway.
        let plain = try key { $0.output.format = .jpeg }
        #expect(try key { ($0.output.format, $0.options) = (.jpeg, still) } == plain)
        let gray = try key { $0.steps = [.grayscale] }
        #expect(try key { ($0.steps, $0.options) = ([.grayscale], still) } == gray)
        let all = try key { ($0.steps, $0.options) = ([.grayscale], .transformAnimatedImage) }
        #expect(all.contains("a-Frames(all)-"))
    }

    @Test(arguments: [
        (OutputOptions(format: .jpeg), "Imagebus(jpeg)"),
        (OutputOptions(format: .jpeg, quality: 0), "Imagebus(jpeg,q0)"),
        (OutputOptions(quality: 80), "Imagebus(auto,q80)"),
        (OutputOptions(format: .png, compression: 9), "Imagebus(png,z9)"),
        (OutputOptions(format: .webp, lossless: true), "Imagebus(webp,lossless)"),
    ])
    func theOutputHasOneSuffix(output: OutputOptions, suffix: String) throws {
        #expect(try key { $0.output = output } == "https://h/a-\(suffix).png")
    }

    @Test func userInfoIsInNoKey() throws {
        let url = "https://user:secret@h/a.png"
        #expect(try key(url, identity: "9f") == "https://h/a-Auth(9f).png")
        let original = CacheKey.original(
            url: try SourceURL(url), terms: LoadTerms(identity: "9f"))
        #expect(original == "https://h/a-Auth(9f).png")
    }

    @Test func anOriginalIsKeyedByItsURLWhateverIsDoneToIt() throws {
        var request = ImageRequest(url: "https://h/a.png")
        request.thumbnail = Thumbnail(box: PixelSize(width: 1, height: 1))
        request.output = OutputOptions(format: .jpeg)
        let url = try SourceURL(request.url)
        #expect(CacheKey.original(url: url, terms: LoadTerms()) == "https://h/a.png")
    }

    @Test func aThumbnailOfExactSizeHasAnotherKey() {
        let box = PixelSize(width: 100, height: 100)
        #expect(Thumbnail(box: box).key == "Thumbnail({100.000000,100.000000},1)")
        #expect(
            Thumbnail(box: box, preservesAspectRatio: false).key
                == "Thumbnail({100.000000,100.000000},0)")
    }

    /// Based on how a key was built, not on its appearance.
    @Test(arguments: [
        "https://h/a.png", "https://h/a", "https://h/a.b.c/d?x=1.2#f.g", "data:image/png;base64,AA",
        "https://h", "a.b:c/.png", "https://h/ü.png",
    ])
    func allThatIsMadeOfAURLIsFoundByIt(text: String) throws {
        let url = SourceURL.percentEncodingNonASCII(text)
        let suffixes = [
            "Thumbnail({50.000000,60.000000},1)", "ImagebusFitTransformer({1.000000,2.000000})",
            "SDImageTintTransformer(#FF000000,9)-Imagebus(webp,q75)", "Auth(1f)", "Vary(2e)",
        ]
        for suffix in suffixes {
            let produced = CacheKey.inserting(suffix, into: url)
            #expect(CacheKey.isOf(url, produced), "\(produced)")
            #expect(CacheKey.isOf(url, CacheKey.inserting("Vary(1)", into: produced)))
            #expect(!CacheKey.isOf(produced, url))
        }
        #expect(CacheKey.isOf(url, url))
        for other in ["x", "-2", "/b", "-Auth(1)x"] {
            #expect(!CacheKey.isOf(url, url + other), "\(other)")
            #expect(!CacheKey.isOf(url + other, url), "\(other)")
        }
    }
}
