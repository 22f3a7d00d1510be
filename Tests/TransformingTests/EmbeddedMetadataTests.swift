import Model
import StageKit
import TestKit
import Testing
import Transforming
import Vips

/// Profiles and metadata in results, read by Pillow and by libavif's and libvips' programs.
@Suite struct EmbeddedMetadataTests {
    /// Metadata as passed on by a decoder.
    private static let exif: [UInt8] =
        [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x98, 0x82, 2, 0, 8, 0, 0, 0, 26, 0, 0, 0]
        + [0, 0, 0, 0] + Array("(c) Ada\0".utf8)
    private static let xmp = Array("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"/>".utf8)
    private static let iptc: [UInt8] = [0x1C, 2, 116, 0, 7] + Array("(c) Ada".utf8)
    /// More than a segment of a JPEG holds; bytes after the tags are ignored.
    private static let large: [UInt8] =
        [0, 2] + Array((TestProfile.rotatedRGB + noise(150_000)).dropFirst(2))
    private static func noise(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) }
    }

    private static func source(
        _ bands: PixelPlane.Bands, _ parts: [(EmbeddedMetadata.Kind, [UInt8])]
    ) -> Source {
        Source(64, 48, bands, format: .jpeg) { x, y, band in x * 3 + y * band }.with(parts)
    }

    private static func source(_ parts: [(EmbeddedMetadata.Kind, [UInt8])]) -> Source {
        source(.rgb, parts)
    }

    private static let all: [(EmbeddedMetadata.Kind, [UInt8])] = [
        (.profile, TestProfile.rotatedRGB), (.exif, exif), (.xmp, xmp), (.iptc, iptc),
    ]

    private func file(_ produced: Transformed, _ folder: TestKit.TemporaryDirectory) -> String {
        folder.write(produced.bytes, to: "a." + produced.image.info.format.name)
    }

    private func pillow(_ script: String, _ path: String) throws -> String {
        let head = "import sys; from PIL import Image; im = Image.open(sys.argv[1]); im.load()\n"
        let output = try Tool.run(["python3", "-c", head + script, path])
        return String(decoding: output, as: UTF8.self)
    }

    /// A metadata block as read by Pillow, or nothing.
    private func pillow(_ kind: EmbeddedMetadata.Kind, _ produced: Transformed) throws -> [UInt8] {
        let folder = TestKit.TemporaryDirectory()
        let script =
            switch kind {
            case .profile: "found = im.info.get('icc_profile') or b''"
            case .exif:
                """
                found = im.info.get('exif', b'')
                found = found[6:] if found[:4] == b'Exif' else found
                """
            case .xmp:
                """
                tags = im.tag_v2 if im.format == 'TIFF' else {}
                apps = [d.split(b'\\0', 1)[1] for m, d in getattr(im, 'applist', [])
                        if d[:28] == b'http://ns.adobe.com/xap/1.0/']
                found = tags.get(700) or im.info.get('xmp') or im.info.get('XML:com.adobe.xmp') \
                    or (apps or [b''])[0]
                found = found.encode() if isinstance(found, str) else found
                """
            case .iptc:
                """
                from PIL import IptcImagePlugin
                found = (IptcImagePlugin.getiptcinfo(im) or {}).get((2, 116), b'')
                """
            }
        let text = try pillow(script + "\nprint(found.hex())", file(produced, folder))
        let digits = Array(text.utf8.dropLast())
        return stride(from: 0, to: digits.count, by: 2).map { place in
            UInt8(String(decoding: digits[place..<(place + 2)], as: UTF8.self), radix: 16) ?? 0
        }
    }

    @Test(arguments: [ImageFormat.jpeg, .png, .webp, .tiff], [PixelPlane.Bands.rgb, .rgba])
    func partsAreInTheFile(format: ImageFormat, bands: PixelPlane.Bands) throws {
        let produced = try transform(Self.source(bands, Self.all), [], output: output(format))
        #expect(try pillow(.profile, produced) == TestProfile.rotatedRGB)
        #expect(try pillow(.xmp, produced) == Self.xmp)
        #expect(try pillow(.exif, produced) == (format == .tiff ? [] : Self.exif))
        #expect(try pillow(.iptc, produced) == (format == .jpeg ? Array("(c) Ada".utf8) : []))
        // The pixels are the same as without metadata.
        let plain = try transform(Self.source(bands, []), [], output: output(format))
        #expect(produced.samples == plain.samples)
        for kind in EmbeddedMetadata.Kind.allCases { #expect(try pillow(kind, plain).isEmpty) }
    }

    @Test(arguments: [ImageFormat.avif, .jxl], [PixelPlane.Bands.rgb, .rgba])
    func othersHoldThemToo(format: ImageFormat, bands: PixelPlane.Bands) throws {
        let folder = TestKit.TemporaryDirectory()
        let produced = try transform(Self.source(bands, Self.all), [], output: output(format))
        let header = String(
            decoding: try Tool.run(["vipsheader", "-a", file(produced, folder)]), as: UTF8.self)
        #expect(header.contains("icc-profile-data"), "\(header)")
        #expect(header.contains("exif-ifd0-Copyright: (c) Ada") == (format == .avif), "\(header)")
        #expect(header.contains("xmp-data") == (format == .avif), "\(header)")
        let plain = try transform(Self.source(bands, []), [], output: output(format))
        if format == .avif {
            #expect(produced.samples == plain.samples)
            let info = try Tool.run(["avifdec", "--info", folder.file("a.avif")])
            let text = String(decoding: info, as: UTF8.self)
            #expect(
                text.contains("ICC Profile    : Present (\(TestProfile.rotatedRGB.count) bytes)"))
        }
    }

    /// Each encoding path, with a profile of several segments.
    @Test(arguments: [
        (ImageFormat.jpeg, "progressive", 1), (.png, "progressive", 1), (.png, "colours", 16),
        (.webp, "near-lossless", 50), (.webp, "sharp-yuv", 1),
    ])
    func everyWayThroughAnEncoderHoldsThem(
        format: ImageFormat, name: String, value: Int
    ) throws {
        let setting = try #require(OutputSetting(name: name))
        let produced = try transform(
            Self.source([(.profile, Self.large)]), [],
            output: output(format) { $0[setting] = value })
        #expect(try pillow(.profile, produced) == Self.large)
    }

    /// Planes that are never merged.
    @Test(arguments: [ImageFormat.jpeg, .webp, .avif])
    func planesHoldThem(format: ImageFormat) throws {
        let plain = Source.planar(64, 48, blue: 100, red: 170) { x, y in x * 2 + y }
        let source = plain.with(Self.all)
        let produced = try transform(source, [], output: output(format))
        #expect(produced.samples == (try transform(plain, [], output: output(format))).samples)
        if format == .avif {
            let folder = TestKit.TemporaryDirectory()
            let header = try Tool.run(["vipsheader", "-a", file(produced, folder)])
            #expect(String(decoding: header, as: UTF8.self).contains("icc-profile-data"))
        } else {
            #expect(try pillow(.profile, produced) == TestProfile.rotatedRGB)
            #expect(try pillow(.exif, produced) == Self.exif)
        }
    }

    /// An RGB profile is kept with RGB pixels, a gray one with gray pixels.
    @Test func aProfileExplainsThePixelsThatItIsWith() throws {
        for source in [
            Self.source([(.profile, TestProfile.rotatedRGB)]),
            Source.planar(64, 48, blue: 100, red: 170) { x, y in x * 2 + y }
                .with([(.profile, TestProfile.rotatedRGB)]),
        ] {
            for format in [ImageFormat.jpeg, .png, .tiff] {
                let produced = try transform(source, [.grayscale], output: output(format))
                #expect(produced.header.bands == 3, "\(format)")
                #expect(try pillow(.profile, produced) == TestProfile.rotatedRGB)
            }
        }
        let grays = Self.source(.gray, [(.profile, TestProfile.gray)])
        for format in [ImageFormat.jpeg, .png, .tiff] {
            let produced = try transform(grays, [], output: output(format))
            #expect(produced.header.bands == 1, "\(format)")
            #expect(try pillow(.profile, produced) == TestProfile.gray)
        }
        let webP = try transform(grays, [], output: output(.webp))
        #expect(try pillow(.profile, webP).isEmpty)
    }

    /// Metadata counts toward the limit.
    @Test func aLimitOfBytesIsOneOfTheFile() throws {
        let source = Self.source([(.profile, TestProfile.rotatedRGB), (.xmp, Self.xmp)])
        let free = try transform(source, [], output: output(.jpeg)).bytes.count
        let limit = free - 100
        let produced = try transform(source, [], output: output(.jpeg) { $0.maxBytes = limit })
        #expect(produced.bytes.count <= limit)
        #expect(try pillow(.profile, produced) == TestProfile.rotatedRGB)
    }

    /// Decoders are not trusted.
    @Test func whatIsNotWhatItIsSaidToBeIsRefused() {
        let fine = Self.source(Self.all)
        func refused(_ change: (inout Source) -> Void) -> ErrorCode? {
            var source = fine
            change(&source)
            return failure(source, [], output: output(.png))?.code
        }
        #expect(refused { $0.layout.embeddedMetadata[0].length += 1 << 20 } == .internalError)
        #expect(refused { $0.layout.embeddedMetadata[0].offset = .max } == .internalError)
        #expect(refused { $0.layout.embeddedMetadata[0].offset = -1 } == .internalError)
        #expect(refused { $0.layout.embeddedMetadata[0].length = 0 } == .internalError)
        #expect(
            refused { $0.layout.embeddedMetadata[1].kind = .profile } == .internalError, "twice")
        #expect(refused { $0.layout.embeddedMetadata[1].offset += 1 } == .internalError, "no TIFF")
        #expect(
            refused { $0.layout.embeddedMetadata[0].offset += 1 } == .internalError, "no profile")
        #expect(
            refused { $0.samples.removeLast(Self.iptc.count) } == .internalError, "cut off")
    }

    /// GIF supports none.
    @Test func aFormatWithoutAPlaceLeavesThemOut() throws {
        let produced = try transform(Self.source(Self.all), [], output: output(.gif))
        let plain = try transform(Self.source([]), [], output: output(.gif))
        #expect(produced.bytes == plain.bytes)
    }
}

extension Source {
    /// The same with those bytes after its pixels.
    func with(_ parts: [(EmbeddedMetadata.Kind, [UInt8])]) -> Source {
        var source = self
        for (kind, bytes) in parts {
            source.layout.embeddedMetadata.append(
                EmbeddedMetadata(kind: kind, offset: source.samples.count, length: bytes.count))
            source.samples += bytes
        }
        return source
    }
}
