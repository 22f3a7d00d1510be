import Model
import Testing

@Suite struct FormatTraitsTests {
    @Test func eachFormatHasOneRow() {
        let formats = FormatTraits.rows.map(\.format)
        #expect(Set(formats) == Set(ImageFormat.allCases))
        #expect(formats.count == ImageFormat.allCases.count)
        for format in ImageFormat.allCases {
            #expect(format.traits.format == format)
        }
    }

    @Test func namesEndingsAndMediaTypesAreOfOneFormat() {
        let rows = FormatTraits.rows
        let words = rows.flatMap { Set([$0.name] + $0.extensions) }
        #expect(Set(words).count == words.count)
        let fileExtensions = rows.flatMap(\.extensions)
        #expect(Set(fileExtensions).count == fileExtensions.count)
        let types = rows.compactMap(\.mimeType)
        #expect(Set(types).count == types.count)
        for fileExtension in fileExtensions { #expect(fileExtension == fileExtension.lowercased()) }
    }

    @Test(
        arguments: [
            ("jpg", .jpeg), ("JPEG", .jpeg), ("tif", .tiff), ("TIFF", .tiff), ("webp", .webp),
            ("heic", .heic), ("txt", nil), ("", nil), (".png", nil), ("undefined", nil),
        ] as [(String, ImageFormat?)])
    func theEndingOfANameTellsAFormat(fileExtension: String, format: ImageFormat?) {
        #expect(ImageFormat(fileExtension: fileExtension) == format)
    }

    @Test func whatIsDecodedAndEncodedIsWhatTheRowsSay() {
        #expect(
            ImageFormat.decodable
                == [
                    .jpeg, .png, .gif, .tiff, .webp, .heic, .heif, .pdf, .svg, .bmp, .avif, .jxl,
                    .ico,
                ])
        #expect(ImageFormat.decodable(.vector) == [.pdf, .svg])
        #expect(ImageFormat.encodable == [.jpeg, .png, .gif, .tiff, .webp, .avif, .jxl, .pam])
        for format in ImageFormat.allCases {
            #expect(format.isDecodable == ImageFormat.decodable.contains(format))
            #expect(format.isEncodable == ImageFormat.encodable.contains(format))
        }
        #expect(ImageFormat.allCases.filter { !$0.carriesAlpha } == [.jpeg])
        #expect(ImageFormat.jpeg.mimeType == "image/jpeg")
        #expect(ImageFormat.undefined.mimeType == nil)
    }

    /// The results of an encoder are verified by their header, without a codec.
    @Test func whatIsEncodedSaysItsSizeInItsHeader() {
        for format in ImageFormat.encodable {
            #expect(format.traits.storedSize != nil, "\(format)")
            #expect(!format.traits.signatures.isEmpty, "\(format)")
        }
    }

    /// Error messages describe such a file in plain words.
    @Test func whatIsNotDecodedHasATitle() {
        for row in FormatTraits.rows where !row.isDecodable && row.format != .undefined {
            #expect(row.title != nil, "\(row.format)")
            #expect(!row.signatures.isEmpty, "\(row.format)")
        }
    }

    @Test func planesGoWhereSomethingMayBeLost() {
        let taken = ImageFormat.encodable.map { format in
            [false, true].map { format.traits.output?.takesPlanes(lossless: $0) }
        }
        let (always, never, lossy) = ([true, true], [false, false], [true, false])
        #expect(taken == [always, never, never, never, lossy, lossy, never, never])
    }
}
