import Testing

@testable import Model

/// Named encoder options, and how they combine with the request, presets and rules
/// (SEMANTICS §11.23).
@Suite struct EncodeOptionTests {
    private func configuration(_ rule: String? = nil) throws -> Configuration {
        var card = Preset()
        card.steps = [.resize(PixelSize(width: 5, height: 5), .fill)]
        card.output = OutputOptions(format: .jpeg, quality: 75)
        var configuration = Configuration(
            rules: [try Rule(matching: "http://h/*") { $0.transformer = rule.map { .name($0) } }])
        configuration.presets = ["card": card]
        return configuration
    }

    private var request: ImageRequest {
        var options = EncodeOptions()
        options.quality = 30
        options.maxBytes = 900
        options.background = Color(argb: 0xFF01_0203)
        options.maxPixelSize = PixelSize(width: 4, height: 4)
        var request = ImageRequest(url: "http://h/a.png")
        request.context.encodeOptions = options
        return request
    }

    private let fit = TransformStep.resize(PixelSize(width: 4, height: 4), .fit)

    @Test func theyWinOverAPresetThatCompletesTheRequest() throws {
        var asked = request
        asked.context.preset = "card"
        let resolved = try configuration().resolve(asked).request
        #expect(resolved.output.quality == 30)
        #expect(resolved.output.maxBytes == 900)
        #expect(resolved.output.background == Color(argb: 0xFF01_0203))
        #expect(resolved.steps.last == fit && resolved.steps.count == 2)
        #expect(resolved.context.isEmpty)
    }

    @Test func theRequestsOwnOutputAndARuleWinOverThem() throws {
        var own = request
        own.output = OutputOptions(format: .jpeg, quality: 50)
        own.output.maxBytes = 700
        let resolved = try configuration().resolve(own).request
        #expect(resolved.output.quality == 50)
        #expect(resolved.output.maxBytes == 700)
        // Options that the request leaves unset come from the named set.
        #expect(resolved.output.background == Color(argb: 0xFF01_0203))
        #expect(resolved.steps == [fit])
        let forced = try configuration("card").resolve(request).request
        #expect(forced.output.quality == 75)
        #expect(forced.output.maxBytes == 900)
    }

    @Test func whatIsNotEncodedStays() throws {
        #expect(try configuration().resolve(request).request == ImageRequest(url: request.url))
        var properties = request
        properties.infoOnly = true
        #expect(try configuration().resolve(properties).request.steps.isEmpty)
    }

    /// A background doesn't apply to PNG; without a format, the option is kept for the encoder.
    @Test func aFormatWithoutTheSettingIsNotToldOfIt() throws {
        var png = request
        png.output.format = .png
        let resolved = try configuration().resolve(png).request
        #expect(resolved.output.background == .white)
        try resolved.output.check()
        var any = request
        any.steps = [.grayscale]
        let background = try configuration().resolve(any).request.output.background
        #expect(background == Color(argb: 0xFF01_0203))
    }

    /// The box is given in pixels of the output file.
    @Test func theBoxIsNotMultipliedByTheRatio() throws {
        var asked = request
        asked.steps = [.resize(PixelSize(width: 10, height: 10), .stretch)]
        asked.pixelRatio = 2
        let steps = try configuration().resolve(asked).request.steps
        #expect(steps == [.resize(PixelSize(width: 20, height: 20), .stretch), fit])
    }
}
