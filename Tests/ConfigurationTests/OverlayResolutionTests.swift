import ImageModel
import Testing

@testable import Configuration

struct OverlayResolutionTests {
    private func request(over url: String = "http://marks.example/m.png") -> ImageRequest {
        var request = ImageRequest(url: "http://pictures.example/a.png")
        request.headers = [HTTPHeader(name: "Authorization", value: "mine")]
        request.steps = [.overlay(Overlay(url: url))]
        return request
    }

    @Test func withoutAConfigurationAnOverlayIsItsOriginal() throws {
        let request = request()
        #expect(try Configuration().resolve(request).terms.overlays == request.preparedOverlays)
    }

    /// A preset that lays itself over everything does not do so over what it lays.
    @Test func whatIsLaidOverHasNoStepsWhateverRulesSay() throws {
        var configuration = Configuration()
        var preset = Preset()
        preset.steps = [.overlay(Overlay(url: "http://marks.example/m.png"))]
        configuration.presets["mark"] = preset
        var profile = Profile()
        profile.transformer = "mark"
        configuration.profiles["default"] = profile
        let plain = ImageRequest(url: "http://pictures.example/a.png")
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

    @Test func sourcesHoldForItAndRefuseNothingButIt() throws {
        var configuration = Configuration()
        configuration.sources = [try #require(URLPattern("http://pictures.example/*"))]
        let resolution = try configuration.resolve(request())
        #expect(resolution.terms.refusal == nil)
        #expect(resolution.terms.overlays.first?.terms.refusal?.code == .addressForbidden)
    }
}
