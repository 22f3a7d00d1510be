import StackKit
import TestKit
import Testing

extension RealProcesses {
    /// What `get` writes: the file, and words of others on a terminal.
    @Suite struct OutputTests {
        private let folder = TestKit.TemporaryDirectory()

        private func format(_ name: String) throws -> [UInt8] {
            Array(try #require(FileBytes.read(folder.file(name))).prefix(4))
        }
        private let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF]
        private let riff = Array("RIFF".utf8)

        @Test func theNameOfTheFileSaysTheFormat() async throws {
            let origin = OriginServer()
            let image = try Images.quadrants().png()
            origin.route("/a.png", .bytes(image))
            try await withStack { stack in
                func get(
                    _ source: String, _ arguments: [String], to name: String
                ) throws -> CommandLineEnd {
                    try stack.get(
                        [source] + arguments + ["-o", folder.file(name)],
                        input: source == "-" ? image : nil)
                }
                for source in ["-", origin.url("/a.png")] {
                    #expect(try get(source, ["--rotate", "90"], to: "turned.webp").exitStatus == 0)
                    #expect(try format("turned.webp") == riff)
                    #expect(try get(source, [], to: "plain.JPG").exitStatus == 0)
                    #expect(try format("plain.JPG").starts(with: jpeg))
                    let original = try get(source, ["--original"], to: "original.jpg")
                    #expect(original.exitStatus == 0, "\(original)")
                    #expect(FileBytes.read(folder.file("original.jpg")) == image)
                    #expect(try get(source, [], to: "same.png").exitStatus == 0)
                    #expect(FileBytes.read(folder.file("same.png")) == image)

                    let twoFormats = try get(source, ["--format", "png"], to: "b.webp")
                    #expect(twoFormats.exitStatus == 64, "\(twoFormats)")
                    #expect(twoFormats.errorText.contains("contradicts the name"))
                    let notWritten = try get(source, [], to: "b.gif")
                    #expect(notWritten.exitStatus == 65, "\(notWritten)")
                    #expect(FileBytes.read(folder.file("b.gif")) == nil)
                }
            }
        }

        @Test func wordsOfOthersDoNothingToATerminal() async throws {
            let origin = OriginServer()
            let image = try Images.quadrants().png()
            origin.route("/a.png", .bytes(image))
            try await withStack { stack in
                let bad = "x\u{1B}]0;title\u{7}\u{9B}2J\u{202E}\ny"
                let named = try stack.get([origin.url("/a.png"), "-o", folder.file(bad)])
                #expect(named.exitStatus == 0, "\(named)")
                #expect(FileBytes.read(folder.file(bad)) == image, "the name itself stays")
                let unknown = try stack.get([origin.url("/a.png"), "--option", bad])
                #expect(unknown.exitStatus == 64)
                let asJSON = try stack.get([
                    origin.url("/a.png"), "--context", "image-transformer=\(bad)", "--json",
                ])
                let said = [
                    named.outputText, unknown.errorText, asJSON.outputText + asJSON.errorText,
                ]
                for text in said {
                    #expect(text.hasSuffix("\n"), "\(text)")
                    let harmful = text.unicodeScalars.dropLast().filter {
                        (0..<0x20).contains($0.value) || (0x7F..<0xA0).contains($0.value)
                            || $0.value == 0x202E
                    }
                    #expect(harmful.isEmpty, "\(text)")
                }
            }
        }
    }
}
