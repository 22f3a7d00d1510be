extension RealProcesses {
    /// Profiles and metadata from a source to its results, read by Pillow and the libvips tools.
    @Suite struct ColorTests {
        private let origin = OriginServer()
        private let folder = TemporaryDirectory()

        /// A JPEG in Display P3, rotated by 90° in EXIF, with camera, copyright and GPS fields. The
        /// profile comes from libvips.
        private func wideJPEG() throws -> [UInt8] {
            let profile = folder.write(try ExternalProfile.named("p3"), to: "p3.icc")
            let output = folder.file("p3.jpg")
            try Tool.run([
                "python3", "-c",
                """
                import sys; from PIL import Image
                exif = Image.Exif()
                exif[271], exif[274], exif[33432] = 'Cam', 6, '(c) Ada'
                exif[0x8825] = {1: 'N', 2: (1.0, 2.0, 3.0)}
                Image.new('RGB', (80, 60), (240, 20, 30)).save(
                    sys.argv[2], quality=95, subsampling=0, exif=exif,
                    icc_profile=open(sys.argv[1], 'rb').read())
                """, profile, output,
            ])
            return try #require(FileBytes.read(output))
        }

        /// The size, first pixel, profile and EXIF of a file.
        private func tags(_ path: String) throws -> String {
            let output = try Tool.run([
                "python3", "-c",
                """
                import sys; from PIL import Image
                im = Image.open(sys.argv[1]); exif = im.getexif()
                profile = open(sys.argv[2], 'rb').read()
                icc = im.info.get('icc_profile')
                px = im.convert('RGB').getpixel((20, 20))
                near = all(abs(a - b) < 6 for a, b in zip(px, (240, 20, 30)))
                tags = {k: v for k, v in sorted(exif.items()) if k != 0x8825}
                print(im.size, near, 'kept' if icc == profile else icc, tags,
                      len(exif.get_ifd(0x8825)))
                """, path, folder.file("p3.icc"),
            ])
            return String(decoding: output.dropLast(), as: UTF8.self)
        }

        /// libjxl can't encode this profile as parameters; the file is from its upstream tests.
        @Test(
            .enabled(
                if: Fixtures.bytes("images/TestICCProfile.jpg") != nil, "needs IMAGEBUS_FIXTURES"))
        func aJPEGXLIsConvertedWhereItCannotHoldTheProfile() async throws {
            let file = try #require(Fixtures.bytes("images/TestICCProfile.jpg"))
            origin.route("/a.jpg", .bytes(file))
            try await withStack { stack in
                let path = folder.file("a.jxl")
                let end = try stack.get(
                    [origin.url("/a.jpg"), "--resize", "64x", "--icc", "keep", "-o", path])
                #expect(end.exitStatus == 0, "\(end)")
                #expect(try Tool.run(["vipsheader", path]).starts(with: Array(path.utf8)))
            }
        }

        @Test func aResultKeepsWhatIsAskedFor() async throws {
            origin.route("/a.jpg", .bytes(try wideJPEG()))
            try await withStack { stack in
                func produce(_ name: String, _ arguments: String...) throws -> String {
                    let path = folder.file(name)
                    try stack.get([origin.url("/a.jpg"), "-o", path] + arguments).expect(0)
                    return path
                }
                func keeping(_ name: String, _ metadata: String) throws -> String {
                    try produce(
                        name, "--resize", "30x40", "--icc", "keep", "--metadata", metadata)
                }
                for name in ["a.jpeg", "a.png", "a.webp"] {
                    #expect(
                        try tags(keeping(name, "copyright"))
                            == "(30, 40) True kept {33432: '(c) Ada'} 0", "\(name)")
                    #expect(
                        try tags(keeping(name, "all"))
                            == "(30, 40) True kept {271: 'Cam', 274: 1, 33432: '(c) Ada'} 2",
                        "\(name)")
                    #expect(
                        try tags(produce(name, "--resize", "30x40"))
                            == "(30, 40) False None {} 0", "the same URL, converted")
                }
                #expect(try tags(keeping("a.tiff", "all")).hasPrefix("(30, 40) True kept"))
                for name in ["a.avif", "a.jxl"] {
                    let header = try Tool.text(
                        ["vipsheader", "-a", keeping(name, "copyright")])
                    #expect(header.contains("icc-profile-data"), "\(header)")
                    #expect(
                        header.contains("exif-ifd0-Copyright: (c) Ada") == name.hasSuffix("avif"))
                    #expect(!header.contains("GPS"))
                }
                #expect(try tags(keeping("a.gif", "all")) == "(30, 40) False None {} 0")
                // With no other option that requires encoding.
                let bare = try tags(produce("bare.jpg", "--metadata", "none"))
                #expect(bare == "(60, 80) False None {} 0")
                let wrong = try stack.get([origin.url("/a.jpg"), "--icc", "p3", "-o", "-"])
                wrong.expect(64, "one of srgb, keep")
            }
        }
    }
}
