import Testing

@testable import Model

struct OverlayResolutionTests {
    private func request(over url: String = "http://marks.example/m.png") -> ImageRequest {
        var request = ImageRequest(url: "http://images.example/a.png")
        request.headers = [HTTPHeader(name: "Authorization", value: "mine")]
        request.steps = [.overlay(Overlay(url: url))]
        return request
    }

    @Test func withoutAConfigurationAnOverlayIsItsOriginal() throws {
        let request = request()
        #expect(try Configuration().resolve(request).terms.overlays == request.preparedOverlays)
    }

    /// A preset that adds an overlay to every image doesn't add it to the overlay itself.
    @Test func whatIsLaidOverHasNoStepsWhateverRulesSay() throws {
        var configuration = Configuration()
        var preset = Preset()
        preset.steps = [.overlay(Overlay(url: "http://marks.example/m.png"))]
        configuration.presets["mark"] = preset
        var profile = Profile()
        profile.transformer = "mark"
        configuration.profiles["default"] = profile
        let plain = ImageRequest(url: "http://images.example/a.png")
        let overlays = try configuration.resolve(plain).terms.overlays
        #expect(overlays.map(\.request.url) == ["http://marks.example/m.png"])
        #expect(overlays.first?.request.wantsOriginal == true)
        #expect(overlays.first?.terms.overlays == [])
    }

    @Test func rulesOfItsURLHoldForIt() throws {
        var configuration = Configuration()
        var profile = Profile()
        var rule = Rule(try #require(URLPattern("http://marks.example/*")))
        rule.headers = [RuleHeader(name: "X-Api-Key", value: .text("k"))]
        rule.download = false
        profile.rules = [rule]
        configuration.profiles["default"] = profile
        let resolution = try configuration.resolve(request())
        #expect(resolution.terms.mayDownload)
        #expect(resolution.request.headers.map(\.name) == ["Authorization"])
        let overlay = try #require(resolution.terms.overlays.first)
        #expect(overlay.request.headers == [HTTPHeader(name: "X-Api-Key", value: "k")])
        #expect(!overlay.terms.mayDownload)
    }

    /// The overlay's original is shared with images that have other options.
    @Test func itIsKeptAsItsOwnRulesSayAndNotAsTheImageIs() throws {
        var configuration = Configuration()
        var request = request()
        request.context.serializer = .transcode(.jpeg, quality: 50)
        #expect(try configuration.resolve(request).terms.overlays.first?.terms.serializer == .asIs)
        var profile = Profile()
        var (image, mark) = (
            Rule(try #require(URLPattern("http://images.example/*"))),
            Rule(try #require(URLPattern("http://marks.example/*")))
        )
        image.serializer = .transcode(.jpeg, quality: nil)
        mark.serializer = .transcode(.webp, quality: nil)
        profile.rules = [image, mark]
        configuration.profiles["default"] = profile
        let terms = try configuration.resolve(request).terms
        #expect(terms.serializer == image.serializer)
        #expect(terms.overlays.first?.terms.serializer == mark.serializer)
        profile.rules = [image]
        profile.serializer = .transcode(.png, quality: nil)
        configuration.profiles["default"] = profile
        let overlay = try configuration.resolve(request).terms.overlays.first
        #expect(overlay?.terms.serializer == profile.serializer)
    }

    @Test func sourcesHoldForItAndRefuseNothingButIt() throws {
        var configuration = Configuration()
        configuration.sources = [try #require(URLPattern("http://images.example/*"))]
        let resolution = try configuration.resolve(request())
        #expect(resolution.terms.refusal == nil)
        #expect(resolution.terms.overlays.first?.terms.refusal?.code == .sourceForbidden)
    }
}
