import Model
import Testing

/// The table of encoder-specific settings.
@Suite struct OutputSettingTests {
    private func text(_ output: OutputOptions) throws -> String {
        var request = ImageRequest(url: "https://h/a.png")
        request.output = output
        return CacheKey.result(request, url: try SourceURL(request.url), terms: LoadTerms())
    }

    /// A non-default value of each setting.
    private func sample(_ setting: OutputSetting) -> Int {
        switch setting.row.values {
        case .flag, .word, .formats: 1
        case .number(let range, _): range.lowerBound + 1
        case .color: 0x10_2030
        }
    }

    @Test func eachSettingHasANameOfItsOwnAndFormatsThatAreWritten() {
        let names = OutputSetting.allCases.map(\.name)
        #expect(Set(names).count == names.count)
        for setting in OutputSetting.allCases {
            #expect(OutputSetting(name: setting.name) == setting)
            #expect(!setting.row.formats.isEmpty, "\(setting)")
            #expect(setting.row.formats.allSatisfy { $0.isEncodable }, "\(setting)")
        }
        #expect(OutputSetting(name: "loud") == nil)
    }

    @Test func eachSettingIsInTheKeyAndMakesAnotherResult() throws {
        let plain = OutputOptions(format: .png)
        var keys: Set<String> = [try text(plain)]
        for setting in OutputSetting.allCases {
            var output = plain
            output[setting] = sample(setting)
            #expect(output != plain && !output.isDefault, "\(setting)")
            let isNew = keys.insert(try text(output)).inserted
            #expect(isNew, "\(setting)")
            var back = plain
            let isTaken = back.apply(settings: output.settingTexts)
            #expect(isTaken, "\(setting)")
            #expect(back == output && back.hashValue == output.hashValue, "\(setting)")
        }
    }

    @Test func keysSayTheSettingsInTheirOrder() throws {
        var output = OutputOptions(format: .jpeg, quality: 70)
        output.subsampling = .yuv444
        output.isProgressive = true
        let start = "https://h/a-Imagebus("
        #expect(try text(output) == start + "jpeg,q70,progressive,subsampling=444).png")
        var webP = OutputOptions(format: .webp, lossless: true)
        webP.effort = 0
        webP.nearLossless = 60
        #expect(try text(webP) == start + "webp,lossless,effort=0,near-lossless=60).png")
        var dark = OutputOptions(format: .jpeg)
        dark.background = Color(argb: 0x0010_20F0)
        #expect(dark.background == Color(argb: 0xFF10_20F0), "it is opaque")
        #expect(try text(dark) == start + "jpeg,background=#ff1020f0).png")
        var accepting = OutputOptions()
        accepting.accepted = [.webp, .gif, .avif]
        #expect(accepting.accepted == [.avif, .webp])
        #expect(try text(accepting) == start + "auto,accept=avif,webp).png")
    }

    /// An explicit default produces the same key as an absent setting.
    @Test func whatIsAsUsualIsNotSaid() throws {
        var output = OutputOptions(format: .webp)
        output.subsampling = .auto
        output.isProgressive = false
        output.dither = 100
        output.alphaQuality = 100
        output.background = .white
        #expect(output == OutputOptions(format: .webp))
        #expect(try text(output) == "https://h/a-Imagebus(webp).png")
        let isTaken = output.apply(settings: [
            "dither": "100", "subsampling": "auto", "background": "#FFFFFF",
        ])
        #expect(isTaken)
        #expect(output == OutputOptions(format: .webp))
    }

    @Test(arguments: [
        (ImageFormat.webp, ["effort": "7"], "the effort of webp must be an integer from 0 to 6"),
        (nil, ["effort": "11"], "effort must be an integer from 0 to 10"),
        (nil, ["effort": "99999999"], "effort must be an integer from 0 to 10"),
        (.png, ["colours": "1"], "colors must be an integer from 2 to 256"),
        (.png, ["colours": "-3"], "colors must be an integer from 2 to 256"),
        (.jpeg, ["near-lossless": "5"], "jpeg has no setting near-lossless: leave it out, or"),
        (.jpeg, ["background": "#80000000"], "background must be an opaque color, #RRGGBB"),
        (.png, ["background": "#000000"], "png has no setting background: leave it out, or use"),
        (.jpeg, ["max-bytes": "0"], "max-bytes must be an integer from 1 to 1073741824"),
        (.jpeg, ["max-bytes": "99999999999"], "max-bytes must be an integer from 1 to"),
        (.jpeg, ["depth": "16"], "jpeg has no setting depth: leave it out, or use png or"),
        (.png, ["depth": "10"], "the depth of png must be one of 8, 16"),
        (.avif, ["depth": "16"], "the depth of avif must be one of 8, 10, 12"),
        (.webp, ["progressive": "true"], "webp has no setting progressive: leave it out, or"),
    ])
    func whatNoEncoderDoesIsRefusedByName(
        format: ImageFormat?, settings: [String: String], message: String
    ) throws {
        var output = OutputOptions(format: format)
        let isTaken = output.apply(settings: settings)
        #expect(isTaken)
        let taken = output
        let error = #expect(throws: ImageError.self) { try taken.check() }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
        #expect(error?.details["setting"] == settings.keys.first)
    }

    @Test func whatIsNoSettingIsNotTaken() {
        for texts in [
            ["loud": "1"], ["effort": "much"], ["progressive": "yes"], ["subsampling": "422"],
            ["background": "black"], ["background": "0"], ["accept": "avif,avif"],
            ["accept": "gif"], ["accept": ""], ["accept": "webp,"],
            ["depth": "9"], ["hdr": "yes"],
        ] {
            var output = OutputOptions()
            let isTaken = output.apply(settings: texts)
            #expect(!isTaken, "\(texts)")
        }
    }

    @Test func effortAndSettingsThatTakeTimeCostMore() {
        func cost(_ format: ImageFormat, _ change: (inout OutputOptions) -> Void) -> UInt64 {
            var output = OutputOptions()
            change(&output)
            return format.traits.encodingCost(output)
        }
        for format in ImageFormat.encodable {
            let usual = cost(format) { _ in }
            #expect(usual == format.traits.encodingCost, "\(format)")
            guard let efforts = format.traits.output?.efforts else { continue }
            let costs = efforts.range.map { effort in cost(format) { $0.effort = effort } }
            #expect(costs == costs.sorted() && costs[0] < costs[costs.count - 1], "\(format)")
            #expect(cost(format) { $0.effort = efforts.usual } == usual)
            #expect(cost(format) { $0.effort = 10 } == costs.last, "beyond is the largest")
        }
        #expect(cost(.jpeg) { $0.isProgressive = true } > cost(.jpeg) { _ in })
        #expect(cost(.jpeg) { $0.maxBytes = 5_000 } == 7 * cost(.jpeg) { _ in })
        #expect(cost(.png) { $0.maxBytes = 5_000 } == cost(.png) { _ in }, "it has no quality")
        #expect(cost(.webp) { $0.nearLossless = 50 } == cost(.webp) { $0.lossless = true })
    }
}
