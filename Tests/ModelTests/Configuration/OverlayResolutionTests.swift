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
        configuration.usual.transformer = "mark"
        let plain = ImageRequest(url: "http://images.example/a.png")
        let overlays = try configuration.resolve(plain).terms.overlays
        #expect(overlays.map(\.request.url) == ["http://marks.example/m.png"])
        #expect(overlays.first?.request.wantsOriginal == true)
        #expect(overlays.first?.terms.overlays == [])
    }

    @Test func rulesOfItsURLHoldForIt() throws {
        let rule = try Rule(matching: "http://marks.example/*") {
            $0.headers = [RuleHeader(name: "X-Api-Key", value: .text("k"))]
            $0.download = false
        }
        let resolution = try Configuration(rules: [rule]).resolve(request())
        #expect(resolution.terms.mayDownload)
        #expect(resolution.request.headers.map(\.name) == ["Authorization"])
        let overlay = try #require(resolution.terms.overlays.first)
        #expect(overlay.request.headers == [HTTPHeader(name: "X-Api-Key", value: "k")])
        #expect(!overlay.terms.mayDownload)
    }

    /// The overlay's original is shared with images that have other options.
    @Test func itIsKeptAsItsOwnRulesSayAndNotAsTheImageIs() throws {
        var request = request()
        request.context.serializer = .transcode(.jpeg, quality: 50)
        let usual = try Configuration().resolve(request).terms
        #expect(usual.overlays.first?.terms.serializer == .asIs)
        let image = try Rule(matching: "http://images.example/*") {
            $0.serializer = .transcode(.jpeg, quality: nil)
        }
        let mark = try Rule(matching: "http://marks.example/*") {
            $0.serializer = .transcode(.webp, quality: nil)
        }
        let terms = try Configuration(rules: [image, mark]).resolve(request).terms
        #expect(terms.serializer == image.serializer)
        #expect(terms.overlays.first?.terms.serializer == mark.serializer)
        var configuration = Configuration(rules: [image])
        configuration.usual.serializer = .transcode(.png, quality: nil)
        let overlay = try configuration.resolve(request).terms.overlays.first
        #expect(overlay?.terms.serializer == .transcode(.png, quality: nil))
    }

    @Test func sourcesHoldForItAndRefuseNothingButIt() throws {
        var configuration = Configuration()
        configuration.sources = [try #require(URLPattern("http://images.example/*"))]
        let resolution = try configuration.resolve(request())
        #expect(resolution.terms.refusal == nil)
        #expect(resolution.terms.overlays.first?.terms.refusal?.code == .sourceForbidden)
    }
}
