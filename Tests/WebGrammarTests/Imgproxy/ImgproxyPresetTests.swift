import Model
import Testing
import WebGrammar

/// Presets: named options.
@Suite struct ImgproxyPresetTests {
    private func grammar(_ lines: String, only: Bool = false) throws -> ImgproxyGrammar {
        var settings = ImgproxyGrammar.Settings()
        settings.permitsUnsigned = true
        settings.presets = try ImgproxyPresets(lines: lines)
        settings.onlyPresets = only
        return try ImgproxyGrammar(settings)
    }

    @Test func theDefaultPresetComesFirst() throws {
        let grammar = try grammar("# of all\ndefault = w:100/q:50\n\n  big=w:900\r\n")
        let plain = try grammar.read("/_/plain/https://h/a")
        #expect(plain.image.steps == [.resize(PixelSize(100, 0), .fit)])
        #expect(plain.image.output.quality == 50)
        #expect(plain.presets == ["default"])
        let big = try grammar.read("/_/q:60/pr:big/plain/https://h/a")
        #expect(big.image.steps == [.resize(PixelSize(900, 0), .fit)])
        #expect(big.image.output.quality == 60)
        #expect(big.presets == ["default", "big"])
    }

    @Test func presetsNameOthersAtTheirPlace() throws {
        let grammar = try grammar("a=w:1/pr:b:c/q:4\nb=w:2/pr:c\nc=q:3/h:7")
        let read = try grammar.read("/_/pr:a/plain/https://h/a")
        #expect(read.presets == ["a", "b", "c", "c"])
        #expect(read.image.steps == [.resize(PixelSize(2, 7), .fit)])
        #expect(read.image.output.quality == 4)
    }

    @Test func presetsAloneMayBeAllThatURLsSay() throws {
        let grammar = try grammar("small=w:10\nsharp=sh:1", only: true)
        let read = try grammar.read("/_/small:sharp/plain/https://h/a@png")
        #expect(read.presets == ["small", "sharp"])
        #expect(read.image.steps == [.resize(PixelSize(10, 0), .fit), .sharpen(radius: 1)])
        #expect(read.image.output.format == .png)
        #expect(try grammar.refusal("/_/w:10/plain/https://h/a").message.contains("'w'"))
        #expect(try grammar.refusal("/_/small/w:10/plain/https://h/a").status == 400)
    }

    @Test(arguments: [
        "a", "a=", "=w:1", "a=w:1=2", "a=w", "a=w:1/plain", "a=pr:b", "a=pr:a",
        "a=pr:b\nb=w:1/pr:c\nc=pr:a", "a=w:x", "a=width_:1", "a=gradient:1", "a=w:1\na=w:2",
        "a=g:obj:face",
    ])
    func aBadPresetIsRefusedBeforeItIsUsed(lines: String) throws {
        #expect(throws: GrammarError.self) { try grammar(lines) }
    }

    @Test(arguments: ["a=pr:a", "a=pr:b\nb=w:1/pr:c\nc=pr:a"])
    func aCircleIsCalledOne(lines: String) throws {
        let refusal = #expect(throws: GrammarError.self) { try grammar(lines) }
        #expect(refusal?.message.contains("refers to itself") == true)
    }

    /// Each line doubles the number of options of the line before.
    @Test func presetsThatComeToManyOptionsAreRefused() throws {
        let lines = (1...40).map { "p\($0)=pr:p\($0 - 1):p\($0 - 1)" } + ["p0=w:1"]
        let refusal = #expect(throws: GrammarError.self) {
            try grammar(lines.joined(separator: "\n"))
        }
        #expect(refusal?.message.contains("more than 256") == true)
    }
}
