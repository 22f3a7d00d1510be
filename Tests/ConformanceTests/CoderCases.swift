import StackKit
import TestKit
import Testing

extension Conformance {
    /// Coders: in SDWebImage these are objects that a manager asks in turn, beginning with the last
    /// one added.
    @Suite struct CoderCases {
        private let gallery: Gallery
        private let folder = TestKit.TemporaryDirectory()

        init() throws { gallery = try Gallery() }

        /// The format of a result if none is requested: that of the source if it can be encoded,
        /// otherwise PNG with alpha and JPEG without; all frames become a GIF if the source is one.
        /// Another program reads the results.
        @Test func case063_theFormatFollowsTheSourceElseAlpha() async throws {
            let opaque = Images.quadrants(width: 64, height: 64)
            let samples = (0..<64 * 64).flatMap { number -> [UInt8] in
                [200, 40, 30, number.isMultiple(of: 2) ? 0 : 255]
            }
            let clear = Pixels(width: 64, height: 64, bands: 4, samples: samples)
            let files: [(name: String, bytes: [UInt8], format: String)] = [
                ("a.bmp", Self.bitmap(opaque), "JPEG"),
                ("a.ico", Self.icon(try clear.png()), "PNG"),
                ("a.jpg", try opaque.jpeg(quality: 90), "JPEG"), ("a.png", try clear.png(), "PNG"),
                ("a.webp", try opaque.webp(quality: 90), "WEBP"),
                ("a.gif", Images.animatedGIF, "GIF"),
            ]
            for (name, bytes, format) in files {
                gallery.origin.route("/063/\(name)", .bytes(bytes))
                let path = folder.file("made")
                let words = ["--resize", "20x20", "--animated", "-o", path]
                _ = try SharedStack.current.answer(gallery.url("/063/\(name)"), words)
                let script = "import PIL.Image, sys; print(PIL.Image.open(sys.argv[1]).format)"
                let found = try Tool.run(["python3", "-c", script, path])
                #expect(String(decoding: found, as: UTF8.self) == "\(format)\n", "\(name)")
            }
        }

        /// A bitmap with 24 bits (blue, green, red) per pixel, from the bottom row up, with a
        /// BITMAPINFOHEADER; the width must be divisible by four.
        private static func bitmap(_ pixels: Pixels) -> [UInt8] {
            func bytes(_ number: Int, _ count: Int) -> [UInt8] {
                (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
            }
            let rows = (0..<pixels.height).reversed().flatMap { y in
                (0..<pixels.width).flatMap { x in Array(pixels.at(x, y).prefix(3).reversed()) }
            }
            return Array("BM".utf8) + bytes(54 + rows.count, 4) + bytes(0, 4) + bytes(54, 4)
                + bytes(40, 4) + bytes(pixels.width, 4) + bytes(pixels.height, 4) + bytes(1, 2)
                + bytes(24, 2) + bytes(0, 4) + bytes(rows.count, 4) + bytes(0, 16) + rows
        }

        /// An icon with one PNG of 64 by 64 pixels.
        private static func icon(_ png: [UInt8]) -> [UInt8] {
            let length = (0..<4).map { UInt8(truncatingIfNeeded: png.count >> (8 * $0)) }
            return [0, 0, 1, 0, 1, 0, 64, 64, 0, 0, 1, 0, 32, 0] + length + [22, 0, 0, 0] + png
        }

        /// A plug-in decodes a format that is known but has no built-in decoder; formats that its
        /// pool isn't granted are decoded as usual. The files are from the reference encoder, and
        /// Pillow reads the results.
        @Test(arguments: [false, true])
        func case083_anotherProgramDecodesWhatItIsGranted(hasAlpha: Bool) async throws {
            let command = try PythonExample.command("qoi_coder.py").joined(separator: ", ")
            let text = """
                pools:
                  qoi: {kind: decode, trust: external, formats-in: [qoi], command: [\(command)]}

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

        /// A request that names a coder uses only that one; otherwise a profile selects the coder.
        @Test func case038_aRequestNamesItsCoder() async throws {
            let command = try PythonExample.command("qoi_coder.py").joined(separator: ", ")
            let text = """
                pools:
                  qoi: {kind: decode, trust: external, formats-in: [qoi], command: [\(command)]}
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

        /// The samples of a PNG with alpha, as read by Pillow.
        private static func samples(_ path: String) throws -> [UInt8] {
            let script =
                "import sys; from PIL import Image;"
                + "sys.stdout.buffer.write(Image.open(sys.argv[1]).convert('RGBA').tobytes())"
            return try Tool.run(["python3", "-c", script, path])
        }

        /// Its header claims 65,535 columns and rows.
        private static let bomb: [UInt8] =
            Array("qoif".utf8) + [0, 0, 0xFF, 0xFF, 0, 0, 0xFF, 0xFF, 3, 0]
            + [UInt8](repeating: 0xFD, count: 64) + [0, 0, 0, 0, 0, 0, 0, 1]
    }
}
