import ImageModel
import Imagebus
import TestKit
import Testing

extension RealProcesses {
    /// What operators say of a gateway's answers.
    @Suite struct GatewayOptionTests {
        private let bench = GatewayBench()

        /// A preset for those who save data holds behind that of the name `default`, and what the
        /// path says holds behind both.
        @Test(arguments: ["few=w:32/q:10\n", "few=w:32/q:10\n default = w:50/bl:0\n"])
        func whoSavesDataHasThePreset(lines: String) async throws {
            bench.origin.route(
                "/a.png", .bytes(try Images.waves(width: 120, height: 60).png()))
            let folder = TestKit.TemporaryDirectory()
            let presets = folder.write(Array(lines.utf8), to: "presets")
            let arguments = [
                "--presets", presets, "--client-hints", "--save-data-preset", "few",
            ]
            try await bench.run(arguments) { gateway, _ in
                let usual = lines.contains("default") ? 50 : 120
                for (options, field, width) in [
                    ("", "", usual), ("", "Save-Data: off\r\n", usual),
                    ("", "Save-Data: on\r\n", 32), ("w:60", "Save-Data: on\r\n", 60),
                ] {
                    let image = try gateway.get(bench.path("/a.png", options, "@png"), field)
                    #expect(image.status == 200, "\(image.head)")
                    #expect(try Pixels(decoding: image.body).width == width, "\(options) \(field)")
                    #expect(image.field("Vary")?.hasPrefix("Save-Data") == true)
                }
            }
        }

        private static let mistakes = [
            ["--public-url", "example.com"], ["--public-url", "https://example.com/"],
            ["--fallback", "/nowhere/a.png"], ["--fallback-for", "404"],
            ["--fallback-status", "204"], ["--fallback-status", "x"],
            ["--fallback-max-age", "-1"], ["--post-tokens", "/nowhere/tokens"],
            ["--hint-widths", "320"], ["--save-data-preset", "few"],
            ["--hint-widths", "640,320", "--client-hints"],
            ["--hint-widths", "0", "--client-hints"],
            ["--save-data-quality", "101", "--client-hints"],
            ["--save-data-preset", "few", "--client-hints"],
            ["--assume-fresh", "31536001"], ["--assume-fresh", "1h"], ["--timeout", "0"],
            ["--timeout", "3601"],
        ]

        /// Each ends the program, which names the option.
        @Test func mistakesAreNamed() async throws {
            try await withStack(decoders: 1) { stack in
                for arguments in Self.mistakes {
                    do {
                        _ = try GatewayProcess(before: stack, ["--unsigned"] + arguments)
                        Issue.record("it listens: \(arguments)")
                    } catch let failure as StackFailure {
                        #expect("\(failure)".contains(arguments[0]), "\(failure)")
                    }
                }
            }
        }
    }
}
