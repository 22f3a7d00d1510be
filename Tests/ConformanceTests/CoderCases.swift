import StackKit
import TestKit
import Testing

extension Conformance {
    /// Coders: upstream these are objects that a manager asks in turn, the last one added first.
    @Suite struct CoderCases {
        private let gallery: Gallery
        private let folder = TestKit.TemporaryDirectory()

        init() throws { gallery = try Gallery() }

        /// Another program decodes a format that ours know and do not decode; formats that its pool
        /// is not granted are decoded as ever. The files are of the reference's encoder, and Pillow
        /// looks at what is made of them.
        @Test(arguments: [false, true])
        func case083_anotherProgramDecodesWhatItIsGranted(hasAlpha: Bool) async throws {
            let command = try PythonExample.command("qoi_coder.py").joined(separator: ", ")
            let text = """
                pools:
                  qoi: {kind: decode, trust: foreign, formats-in: [qoi], command: [\(command)]}

                """
            let path = folder.write(Array(text.utf8), to: "imagebus.yaml")
            let qoi = try QOIFile.bytes(hasAlpha: hasAlpha)
            gallery.origin.route("/a.qoi", .bytes(qoi, contentType: "image/qoi"))
            gallery.origin.route("/cut.qoi", .bytes(Array(qoi.dropLast(200)), contentType: ""))
            gallery.origin.route("/bomb.qoi", .bytes(Self.bomb, contentType: ""))
            try await withStack(
                ["--allow-private-networks", "--config", path], decoders: 1
            ) { stack in
                let out = folder.file("out.png")
                let url = gallery.url("/a.qoi")
                let end = try stack.get([url, "--format", "png", "-o", out, "--json"])
                #expect(try end.json()["width"]?.integer == 16, "\(end)")
                #expect(try Self.samples(out) == QOIFile.samples(hasAlpha: hasAlpha))
                let info = try stack.answer(url, ["--info"])
                #expect(info["format"]?.text == "qoi" && info["height"]?.integer == 12)
                let small = try stack.answer(url, ["--resize", "8x8", "--format", "jpeg"])
                #expect(small["width"]?.integer == 8 && small["height"]?.integer == 6)
                for (name, error) in [("cut", "badImageData"), ("bomb", "limitExceeded")] {
                    let answer = try stack.answer(
                        gallery.url("/\(name).qoi"), ["--resize", "9x9", "--format", "png"])
                    #expect(answer["error"]?["name"]?.text == error, "\(answer)")
                }
                let other = try stack.answer(gallery.url("/case083.jpg"), ["--resize", "20x20"])
                #expect(other["width"]?.integer == 20, "\(other)")
                let report = try await stack.awaitIdle()
                #expect(report.counter("expelledWorkers") == 0)
            }
        }

        /// Whom a request names is asked, and nobody else; a profile says whom where it names
        /// nobody.
        @Test func case038_aRequestNamesItsCoder() async throws {
            let command = try PythonExample.command("qoi_coder.py").joined(separator: ", ")
            let text = """
                pools:
                  qoi: {kind: decode, trust: foreign, formats-in: [qoi], command: [\(command)]}
                profiles: {ours: {coders: [decode]}}

                """
            let path = folder.write(Array(text.utf8), to: "imagebus.yaml")
            let qoi = try QOIFile.bytes(hasAlpha: false)
            gallery.origin.route("/named.qoi", .bytes(qoi, contentType: "image/qoi"))
            let cases = [
                ("image-coder=decode", "unsupportedFormat"), ("image-coder=png", "invalidRequest"),
                ("custom-manager=ours", "unsupportedFormat"), ("image-coder=qoi", nil),
            ]
            try await withStack(
                ["--allow-private-networks", "--config", path], decoders: 1
            ) { stack in
                for (context, error) in cases {
                    let answer = try stack.answer(
                        gallery.url("/named.qoi"),
                        ["--resize", "7x7", "--format", "png", "--context", context])
                    #expect(answer["error"]?["name"]?.text == error, "\(context): \(answer)")
                }
            }
        }

        /// As Pillow sees them in a PNG, with alpha.
        private static func samples(_ path: String) throws -> [UInt8] {
            let script =
                "import sys; from PIL import Image;"
                + "sys.stdout.buffer.write(Image.open(sys.argv[1]).convert('RGBA').tobytes())"
            return try Tool.run(["python3", "-c", script, path])
        }

        /// Its header says 65,535 columns and rows.
        private static let bomb: [UInt8] =
            Array("qoif".utf8) + [0, 0, 0xFF, 0xFF, 0, 0, 0xFF, 0xFF, 3, 0]
            + [UInt8](repeating: 0xFD, count: 64) + [0, 0, 0, 0, 0, 0, 0, 1]
    }
}
