import Testing

@testable import Model

/// What overlays don't inherit is in `FollowingLoadTests`.
struct OverlayResolutionTests {
    private func request() -> ImageRequest {
        var request = ImageRequest(url: "http://images.example/a.png")
        request.headers = [HTTPHeader(name: "Authorization", value: "mine")]
        request.steps = [.overlay(Overlay(url: "http://marks.example/m.png"))]
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

    @Test func rulesOfTheImageDoNotHoldForIt() throws {
        let rule = try Rule(matching: "http://images.example/*") {
            $0.serializer = .transcode(.jpeg, quality: nil)
        }
        let terms = try Configuration(rules: [rule]).resolve(request()).terms
        #expect(terms.serializer == rule.serializer)
        #expect(terms.overlays.first?.terms.serializer == .asIs)
    }

    @Test func sourcesHoldForItAndRefuseNothingButIt() throws {
        var configuration = Configuration()
        configuration.sources = [try #require(URLPattern("http://images.example/*"))]
        let resolution = try configuration.resolve(request())
        #expect(resolution.terms.refusal == nil)
        #expect(resolution.terms.overlays.first?.terms.refusal?.code == .sourceForbidden)
    }
}
