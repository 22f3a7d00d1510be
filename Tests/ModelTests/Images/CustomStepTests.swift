import Model
import Testing

@Suite struct CustomStepTests {
    @Test(
        arguments: [
            ("acme.denoise", [:]), ("acme.denoise:strength=0.5", ["strength": "0.5"]),
            ("a.b:x=1,y=-2e+3", ["x": "1", "y": "-2e+3"]), ("a-1.b_2.c:k=V", ["k": "V"]),
        ] as [(String, [String: String])])
    func itIsReadFromText(text: String, parameters: [String: String]) throws {
        let step = try #require(CustomStep(text))
        #expect(step.parameters == parameters)
        #expect(step.name == text.split(separator: ":").first.map(String.init))
        #expect(step.isValid)
    }

    @Test(arguments: [
        "", "denoise", ".denoise", "acme.", "acme..denoise", "Acme.denoise", "acme.de noise",
        "acme.denoise:", "acme.denoise:strength", "acme.denoise:strength=", "acme.denoise:=1",
        "acme.denoise:a=1=2", "acme.denoise:a=1,", "acme.denoise:a=1,a=2", "acme.denoise:a=(",
        "acme.denoise:A=1", "acme.denoise:a=1 ", "acme.dénoise", "acme.denoise:a=é",
        "acme.denoise:a=/", "acme.denoise:a=\u{0}",
    ])
    func otherTextsAreNone(text: String) {
        #expect(CustomStep(text) == nil)
    }

    @Test func textsAreBounded() {
        let name = "a." + String(repeating: "b", count: 126)
        let key = String(repeating: "k", count: 128)
        let value = String(repeating: "v", count: 256)
        #expect(CustomStep(name, parameters: [key: value]).isValid)
        #expect(!CustomStep(name + "b").isValid)
        #expect(!CustomStep(name, parameters: [key + "k": value]).isValid)
        #expect(!CustomStep(name, parameters: [key: value + "v"]).isValid)
        func step(_ count: Int) -> CustomStep {
            let pairs = (0..<count).map { ("k\($0)", "v") }
            return CustomStep("a.b", parameters: Dictionary(uniqueKeysWithValues: pairs))
        }
        #expect(step(16).isValid)
        #expect(!step(17).isValid)
    }

    @Test func equalStepsHaveOneKeyAndOthersHaveOthers() throws {
        let first = try #require(CustomStep("acme.denoise:b=2,a=1"))
        let second = try #require(CustomStep("acme.denoise:a=1,b=2"))
        #expect(first == second)
        #expect(
            TransformStep.custom(first).key == "ImagebusCustomTransformer(acme.denoise,a=1,b=2)")
        #expect(TransformStep.custom(second).key == TransformStep.custom(first).key)
        #expect(
            TransformStep.custom(CustomStep("acme.denoise")).key
                == "ImagebusCustomTransformer(acme.denoise)")
        var request = ImageRequest(url: "http://h/a.jpg")
        request.steps = [.custom(first)]
        let url = try SourceURL(request.url)
        #expect(
            CacheKey.result(request, url: url, terms: LoadTerms())
                == "http://h/a-ImagebusCustomTransformer(acme.denoise,a=1,b=2).jpg")
    }

    /// Its effect is unknown here: it gets every pixel, and keeps the size.
    @Test func itNeedsEveryPixelAndLeavesTheSize() {
        let step = TransformStep.custom(CustomStep("acme.denoise"))
        let size = PixelSize(width: 40, height: 30)
        #expect(step.size(after: size) == size)
        var request = ImageRequest(url: "http://h/a.jpg")
        request.steps = [step, .resize(size, .fit)]
        #expect(DecodeNeed(request) == .full)
        #expect(request.nominalSize == size)
    }

    /// Only a stack knows whether a pool is granted the step.
    @Test func whatItSaysIsChecked() throws {
        try CustomStep("acme.denoise").check(pixelsMax: 1_000)
        let refusal = CustomStep("acme.denoise").notGranted
        #expect(refusal.code == .stepFailed && refusal.details == ["step": "acme.denoise"])
        let invalid = #expect(throws: ImageError.self) {
            try CustomStep("acme.denoise", parameters: ["a": "("]).check(pixelsMax: 1_000)
        }
        #expect(invalid?.code == .invalidRequest)
    }

    @Test func aNameWithoutAPointIsNoneOfSomebodyElse() {
        #expect(TransformStep(named: "denoise", parameters: [:]) == nil)
        #expect(
            TransformStep(named: "acme.denoise", parameters: ["a": "1"])
                == .custom(CustomStep("acme.denoise", parameters: ["a": "1"])))
    }
}
