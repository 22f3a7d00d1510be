import Testing

@testable import Model

struct OverlayTests {
    @Test(arguments: [
        ("http://h/a.png", "http://h/a.png", 0, 0, 1.0),
        ("http://h/a.png,3,-4", "http://h/a.png", 3, -4, 1),
        ("http://h/a.png,3,-4,0.25", "http://h/a.png", 3, -4, 0.25),
        ("http://h/a,b.png,10,20,1", "http://h/a,b.png", 10, 20, 1),
        ("http://h/a,5,10,20,1", "http://h/a,5", 10, 20, 1),
        ("http://h/a,5,0,0,1", "http://h/a,5", 0, 0, 1),
        ("http://h/a.png,1,x", "http://h/a.png,1,x", 0, 0, 1),
        ("http://h/w_1,h_2/a,e2e", "http://h/w_1,h_2/a,e2e", 0, 0, 1),
        ("http://h/a.png,-32767,32767,1e-1", "http://h/a.png", -32767, 32767, 0.1),
    ])
    func numbersAreReadFromTheEnd(
        text: String, url: String, x: Int, y: Int, opacity: Double
    ) throws {
        let overlay = try #require(Overlay(text))
        #expect(overlay == Overlay(url: url, x: x, y: y, opacity: opacity))
    }

    @Test func wordsBeforeTheURLSayHowItIsLaid() {
        let all = Overlay(
            url: "http://h/a.png", opacity: 0.5, gravity: Gravity("southeast"),
            size: RelativeSize("20%x30"), repeats: true, mode: .multiply)
        for text in [
            "southeast,20%x30,repeat,multiply,0.5,http://h/a.png",
            "0.5,multiply,repeat,20%x30,southeast,http://h/a.png",
            "southeast,20%x30,repeat,multiply,http://h/a.png,0,0,0.5",
        ] { #expect(Overlay(text) == all, "\(text)") }
        #expect(
            Overlay("fp:0.2:1,http://h/a,b.png,-3,4")
                == Overlay(
                    url: "http://h/a,b.png", x: -3, y: 4, gravity: .point(x: 0.2, y: 1)))
        #expect(Overlay("repeat,http://h/a.png") == Overlay(url: "http://h/a.png", repeats: true))
    }

    @Test(arguments: [
        "south,north,http://h/a.png", "repeat,repeat,http://h/a.png", "0.5,0.5,http://h/a.png",
        "10x10,20x20,http://h/a.png", "copy,clear,http://h/a.png", "attention,http://h/a.png",
        "entropy,http://h/a.png", "fp:2:0,http://h/a.png", "0x5,http://h/a.png",
        "101%x5,http://h/a.png", "2,http://h/a.png", "-1,http://h/a.png", "tile,http://h/a.png",
        "south,,http://h/a.png", "south", "south,", "0.5,http://h/a.png,1,1,0.5",
        "southeast,http://h/a.png,1",
    ])
    func otherWordsAreNoOverlay(text: String) { #expect(Overlay(text) == nil) }

    @Test(arguments: [
        "", "a.png", "ftp://h/a.png,1,1", ",1,1", "1,1", "http://user@h/a.png",
        "http://user:word@h/a.png,1,1",
    ])
    func whatIsNoURLIsNoOverlay(text: String) {
        #expect(Overlay(text) == nil)
    }

    /// A decoded value can be encoded again, so that the validator can report the error.
    @Test func anOpacityThatIsTooLargeStaysANumber() {
        let most = Double.greatestFiniteMagnitude
        #expect(Overlay(url: "", opacity: most).opacity == most)
        #expect(Overlay(url: "", opacity: 0.25049).opacity == 0.25)
    }

    /// Invalid numbers are never taken for a part of the URL.
    @Test(arguments: [
        "10,-10,2", "10,-10,-0.5", "10,-10,1e999", "5,10,20", "10", "x,1", "1.5,2", "40000,1",
        "1,-32768", "99999999999999999999,1", "1,2,3,4", "+1,2", "--1,2",
    ])
    func numbersThatCannotBeAreNoOverlay(numbers: String) {
        #expect(Overlay("http://h/m.png,\(numbers)") == nil)
    }

    @Test func placesCountFromTheNearerEdge() {
        let (size, base) = (PixelSize(width: 10, height: 6), PixelSize(width: 40, height: 20))
        func origin(_ x: Int, _ y: Int) -> [Int] {
            let origin = Overlay(url: "", x: x, y: y).origin(of: size, on: base)
            return [origin.x, origin.y]
        }
        #expect(origin(0, 0) == [0, 0])
        #expect(origin(3, -1) == [3, 13])
        #expect(origin(-40, 99) == [-10, 99])
    }

    @Test func itsLoadHasNothingThatWasSaidOfTheImage() {
        var request = ImageRequest(url: "http://h/a.png")
        request.headers = [HTTPHeader(name: "Cookie", value: "a")]
        request.steps = [
            .overlay(Overlay(url: "http://h/m.png")), .flip(horizontal: true, vertical: false),
        ]
        request.output.format = .webp
        request.context.key = .text("k")
        request.context.fallback = .url("http://h/f.png")
        request.context.serializer = .named("small")
        request.options = [.refreshCached, .fromLoaderOnly, .retryFailed]
        let load = request.preparedOverlays.map(\.request)
        #expect(load.map(\.url) == ["http://h/m.png"])
        #expect(load.first?.headers == [])
        #expect(load.first?.wantsOriginal == true)
        #expect(load.first?.context == RequestContext())
        #expect(load.first?.options == [.fromLoaderOnly, .retryFailed])
    }

    @Test func nothingInItsNameIsTakenForAPartOfTheKey() throws {
        var request = ImageRequest(url: "http://h/a.png")
        request.steps = [.overlay(Overlay(url: "http://h/m-Auth(0).png?b=/c,{1}", x: -1))]
        var terms = LoadTerms()
        terms.overlays = request.preparedOverlays
        let key = CacheKey.result(request, url: try SourceURL(request.url), terms: terms)
        #expect(
            key == "http://h/a-ImagebusOverlayTransformer(http%3A%2F%2Fh%2Fm%2DAuth%280%29%2Epng"
                + "%3Fb%3D%2Fc%2C%7B1%7D,{-1.000000,0.000000},1.000000).png")
    }

    /// Defaults are left out of the key, so that existing keys stay valid.
    @Test func theKeyHasWhatIsSaidBesides() {
        func key(_ words: String) -> String? {
            Overlay("\(words)http://h/m")?.key(named: "m")
        }
        #expect(key("") == "ImagebusOverlayTransformer(m,{0.000000,0.000000},1.000000)")
        #expect(key("normal,1,") == key(""))
        #expect(
            key("southeast,20%x20%,repeat,multiply,0.5,")
                == "ImagebusOverlayTransformer(m,{0.000000,0.000000},0.500000,southeast,"
                + "{20.0%x20.0%},repeat,multiply)")
        #expect(
            key("fp:0.25:1,5x7,")
                == "ImagebusOverlayTransformer(m,{0.000000,0.000000},1.000000,fp:0.25:1.0,{5x7})")
    }

    @Test func placesSizesAndTheirLimitsAreChecked() {
        func error(_ overlay: Overlay) -> ErrorCode? {
            do throws(ImageError) {
                try TransformStep.overlay(overlay).form.check(pixelsMax: 1)
                return nil
            } catch { return error.code }
        }
        #expect(error(Overlay(url: "http://h/m", gravity: Gravity("east"))) == nil)
        for wrong in [
            Overlay(url: "http://h/m", gravity: .attention),
            Overlay(url: "http://h/m", gravity: .point(x: .nan, y: 0)),
            Overlay(url: "http://h/m", gravity: .point(x: 0, y: 1.5)),
            Overlay(url: "http://h/m", size: RelativeSize(width: .pixels(0), height: .pixels(1))),
            Overlay(
                url: "http://h/m", size: RelativeSize(width: .percent(1), height: .percent(.nan))),
        ] { #expect(error(wrong) == .invalidRequest, "\(wrong)") }
    }

    @Test func theFallbackHasNoOverlays() {
        var request = ImageRequest(url: "http://h/a.png")
        request.steps = [.overlay(Overlay(url: "http://h/m.png"))]
        #expect(request.loading(fallback: "http://h/f.png").steps.isEmpty)
        #expect(request.overlays.count == 1)
    }
}
