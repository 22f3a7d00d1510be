import Model
import StackKit
import TestKit
import Testing

extension Conformance {
    /// More than 8 bits per sample, and high dynamic range (SEMANTICS §11.28, §11.29); ImageMagick
    /// and the libavif programs read the files.
    @Suite struct HDRCases {
        private let origin = OriginServer()
        private let folder = TestKit.TemporaryDirectory()

        /// A file written by the command line.
        private func produce(_ path: String, _ name: String, _ options: [String]) throws -> String {
            let file = folder.file(name)
            let end = try SharedStack.current.get([origin.url(path), "-o", file] + options)
            #expect(end.exitStatus == 0, "\(end)")
            return file
        }

        /// All samples of a file in 16 bits, after these operations of ImageMagick.
        private func samples(_ file: String, _ changes: [String] = []) throws -> [UInt8] {
            try Tool.run(
                ["convert-im6.q16", file, "-set", "colorspace", "sRGB"] + changes
                    + ["-depth", "16", "rgba:-"])
        }

        /// A gradient of 60 by 40 pixels that 8 bits can't represent, opaque or not.
        private func gradient(_ kind: String) throws -> String {
            let file = folder.file("gradient.png")
            let colors =
                kind == "PNG64" ? "#12345678abcd9000-#123f89f0a0007000" : "#123456-#1f3850"
            // Without a gamma, since the samples would be converted by it.
            try Tool.run([
                "convert-im6.q16", "-size", "60x40", "-depth", "16", "gradient:\(colors)",
                "-define", "png:exclude-chunks=gAMA,cHRM", "\(kind):\(file)",
            ])
            origin.route("/\(kind).png", .bytes(try #require(FileBytes.read(file))))
            return file
        }

        @Test(arguments: ["PNG48", "PNG64"])
        func case090_sixteenBitsStayWhereTheyAreAskedFor(kind: String) throws {
            let source = try gradient(kind)
            let wide = ["--format", "png", "--depth", "16"]
            #expect(try samples(produce("/\(kind).png", "a.png", wide)) == samples(source))
            for (name, options, changes) in [
                ("b.png", ["--flip", "h"], ["-flop"]),
                ("c.png", ["--rotate", "90"], ["-rotate", "90"]),
                ("d.png", ["--crop", "7,5,20,11"], ["-crop", "20x11+7+5", "+repage"]),
            ] {
                let file = try produce("/\(kind).png", name, options + wide)
                #expect(try samples(file) == samples(source, changes), "\(options)")
            }
            let tiff = try produce("/\(kind).png", "e.tiff", ["--depth", "16"])
            #expect(try samples(tiff) == samples(source))
            // Without the setting there are 8 bits, with different values.
            let narrow = try produce("/\(kind).png", "f.png", ["--format", "png", "--flip", "h"])
            #expect(try Tool.run(["identify-im6.q16", "-format", "%z", narrow]) == [0x38])
        }

        @Test(arguments: ["png", "tiff", "avif"])
        func case097_aScaledImageHasTheBitsThatAreAskedFor(format: String) throws {
            let white = folder.file("white.png")
            try Tool.run([
                "convert-im6.q16", "-size", "100x100", "-depth", "16", "xc:white",
                "PNG64:\(white)",
            ])
            origin.route("/white.png", .bytes(try #require(FileBytes.read(white))))
            let depth = format == "avif" ? "10" : "16"
            let file = try produce(
                "/white.png", "white.\(format)", ["--resize", "50x50", "--depth", depth])
            if format == "avif" {
                let output = try Tool.run(["avifdec", "--info", file])
                #expect(String(decoding: output, as: UTF8.self).contains("Bit Depth      : 10\n"))
            } else {
                #expect(
                    try Tool.run(["identify-im6.q16", "-format", "%wx%h %z", file])
                        == Array("50x50 16".utf8))
                #expect(try samples(file).allSatisfy { $0 == 255 }, "white stays white")
            }
        }

        @Test func aFormatWithoutSuchBitsSaysWhatToDo() throws {
            _ = try gradient("PNG48")
            for (options, message) in [
                (["--format", "jpeg", "--depth", "16"], "jpeg has no setting depth: leave it out"),
                (
                    ["--format", "avif", "--depth", "16"],
                    "the depth of avif must be one of 8, 10, 12"
                ),
                (
                    ["--format", "png", "--depth", "16", "--colors", "16"],
                    "a palette requires depth 8"
                ),
            ] {
                let end = try SharedStack.current.get(
                    [origin.url("/PNG48.png"), "-o", folder.file("none")] + options)
                #expect(end.exitStatus == 64 && end.errorText.contains(message), "\(end)")
            }
            #expect(origin.acceptedConnectionCount == 0)
        }

        private static let files = ["heic", "avif", "jxl"]

        /// The HDR images of SDWebImage.
        private func route(_ name: String) throws {
            let file = try #require(Fixtures.bytes("images/TestHDR.\(name)"))
            origin.route("/hdr.\(name)", .bytes(file))
        }

        @Test(
            .enabled(if: Fixtures.bytes("images/TestHDR.heic") != nil, "needs IMAGEBUS_FIXTURES"),
            arguments: zip(files, ["10", "10", "12"]))
        func case092_aHighRangeIsKeptWhereItIsAskedFor(name: String, bits: String) throws {
            try route(name)
            let wish = ["--context", "image-decode-to-hdr=1"]
            let avif = try produce("/hdr.\(name)", "a.avif", ["--resize", "200x"] + wish)
            let output = String(
                decoding: try Tool.run(["avifdec", "--info", avif]), as: UTF8.self)
            for line in ["Bit Depth      : \(bits)", "Color Primaries: 9", "Transfer Char. : 16"] {
                #expect(output.contains(line + "\n"), "\(output)")
            }
            let png = try produce("/hdr.\(name)", "a.png", ["--crop", "0,0,64,64"] + wish)
            let bytes = try #require(FileBytes.read(png))
            #expect(bytes[24] == 16)
            #expect(Array(bytes[37..<45]) == Array("cICP".utf8) + [9, 16, 0, 1])
            // Its code values equal those of another decoder of the source.
            let source = folder.file("source.png")
            let path = try #require(Fixtures.path("images/TestHDR.\(name)"))
            let readers = [
                "heic": ["heif-convert", "--quiet", path, source],
                "avif": ["avifdec", "-d", "16", path, source], "jxl": ["djxl", path, source],
            ]
            try Tool.run(try #require(readers[name]))
            #expect(try away(png, source, ["-crop", "64x64+0+0", "+repage"]) < 0.004)
        }

        /// The mean difference between the samples of two files, with white as 1.
        private func away(_ file: String, _ other: String, _ changes: [String]) throws -> Double {
            let (left, right) = (try samples(file), try samples(other, changes))
            try #require(left.count == right.count)
            let sum = stride(from: 0, to: left.count, by: 2).reduce(0) { sum, place in
                let number = { (bytes: [UInt8]) in Int(bytes[place]) | Int(bytes[place + 1]) << 8 }
                return sum + abs(number(left) - number(right))
            }
            return Double(sum) / Double(left.count / 2) / 65_535
        }

        @Test(
            .enabled(if: Fixtures.bytes("images/TestHDR.heic") != nil, "needs IMAGEBUS_FIXTURES"),
            arguments: files)
        func withoutTheWishAHighRangeIsSRGB(name: String) throws {
            try route(name)
            let plain = try produce("/hdr.\(name)", "a.avif", ["--resize", "64x"])
            let output = String(
                decoding: try Tool.run(["avifdec", "--info", plain]), as: UTF8.self)
            for line in ["Bit Depth      : 8", "Color Primaries: 1", "Transfer Char. : 13"] {
                #expect(output.contains(line + "\n"), "\(output)")
            }
            // An output format without HDR gives the same result with the option, under a key of
            // its own.
            let jpeg = try produce("/hdr.\(name)", "a.jpg", ["--resize", "64x"])
            let wished = try produce(
                "/hdr.\(name)", "b.jpg",
                ["--resize", "64x", "--context", "image-decode-options=decode-to-hdr=yes"])
            #expect(try samples(jpeg) == samples(wished))
            let narrow = try produce(
                "/hdr.\(name)", "c.png",
                ["--resize", "64x", "--depth", "8", "--context", "image-decode-to-hdr=1"])
            #expect(try Tool.run(["identify-im6.q16", "-format", "%z", narrow]) == [0x38])
            let answer = try SharedStack.current.answer(
                origin.url("/hdr.\(name)"),
                ["--format", "avif", "--resize", "64x", "--context", "image-decode-to-hdr=1"])
            #expect(answer["key"]?.text?.hasSuffix("-Imagebus(avif,hdr).\(name)") == true)
            #expect(answer["hdr"] == .bool(true))
            let cached = try SharedStack.current.answer(
                origin.url("/hdr.\(name)"),
                ["--format", "avif", "--resize", "64x", "--context", "image-decode-to-hdr=1"])
            #expect(cached["hdr"] == .bool(true) && cached["bits"] == answer["bits"])
            #expect(cached["cacheType"]?.text == "memory")
            let narrowAnswer = try SharedStack.current.answer(
                origin.url("/hdr.\(name)"), ["--format", "jpeg", "--resize", "64x", "--hdr"])
            #expect(narrowAnswer["hdr"] == .bool(false) && narrowAnswer["bits"]?.integer == 8)
            let source = try SharedStack.current.answer(
                origin.url("/hdr.\(name)"), ["--info"])
            #expect(source["hdr"] == .bool(true) && source["bits"]?.integer ?? 0 > 8)
            // Without encoding the source is delivered unchanged.
            let original = try produce(
                "/hdr.\(name)", "a.\(name)", ["--context", "image-decode-to-hdr=1"])
            #expect(FileBytes.read(original) == Fixtures.bytes("images/TestHDR.\(name)"))
        }
    }
}
