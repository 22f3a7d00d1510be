extension RealProcesses {
    /// Every file in the folders of test images, converted to PNG by a real stack and compared with
    /// other decoders.
    @Suite(.enabled(if: Fixtures.folder != nil, "needs IMAGEBUS_FIXTURES"))
    struct FixtureTableTests {
        private enum Expectation {
            /// An image of this format, compared with another decoder.
            case image(String, OtherReader)
            /// The same for an image in PQ, which is converted to sRGB.
            case pq(String, OtherReader)
            /// An error with this name.
            case refusal(String)
        }

        /// Each file of `images` and `broken`.
        private static let expectations: [String: Expectation] = [
            "images/1@2x.gif": .image("gif", .pillow),
            "images/IndexedPNG.png": .image("png", .pillow),
            "images/MonochromeTestImage.jpg": .image("jpeg", .pillow),
            "images/RGBA16PNG.png": .image("png", .pillow),
            "images/TestAnimatedImageMemory.webp": .image("webp", .pillow),
            "images/TestEXIF.png": .image("png", .pillow),
            "images/TestHDR.avif": .pq("avif", .avifdec),
            "images/TestHDR.heic": .pq("heic", .heifConvert),
            "images/TestHDR.jpeg": .image("jpeg", .pillow),
            "images/TestHDR.jxl": .pq("jxl", .djxl),
            "images/TestICCProfile.jpg": .image("jpeg", .pillow),
            "images/TestImage.gif": .image("gif", .pillow),
            "images/TestImage.heic": .image("heic", .heifConvert),
            "images/TestImage.heif": .image("heif", .heifConvert),
            "images/TestImage.jpg": .image("jpeg", .pillow),
            "images/TestImage.pdf": .image("pdf", .mutool),
            "images/TestImage.png": .image("png", .pillow),
            "images/TestImage.svg": .image("svg", .mutool),
            "images/TestImageAnimated.apng": .image("png", .pillow),
            "images/TestImageAnimated.heics": .image("heif", .heifConvert),
            "images/TestImageAnimated.webp": .image("webp", .pillow),
            "images/TestImageLarge.jpg": .image("jpeg", .pillow),
            "images/TestImageLarge.png": .image("png", .pillow),
            "images/TestImageStatic.webp": .image("webp", .pillow),
            "images/TestJFIF.jpg": .image("jpeg", .pillow),
            "images/TestLoopCount.gif": .image("gif", .pillow),
            "images/photosplugin-TestImage.png": .image("png", .pillow),
            "images/swiftui/TestImageAnimated.heic": .image("heif", .heifConvert),
            "images/webpcoder/TestColorspaceBefore.jpeg": .image("jpeg", .pillow),
            "images/webpcoder/TestColorspaceStatic.webp": .image("webp", .pillow),
            "images/webpcoder/TestDisplayP3.png": .image("png", .pillow),
            "images/webpcoder/TestImageBlendAnimated.webp": .image("webp", .pillow),
            "images/webpcoder/TestImageGrayscale.jpg": .image("jpeg", .pillow),
            "broken/17000x17000.avif": .refusal("limitExceeded"),
            "broken/corrupt-header.jpg": .refusal("badImageData"),
            "broken/invalid_multiframe.gif": .image("gif", .pillow),
            "broken/truncated.gif": .refusal("badImageData"),
            "broken/truncated.jpg": .refusal("badImageData"),
            "broken/truncated.png": .refusal("badImageData"),
            "broken/truncated.svgz": .refusal("unsupportedFormat"),
        ]

        @Test func everyFileIsWhatAnotherReaderSeesOrRefusedByName() async throws {
            let folder = try #require(Fixtures.folder)
            let files = Self.files(below: folder, "images") + Self.files(below: folder, "broken")
            #expect(files.sorted() == Self.expectations.keys.sorted(), "each file is expected")
            let origin = OriginServer()
            let directory = TemporaryDirectory()
            let output = directory.file("made.png")
            var table: [String] = []
            let arguments = ["--allow-private-networks", "--vector", "1"]
            try await withStack(arguments, decoders: 1) { stack in
                for file in files {
                    guard let expectation = Self.expectations[file] else { continue }
                    origin.route("/\(file)", .bytes(try #require(Fixtures.bytes(file))))
                    let words = [origin.url("/\(file)"), "--json", "--timeout", "120"]
                    let end = try stack.get(
                        words + ["--format", "png", "-o", output], timeout: .seconds(130))
                    switch expectation {
                    case .refusal(let name):
                        let error = try end.json()["error"]
                        #expect(error?["name"]?.text == name, "\(file): \(end)")
                        table.append("\(file) | \(error?["name"]?.text ?? "no error")")
                    case .image(let format, let reader), .pq(let format, let reader):
                        try #require(end.exitStatus == 0, "\(file): \(end)")
                        let properties = try stack.get(words + ["--info"]).json()
                        var isPQ = false
                        if case .pq = expectation { isPQ = true }
                        let wanted = try reader.read("\(folder)/\(file)", isPQ: isPQ)
                        table.append(
                            try Self.row(
                                file, format, properties, output, reader, wanted, isPQ: isPQ))
                    }
                }
            }
            print("file | format | size | pages | largest difference of a mean, or the error")
            for row in table { print(row) }
        }

        /// Compares the images and returns the row of the table. Other decoders read PQ as 8 bits,
        /// which is coarse in dark regions.
        private static func row(
            _ file: String, _ format: String, _ properties: JSONValue, _ output: String,
            _ reader: OtherReader, _ wanted: ReadImage, isPQ: Bool
        ) throws -> String {
            let produced = try ReadImage(output)
            let difference = produced.difference(from: wanted)
            let size = "\(properties["width"]?.integer ?? 0)x\(properties["height"]?.integer ?? 0)"
            #expect(properties["format"]?.text == format, "\(file)")
            #expect(size == wanted.size && produced.size == wanted.size, "\(file): \(size)")
            #expect(properties["pages"]?.integer == wanted.frames, "\(file): \(properties)")
            #expect(
                difference <= reader.tolerance + (isPQ ? 0.5 : 0),
                "\(file), \(reader): \(wanted.means) became \(produced.means)")
            let hundredths = Int((difference * 100).rounded())
            return "\(file) | \(format) | \(size) | \(wanted.frames) | "
                + "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100) "
                + "(\(reader))"
        }

        private static func files(below folder: String, _ name: String) -> [String] {
            DirectoryEntries.names("\(folder)/\(name)").sorted().flatMap { entry in
                let path = "\(name)/\(entry)"
                let inner = files(below: folder, path)
                return inner.isEmpty ? [path] : inner
            }
        }
    }
}
